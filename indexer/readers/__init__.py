"""Documents from wherever they are: ``read_documents`` streams them, bad records go to ``Rejects``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from indexer.documents import Document
from indexer.errors import BadInput
from indexer.readers.byte_streams import STDIN
from indexer.readers.delimited import read_delimited
from indexer.readers.folder import SUFFIXES, read_file, read_folder
from indexer.readers.jsonl import Row, read_json_lines
from indexer.readers.rejects import Reject, Rejects
from indexer.records import BadRecord, FieldMap, make_document

__all__ = ["FieldMap", "Reject", "Rejects", "check_source", "read_documents", "take"]

SourcedRow = tuple[str, Row]
MAX_BYTES = 10 * 2**20


def read_documents(
    sources: Iterable[str],
    rejects: Rejects,
    fields: FieldMap | None = None,
    max_bytes: int = MAX_BYTES,
) -> Iterator[Document]:
    """The documents of files and folders (``-``: standard input), in the order given.

    A record that cannot be taken, or whose id came before, goes to ``rejects``. A file that
    cannot be read at all raises BadInput before the first document.
    """
    fields = fields or FieldMap()
    sources = list(sources)
    for source in sources:
        check_source(source)
    rows = (row for source in sources for row in _rows(source, fields, max_bytes))
    return take(rows, rejects, fields, max_bytes)


def take(rows: Iterable[SourcedRow], rejects: Rejects, fields: FieldMap, max_bytes: int) -> Iterator[Document]:
    """Documents from raw rows; each id once."""
    seen: set[str] = set()
    for source, (line, record, default_id) in rows:
        if isinstance(record, BadRecord):
            rejects.add(source, line, str(record))
            continue
        try:
            document = make_document(record, fields, default_id, max_bytes)
        except BadRecord as error:
            rejects.add(source, line, str(error))
            continue
        if document.id in seen:
            rejects.add(source, line, f"the id {document.id!r} came before")
            continue
        seen.add(document.id)
        yield document


def _kind(source: str) -> str:
    """``json``, ``csv``, ``file`` or ``folder``; empty for what no reader takes."""
    if source == STDIN:
        return "json"
    path = Path(source)
    if path.is_dir():
        return "folder"
    name = path.name.lower().removesuffix(".gz")
    if name.endswith((".jsonl", ".ndjson", ".json")):
        return "json"
    if name.endswith((".csv", ".tsv")):
        return "csv"
    return "file" if path.name.lower().endswith(SUFFIXES) else ""


def check_source(source: str) -> None:
    """Raise BadInput for what is not there, or what no reader takes."""
    if source == STDIN:
        return
    if not Path(source).exists():
        raise BadInput(f"no such file or folder: {source}", fix="check the path")
    if not os.access(source, os.R_OK):
        raise BadInput(f"cannot read {source}: Permission denied", fix="name a readable file or folder")
    if not _kind(source):
        raise BadInput(
            f"cannot tell what {source} is",
            fix="name it .jsonl, .csv or .tsv (also .gz), .txt, .md or .html, or give a folder of such pages",
        )


def _rows(source: str, fields: FieldMap, max_bytes: int) -> Iterator[SourcedRow]:
    kind = _kind(source)
    if kind == "folder":
        yield from read_folder(source, max_bytes)
        return
    rows: Iterable[Row]
    if kind == "json":
        rows = read_json_lines(source, max_bytes)
    elif kind == "csv":
        rows = read_delimited(source, max_bytes, fields)
    else:
        rows = [read_file(Path(source), Path(source).name, max_bytes)]
    for row in rows:
        yield source, row
