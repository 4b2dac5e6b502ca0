"""Documents set aside on disk: read once from wherever they come, then as often as needed."""

from __future__ import annotations

import hashlib
import os
import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from types import TracebackType
from typing import Any, Self

import orjson

from indexer.documents import Document
from indexer.progress import Progress, no_progress

_EVERY = 500


class Spool:
    """A temporary file without a name: however the process ends, nothing of it stays behind."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="phrasecom-")  # noqa: SIM115  closed by close()
        self._digest = hashlib.sha256()
        self._ends = array("q", [0])
        """Where each line ends; the first begins at 0."""

    def fill(self, documents: Iterable[Document], progress: Progress = no_progress) -> Self:
        for document in documents:
            line = pack(document)
            self._file.write(line)
            self._digest.update(line)
            self._ends.append(self._ends[-1] + len(line))
            if self.count % _EVERY == 0:
                progress("collect", self.count, 0)
        self._file.flush()  # or another process would not see the last lines
        progress("collect", self.count, self.count)
        return self

    @property
    def count(self) -> int:
        return len(self._ends) - 1

    def content(self) -> str:
        """A hash of everything in it, order included."""
        return self._digest.hexdigest()

    def __iter__(self) -> Iterator[Document]:
        self._file.seek(0)
        for line in self._file:
            yield unpack(line)

    def read(self, first: int, last: int) -> list[Document]:
        """Documents ``first`` to ``last`` (exclusive), in whatever process was forked since they were filled in."""
        start, end = self._ends[first], self._ends[last]
        # not from where the file stands: processes that share it would move each other
        return list(map(unpack, os.pread(self._file.fileno(), end - start, start).splitlines()))

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def in_parts(documents: Iterable[Document], size: int) -> tuple[Iterator[Any], Callable[[Any], list[Document]]]:
    """Parts of so many documents in the form that travels between processes, and what makes documents of one.

    Those of a spool are read by whoever needs them; others have to travel themselves.
    """
    if isinstance(documents, Spool):
        spool = documents
        ranges = ((first, min(first + size, spool.count)) for first in range(0, spool.count, size))
        return ranges, lambda part: spool.read(*part)
    source = iter(documents)
    return iter(lambda: list(islice(source, size)), []), lambda part: part


def pack(document: Document) -> bytes:
    """One line of JSON; the same document gives the same bytes."""
    return orjson.dumps(document.plain(), option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE, default=str)


def unpack(line: bytes) -> Document:
    return Document.of_plain(orjson.loads(line))
