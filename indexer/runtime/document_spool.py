"""Documents in a temporary file: taken once from any source, then read as often as needed, also by forked processes."""

from __future__ import annotations

import hashlib
import os
import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice, pairwise
from types import TracebackType
from typing import Any, Self

import numpy as np
import orjson
from numpy.typing import NDArray

from indexer.documents import Document
from indexer.progress import Progress, no_progress
from indexer.runtime.array_spill import translate_temporary_file_errors
from indexer.vectors import decode_vector

_PROGRESS_INTERVAL = 500
"""Documents between two reports of progress."""


class DocumentSpool:
    """Documents as JSON lines in a nameless temporary file, which is gone however the process ends.

    Their vectors are in a file of their own, so that they can be read without the documents.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="phrasecom-")  # noqa: SIM115  closed by close()
        self._vector_file = tempfile.TemporaryFile(prefix="phrasecom-")  # noqa: SIM115  closed by close()
        self._digest = hashlib.sha256()
        self._ends = array("q", [0])
        """Offset where each line ends, after a leading 0."""
        self._vector_ends = array("q", [0])
        """Offset where the vector of each document ends, after a leading 0."""

    def fill(self, documents: Iterable[Document], progress: Progress = no_progress) -> Self:
        """Append the documents and return this spool."""
        for document in documents:
            vector = document.vector or b""
            line = encode_document(replace(document, vector=None) if vector else document)
            with translate_temporary_file_errors():
                self._file.write(line)
                self._vector_file.write(vector)
            self._digest.update(line)
            self._digest.update(vector)
            self._ends.append(self._ends[-1] + len(line))
            self._vector_ends.append(self._vector_ends[-1] + len(vector))
            if self.count % _PROGRESS_INTERVAL == 0:
                progress("collect", self.count, 0)
        with translate_temporary_file_errors():
            self._file.flush()  # or another process would not see the last lines
            self._vector_file.flush()
        progress("collect", self.count, self.count)
        return self

    @property
    def count(self) -> int:
        """Number of documents."""
        return len(self._ends) - 1

    def content_hash(self) -> str:
        """Return the SHA-256 of all documents in their order."""
        return self._digest.hexdigest()

    @property
    def has_vectors(self) -> bool:
        """Whether any document has a vector."""
        return self._vector_ends[-1] > 0

    def __iter__(self) -> Iterator[Document]:
        for first in range(0, self.count, _PROGRESS_INTERVAL):
            yield from self.read(first, min(first + _PROGRESS_INTERVAL, self.count))

    def read(self, first: int, stop: int) -> list[Document]:
        """Return documents ``first`` to ``stop`` (exclusive); also works in a process forked after ``fill``."""
        start, end = self._ends[first], self._ends[stop]
        # by offset: forked processes share the position of the file
        documents = map(decode_document, os.pread(self._file.fileno(), end - start, start).splitlines())
        if self._vector_ends[stop] == self._vector_ends[first]:
            return list(documents)
        vectors = self._read_vector_bytes(first, stop)
        return [
            replace(document, vector=vector) if vector else document
            for document, vector in zip(documents, vectors, strict=True)
        ]

    def read_vectors(self, first: int, stop: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return which of the documents ``first`` to ``stop`` (exclusive) have a vector, and their vectors.

        The documents are counted from ``first``, shape (n,); the vectors have shape (n, dimensions).
        """
        vectors = self._read_vector_bytes(first, stop)
        with_vector = [number for number, vector in enumerate(vectors) if vector]
        rows = [decode_vector(vectors[number]) for number in with_vector]
        return np.array(with_vector, dtype=np.int64), np.stack(rows) if rows else np.zeros((0, 0), np.float32)

    def _read_vector_bytes(self, first: int, stop: int) -> list[bytes]:
        start, end = self._vector_ends[first], self._vector_ends[stop]
        data = os.pread(self._vector_file.fileno(), end - start, start)
        ends = self._vector_ends[first : stop + 1]
        return [data[own - start : following - start] for own, following in pairwise(ends)]

    def close(self) -> None:
        with suppress(OSError):  # what could not be written is not needed any more
            self._file.close()
            self._vector_file.close()

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
