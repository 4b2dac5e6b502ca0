"""Reader and writer of JSON lines, plain or gzipped: one object a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from indexer.documents import Document
from indexer.errors import BadInput
from indexer.readers.byte_streams import BROKEN_GZIP_ERRORS, STDIN, open_byte_stream, read_bounded_lines
from indexer.records import BadRecord, FieldMap, SourceRow
from indexer.vectors import decode_vector

_BOM = b"\xef\xbb\xbf"
_LONG_NUMBER = re.compile(rb"\d{20}")
"""Part of a whole number that may have more than 64 bits, which orjson would round."""


def read_json_lines(source: str, fields: FieldMap, max_bytes: int) -> Iterator[SourceRow]:
    """Yield a row for every line of a file that is not blank; raise BadInput if the file is a single JSON array."""
    stem = "stdin" if source == STDIN else Path(source).name.partition(".")[0]
    number = 0
    with open_byte_stream(source) as stream:
        try:
            # A record may contain more than its text, and a JSON escape may take six bytes for one.
            for number, line in read_bounded_lines(stream, 8 * max_bytes):
                if line is None:
                    yield SourceRow(source, number, BadRecord(f"the line has more than {8 * max_bytes:,} bytes"))
                    continue
                line = line.removeprefix(_BOM) if number == 1 else line
                if number == 1 and line.lstrip().startswith(b"["):
                    raise BadInput(f"{source} is a single JSON array", fix="convert it to JSON lines with: jq -c '.[]'")
                if line.strip():
                    yield SourceRow(source, number, parse_json_line(line), f"{stem}-{number}")
        except BROKEN_GZIP_ERRORS:
            yield SourceRow(source, number + 1, BadRecord("the gzip stream is corrupt; the rest of it is skipped"))


def parse_json_line(line: bytes) -> dict[str, Any] | BadRecord:
    """Return the object of a line, or why it is none."""
    try:
        value = orjson.loads(line)
        if _LONG_NUMBER.search(line):
            value = json.loads(line)
    except RecursionError:
        return BadRecord("its fields are nested too deep")
    except json.JSONDecodeError as error:
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


def format_json_line(document: Document) -> bytes:
    """Return the document as a line that ``read_json_lines`` reads back as the same document."""
    fields: dict[str, Any] = {"id": document.id, "title": document.title, "text": document.text, "date": document.date}
    fields |= {"url": document.url, "facets": dict(document.facets), "acl": list(document.acl)}
    fields["vector"] = None if document.vector is None else decode_vector(document.vector).tolist()
    non_empty = {name: value for name, value in fields.items() if value}
    return orjson.dumps({**document.extra, **non_empty}, option=orjson.OPT_APPEND_NEWLINE, default=str)
