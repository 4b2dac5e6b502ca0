"""Documents in a temporary file: taken once from any source, then read as often as needed, also by forked processes."""

from __future__ import annotations

import hashlib
import os
import struct
import tempfile
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
from indexer.vectors import stack_vectors

_PROGRESS_INTERVAL = 500
"""Documents between two reports of progress."""
_MAX_READ_BYTES = 1 << 22
"""Bytes read at a time, unless one document has more: bounds memory where documents are long."""
_OFFSET = np.dtype("<i8")


class DocumentSpool:
    """Documents as JSON lines in a nameless temporary file, which is gone however the process ends.

    Their vectors are in a file of their own, so that they can be read without the documents.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="phrasecom-")  # noqa: SIM115  closed by close()
        self._vector_file = tempfile.TemporaryFile(prefix="phrasecom-")  # noqa: SIM115  closed by close()
        self._digest = hashlib.sha256()
        self._ends, self._vector_ends = _EndOffsets(), _EndOffsets()
        """Where each line, and the vector of each document, ends."""

    def fill(self, documents: Iterable[Document], progress: Progress = no_progress) -> Self:
        """Append the documents and return this spool."""
        for document in documents:
            vector = document.vector or b""
            line = encode_document(replace(document, vector=None) if vector else document)
            with translate_temporary_file_errors():
                self._file.write(line)
                self._vector_file.write(vector)
                self._ends.append(len(line))
                self._vector_ends.append(len(vector))
            self._digest.update(line)
            self._digest.update(vector)
            if self.count % _PROGRESS_INTERVAL == 0:
                progress("collect", self.count, 0)
        with translate_temporary_file_errors():
            self._file.flush()  # or another process would not see the last lines
            self._vector_file.flush()
            self._ends.flush()
            self._vector_ends.flush()
        progress("collect", self.count, self.count)
        return self

    @property
    def count(self) -> int:
        """Number of documents."""
        return self._ends.count

    def content_hash(self) -> str:
        """Return the SHA-256 of all documents in their order."""
        return self._digest.hexdigest()

    @property
    def has_vectors(self) -> bool:
        """Whether any document has a vector."""
        return self._vector_ends.last > 0

    def __iter__(self) -> Iterator[Document]:
        for first, stop in self.split(_PROGRESS_INTERVAL):
            yield from self.read(first, stop)

    def split(self, max_documents: int, max_bytes: int = _MAX_READ_BYTES) -> Iterator[tuple[int, int]]:
        """Yield ranges of documents, first and last (exclusive), that together are all of them in their order.

        A range has at most ``max_documents``, and at most ``max_bytes`` unless it is a single one.
        """
        first = 0
        while first < self.count:
            ends = self._ends.read(first, min(first + max_documents, self.count))
            fitting = int(np.searchsorted(ends[1:], ends[0] + max_bytes, side="right"))
            yield first, first + max(fitting, 1)
            first += max(fitting, 1)

    def read(self, first: int, stop: int) -> list[Document]:
        """Return documents ``first`` to ``stop`` (exclusive); also works in a process forked after ``fill``."""
        ends = self._ends.read(first, stop)
        start, end = int(ends[0]), int(ends[-1])
        # by offset: forked processes share the position of the file
        documents = map(decode_document, os.pread(self._file.fileno(), end - start, start).splitlines())
        if not self.has_vectors:
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
        return stack_vectors(self._read_vector_bytes(first, stop))

    def _read_vector_bytes(self, first: int, stop: int) -> list[bytes]:
        ends = self._vector_ends.read(first, stop).tolist()
        start = ends[0]
        data = os.pread(self._vector_file.fileno(), ends[-1] - start, start)
        return [data[own - start : following - start] for own, following in pairwise(ends)]

    def close(self) -> None:
        with suppress(OSError):  # what could not be written is not needed any more
            self._file.close()
            self._vector_file.close()
            self._ends.close()
            self._vector_ends.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


class _EndOffsets:
    """Where the bytes of each document end, in a nameless temporary file: a list would grow with the documents."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="phrasecom-")  # noqa: SIM115  closed by close()
        self._file.write(bytes(_OFFSET.itemsize))
        self.count = 0
        self.last = 0
        """Where the last document ends."""

    def append(self, length: int) -> None:
        """Add a document of this many bytes."""
        self.last += length
        self.count += 1
        self._file.write(struct.pack("<q", self.last))

    def flush(self) -> None:
        self._file.flush()

    def read(self, first: int, stop: int) -> NDArray[np.int64]:
        """Return where document ``first`` begins and where each one to ``stop`` (exclusive) ends."""
        size = _OFFSET.itemsize
        return np.frombuffer(os.pread(self._file.fileno(), size * (stop + 1 - first), size * first), dtype=_OFFSET)

    def close(self) -> None:
        self._file.close()


def split_into_parts_and_reader(
    documents: Iterable[Document], part_size: int
) -> tuple[Iterator[Any], Callable[[Any], list[Document]]]:
    """Return parts of ``part_size`` documents to send to other processes, and a function that reads a part.

    A part of a spool is a range of documents, read by the process that needs it; otherwise the documents themselves.
    """
    if isinstance(documents, DocumentSpool):
        spool = documents
        return spool.split(part_size), lambda part: spool.read(*part)
    source = iter(documents)
    return iter(lambda: list(islice(source, part_size)), []), lambda part: part


def encode_document(document: Document) -> bytes:
    """Return the document as a line of JSON; equal documents give equal bytes."""
    return orjson.dumps(document.to_dict(), option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE, default=str)


def decode_document(line: bytes) -> Document:
    """Return the document that ``encode_document`` wrote."""
    return Document.from_dict(orjson.loads(line))
