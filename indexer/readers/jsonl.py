"""JSON lines, plain or gzipped: one object a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from indexer.documents import Document
from indexer.errors import BadInput
from indexer.readers.byte_streams import BROKEN_ZIP, STDIN, bounded_lines, open_bytes
from indexer.records import BadRecord

_BOM = b"\xef\xbb\xbf"
Row = tuple[int, dict[str, Any] | BadRecord, str]
"""Line number, the record or what is wrong with it, an id for a record that has none."""


def read_json_lines(source: str, max_bytes: int) -> Iterator[Row]:
    """Every record of the file, in order."""
    stem = "stdin" if source == STDIN else Path(source).name.partition(".")[0]
    number = 0
    with open_bytes(source) as stream:
        try:
            # A record may hold more than its text, and JSON escapes may make six bytes of one.
            for number, line in bounded_lines(stream, 8 * max_bytes):
                if line is None:
                    yield number, BadRecord(f"the line has more than {8 * max_bytes:,} bytes"), ""
                    continue
                line = line.removeprefix(_BOM) if number == 1 else line
                if number == 1 and line.lstrip().startswith(b"["):
                    raise BadInput(f"{source} is one JSON array", fix="make it JSON lines with: jq -c '.[]'")
                if line.strip():
                    yield number, parse(line), f"{stem}-{number}"
        except BROKEN_ZIP:
            yield number + 1, BadRecord("the gzip stream is broken; what follows is lost"), ""


def parse(line: bytes) -> dict[str, Any] | BadRecord:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        if _is_utf8(line):
            return BadRecord(f"not JSON: {error.msg}")
        return BadRecord("not valid UTF-8")
    return value if isinstance(value, dict) else BadRecord("not a JSON object")


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def json_line(document: Document) -> bytes:
    """The document as a line that reads back as the same document."""
    own: dict[str, Any] = {"id": document.id, "title": document.title, "text": document.text, "date": document.date}
    own |= {"url": document.url, "facets": dict(document.facets), "acl": list(document.acl)}
    filled = {name: value for name, value in own.items() if value}
    return orjson.dumps({**document.extra, **filled}, option=orjson.OPT_APPEND_NEWLINE, default=str)
