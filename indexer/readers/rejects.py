"""Rejected records: counted and listed in a file, while the others go on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from indexer.errors import BadParameter


@dataclass(frozen=True, slots=True)
class Reject:
    """One rejected record."""

    source: str
    """The file, or ``-`` for standard input."""
    line: int
    """Where the record begins, counted from 1; 0 if the source has no lines."""
    reason: str


class Rejects:
    """Collects rejects; the file (JSON lines) is created at the first one, and a former one is removed."""

    MAX_EXAMPLES = 5

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.count = 0
        self.examples: list[Reject] = []
        self.last_read: tuple[str, int] = ("", 0)
        """Source and line of the record that a reader made its last document of."""
        self._file: IO[str] | None = None
        if path is not None:
            with self._translate_errors():
                path.unlink(missing_ok=True)

    def add(self, source: str, line: int, reason: str) -> None:
        """Count a rejected record and write it to the file; raise BadParameter if that cannot be written."""
        reject = Reject(source, line, reason)
        self.count += 1
        if len(self.examples) < self.MAX_EXAMPLES:
            self.examples.append(reject)
        if self.path is not None:
            with self._translate_errors():
                self._write(self.path, json.dumps(asdict(reject), ensure_ascii=False) + "\n")

    def add_last_read(self, reason: str) -> None:
        """Reject the record of the document that a reader yielded last."""
        self.add(*self.last_read, reason)

    def _write(self, path: Path, line: str) -> None:
        if self._file is None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("w", encoding="utf-8", errors="backslashreplace")
        self._file.write(line)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise BadParameter(
                f"cannot write rejected records to {self.path}: {error.strerror}",
                fix="name another file with --rejects",
            ) from None

    def flush(self) -> None:
        """Let others read what was written so far."""
        if self._file is not None:
            with self._translate_errors():
                self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


class CollectedRejects(Rejects):
    """Rejects of a few records, which are all kept."""

    def __init__(self) -> None:
        super().__init__()
        self.all: list[Reject] = []

    def add(self, source: str, line: int, reason: str) -> None:
        super().add(source, line, reason)
        self.all.append(Reject(source, line, reason))
