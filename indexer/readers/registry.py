"""The readers by file type: ``read_documents`` streams files and folders, bad records go to ``Rejects``.

A reader yields the rows of one source. To add one, write it in a module of its own and name it in ``RECORD_READERS``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from indexer.defaults import DEFAULT_MAX_DOCUMENT_BYTES
from indexer.documents import Document
from indexer.errors import BadInput
from indexer.readers.byte_streams import STDIN
from indexer.readers.delimited import read_delimited
from indexer.readers.folder import PAGE_PARSERS, read_folder, read_page_file
from indexer.readers.jsonl import read_json_lines
from indexer.readers.rejects import Rejects
from indexer.records import BadRecord, FieldMap, SourceRow, make_document

SourceReader = Callable[[str, FieldMap, int], Iterator[SourceRow]]
"""Yields the rows of a source; called with the source, the fields and the most bytes of a document."""

RECORD_READERS: dict[str, SourceReader] = {
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
    ".json": read_json_lines,
    ".csv": read_delimited,
    ".tsv": read_delimited,
}
"""Reader by suffix, for files of many records; they may be gzipped (``.csv.gz``)."""


def _join_suffixes(suffixes: Iterable[str]) -> str:
    *others, last = suffixes
    return f"{', '.join(others)} or {last}"


RECORD_SUFFIXES = _join_suffixes(RECORD_READERS) + " (also .gz)"
"""For help and error texts."""
PAGE_SUFFIXES = _join_suffixes(PAGE_PARSERS)
"""For help and error texts."""


def read_documents(
    sources: Iterable[str],
    rejects: Rejects,
    fields: FieldMap | None = None,
    max_bytes: int = DEFAULT_MAX_DOCUMENT_BYTES,
) -> Iterator[Document]:
    """Yield the documents of files and folders (``-``: standard input), in the order of the sources.

    A record that is not valid, or whose id came before, goes to ``rejects``. Raise BadInput before the first
    document if a source cannot be read at all.
    """
    fields = fields or FieldMap()
    sources = list(sources)
    for source in sources:
        check_source(source)
    rows = (row for source in sources for row in _find_reader(source)(source, fields, max_bytes))
    return make_documents(rows, rejects, fields, max_bytes)


def make_documents(rows: Iterable[SourceRow], rejects: Rejects, fields: FieldMap, max_bytes: int) -> Iterator[Document]:
    """Yield the documents of rows, each id once; the other rows go to ``rejects``."""
    ids: set[str] = set()
    for source, line, record, default_id, revision in rows:
        if isinstance(record, BadRecord):
            rejects.add(source, line, str(record))
            continue
        try:
            document = make_document(record, fields, default_id, max_bytes)
        except BadRecord as error:
            rejects.add(source, line, str(error))
            continue
        if document.id in ids:
            rejects.add(source, line, f"the id {document.id!r} is a duplicate")
            continue
        ids.add(document.id)
        rejects.last_read = (source, line)
        yield document if revision is None else replace(document, revision=revision)


def check_source(source: str) -> None:
    """Raise BadInput if a source does not exist, may not be read, or has no reader."""
    if source == STDIN:
        return
    if not Path(source).exists():
        raise BadInput(f"no such file or folder: {source}", fix="check the path")
    if not os.access(source, os.R_OK):
        raise BadInput(f"cannot read {source}: Permission denied", fix="name a readable file or folder")
    _find_reader(source)


def _find_reader(source: str) -> SourceReader:
    if source == STDIN:
        return read_json_lines
    if Path(source).is_dir():
        return read_folder
    name = Path(source).name.lower()
    if name.endswith(tuple(PAGE_PARSERS)):
        return read_page_file
    unzipped = name.removesuffix(".gz")
    for suffix, reader in RECORD_READERS.items():
        if unzipped.endswith(suffix):
            return reader
    raise BadInput(
        f"unknown file type: {source}",
        fix=f"use {RECORD_SUFFIXES}, {PAGE_SUFFIXES}, or a folder of such pages",
    )
