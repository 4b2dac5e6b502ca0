"""Reader of CSV and TSV files with a header line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from indexer.errors import BadInput
from indexer.readers.byte_streams import BROKEN_GZIP_ERRORS, open_byte_stream
from indexer.records import BadRecord, FieldMap, SourceRow


def read_delimited(source: str, fields: FieldMap, max_bytes: int) -> Iterator[SourceRow]:
    """Yield a row for every line of a table; raise BadInput if its header has no text column or a name twice."""
    stem = Path(source).name.partition(".")[0]
    with open_byte_stream(source) as raw, _limit_field_size(max_bytes):
        # Bytes that are not UTF-8 become surrogates, so that a bad row does not affect the others.
        stream = io.TextIOWrapper(raw, encoding="utf-8-sig", errors="surrogateescape", newline="")
        header_line = stream.readline(1 << 16)
        delimiter = _guess_delimiter(source, header_line)
        header = _parse_header(source, header_line, delimiter, fields)
        table = csv.reader(iter(partial(stream.readline, 8 * max_bytes), ""), delimiter=delimiter, strict=True)
        while True:
            line = table.line_num + 2
            try:
                cells = next(table)
            except StopIteration:
                return
            except csv.Error as error:
                yield SourceRow(source, line, BadRecord(f"malformed row: {error}"))
                continue
            except BROKEN_GZIP_ERRORS:
                yield SourceRow(source, line, BadRecord("the gzip stream is corrupt; the rest of it is skipped"))
                return
            if cells:
                yield SourceRow(source, line, _make_record(header, cells), f"{stem}-{line}")


def _make_record(header: list[str], cells: list[str]) -> dict[str, str] | BadRecord:
    if len(cells) != len(header):
        return BadRecord(f"malformed row: {len(cells)} cells where the header has {len(header)}")
    if any("\udc80" <= letter <= "\udcff" for cell in cells if not cell.isascii() for letter in cell):
        return BadRecord("not valid UTF-8")
    return dict(zip(header, cells, strict=True))


def _guess_delimiter(source: str, header: str) -> str:
    if Path(source.removesuffix(".gz")).suffix == ".tsv":
        return "\t"
    return max(",;\t", key=header.count)


def _parse_header(source: str, line: str, delimiter: str, fields: FieldMap) -> list[str]:
    names = [name.strip() for name in next(csv.reader([line], delimiter=delimiter), [])]
    text_column = fields.get_source_path("text")
    if text_column not in names:
        shown = ", ".join(names[:12]) or "none"
        raise BadInput(
            f"{source} has no column {text_column!r} (columns: {shown})", fix="name it with --map text=COLUMN"
        )
    if len(set(names)) != len(names):
        raise BadInput(f"{source} has two columns of the same name", fix="rename one in the header line")
    return names


@contextmanager
def _limit_field_size(max_bytes: int) -> Iterator[None]:
    """Limit the size of a cell, so that one unbalanced quote does not swallow the rest of a large file."""
    previous = csv.field_size_limit(max_bytes)
    try:
        yield
    finally:
        csv.field_size_limit(previous)
