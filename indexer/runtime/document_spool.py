"""Documents in a temporary file: taken once from any source, then read as often as needed, also by forked processes."""

from __future__ import annotations

import hashlib
import os
import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from types import TracebackType
from typing import Any, Self

import orjson

from indexer.documents import Document
from indexer.progress import Progress, no_progress
from indexer.runtime.array_spill import translate_temporary_file_errors

_PROGRESS_INTERVAL = 500
"""Documents between two reports of progress."""


class DocumentSpool:
    """Documents as JSON lines in a nameless temporary file, which is gone however the process ends."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="phrasecom-")  # noqa: SIM115  closed by close()
        self._digest = hashlib.sha256()
        self._ends = array("q", [0])
        """Offset where each line ends, after a leading 0."""

    def fill(self, documents: Iterable[Document], progress: Progress = no_progress) -> Self:
        """Append the documents and return this spool."""
        for document in documents:
            line = encode_document(document)
            with translate_temporary_file_errors():
                self._file.write(line)
            self._digest.update(line)
            self._ends.append(self._ends[-1] + len(line))
            if self.count % _PROGRESS_INTERVAL == 0:
                progress("collect", self.count, 0)
        with translate_temporary_file_errors():
            self._file.flush()  # or another process would not see the last lines
        progress("collect", self.count, self.count)
        return self

    @property
    def count(self) -> int:
        """Number of documents."""
        return len(self._ends) - 1

    def content_hash(self) -> str:
        """Return the SHA-256 of all documents in their order."""
        return self._digest.hexdigest()

    def __iter__(self) -> Iterator[Document]:
        self._file.seek(0)
        for line in self._file:
            yield decode_document(line)

    def read(self, first: int, stop: int) -> list[Document]:
        """Return documents ``first`` to ``stop`` (exclusive); also works in a process forked after ``fill``."""
        start, end = self._ends[first], self._ends[stop]
        # by offset: forked processes share the position of the file
        return list(map(decode_document, os.pread(self._file.fileno(), end - start, start).splitlines()))

    def close(self) -> None:
        with suppress(OSError):  # what could not be written is not needed any more
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def split_into_parts_and_reader(
    documents: Iterable[Document], part_size: int
) -> tuple[Iterator[Any], Callable[[Any], list[Document]]]:
    """Return parts of ``part_size`` documents to send to other processes, and a function that reads a part.

    A part of a spool is a range of documents, read by the process that needs it; otherwise the documents themselves.
    """
    if isinstance(documents, DocumentSpool):
        spool = documents
        ranges = ((first, min(first + part_size, spool.count)) for first in range(0, spool.count, part_size))
        return ranges, lambda part: spool.read(*part)
    source = iter(documents)
    return iter(lambda: list(islice(source, part_size)), []), lambda part: part


def encode_document(document: Document) -> bytes:
    """Return the document as a line of JSON; equal documents give equal bytes."""
    return orjson.dumps(document.to_dict(), option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE, default=str)


def decode_document(line: bytes) -> Document:
    """Return the document that ``encode_document`` wrote."""
    return Document.from_dict(orjson.loads(line))
