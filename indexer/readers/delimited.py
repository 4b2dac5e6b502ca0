"""CSV and TSV files with a header line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from indexer.errors import BadInput
from indexer.readers.byte_streams import BROKEN_ZIP, open_bytes
from indexer.readers.jsonl import Row
from indexer.records import BadRecord, FieldMap


def read_delimited(source: str, max_bytes: int, fields: FieldMap) -> Iterator[Row]:
    """Every row as a record, in order; the line is the one the row begins on."""
    stem = Path(source).name.partition(".")[0]
    with open_bytes(source) as raw, _field_limit(max_bytes):
        # Bytes that are no UTF-8 come through as surrogates, so that one bad row spoils no other.
        stream = io.TextIOWrapper(raw, encoding="utf-8-sig", errors="surrogateescape", newline="")
        header_line = stream.readline(1 << 16)
        delimiter = _delimiter(source, header_line)
        header = _header(source, header_line, delimiter, fields)
        rows = csv.reader(iter(partial(stream.readline, 8 * max_bytes), ""), delimiter=delimiter, strict=True)
        while True:
            line = rows.line_num + 2
            try:
                cells = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                yield line, BadRecord(f"broken row: {error}"), ""
                continue
            except BROKEN_ZIP:
                yield line, BadRecord("the gzip stream is broken; what follows is lost"), ""
                return
            if cells:
                yield line, _record(header, cells), f"{stem}-{line}"


def _record(header: list[str], cells: list[str]) -> dict[str, str] | BadRecord:
    if len(cells) != len(header):
        return BadRecord(f"broken row: {len(cells)} cells where the header has {len(header)}")
    if any("\udc80" <= letter <= "\udcff" for cell in cells if not cell.isascii() for letter in cell):
        return BadRecord("not valid UTF-8")
    return dict(zip(header, cells, strict=True))


def _delimiter(source: str, header: str) -> str:
    if Path(source.removesuffix(".gz")).suffix == ".tsv":
        return "\t"
    return max(",;\t", key=header.count)


def _header(source: str, line: str, delimiter: str, fields: FieldMap) -> list[str]:
    names = [name.strip() for name in next(csv.reader([line], delimiter=delimiter), [])]
    wanted = fields.source("text")
    if wanted not in names:
        shown = ", ".join(names[:12]) or "none"
        raise BadInput(f"{source} has no column {wanted!r} (columns: {shown})", fix="name it with --map text=COLUMN")
    if len(set(names)) != len(names):
        raise BadInput(f"{source} has two columns of the same name", fix="rename one in the header line")
    return names


@contextmanager
def _field_limit(max_bytes: int) -> Iterator[None]:
    """One unbalanced quote must not swallow the rest of a large file."""
    before = csv.field_size_limit(max_bytes)
    try:
        yield
    finally:
        csv.field_size_limit(before)
