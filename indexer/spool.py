"""Documents set aside on disk: read once from wherever they come, then as often as needed."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Self

import orjson

from indexer.documents import Document
from indexer.progress import Progress, no_progress

_EVERY = 500


class Spool:
    """A temporary file without a name: however the process ends, nothing of it stays behind."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="phrasecom-")  # noqa: SIM115  closed by close()
        self._digest = hashlib.sha256()
        self.count = 0

    def fill(self, documents: Iterable[Document], progress: Progress = no_progress) -> Self:
        for document in documents:
            line = pack(document)
            self._file.write(line)
            self._digest.update(line)
            self.count += 1
            if self.count % _EVERY == 0:
                progress("collect", self.count, 0)
        progress("collect", self.count, self.count)
        return self

    def content(self) -> str:
        """A hash of everything in it, order included."""
        return self._digest.hexdigest()

    def __iter__(self) -> Iterator[Document]:
        self._file.seek(0)
        for line in self._file:
            yield unpack(line)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def pack(document: Document) -> bytes:
    """One line of JSON; the same document gives the same bytes."""
    return orjson.dumps(document.plain(), option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE, default=str)


def unpack(line: bytes) -> Document:
    return Document.of_plain(orjson.loads(line))
