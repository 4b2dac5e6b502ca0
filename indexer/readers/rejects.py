"""Records that could not be taken: counted, kept in a file, and never in the way of the rest."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self


@dataclass(frozen=True, slots=True)
class Reject:
    """One record left out."""

    source: str
    """The file, or ``-`` for standard input."""
    line: int
    """Where it began, counted from 1; 0 where there are no lines."""
    reason: str


class Rejects:
    """Collects rejects; the file (JSON lines) is made at the first one and removed when there is none."""

    SHOWN = 5

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.count = 0
        self.first: list[Reject] = []
        self._file: IO[str] | None = None
        if path is not None:
            path.unlink(missing_ok=True)

    def add(self, source: str, line: int, reason: str) -> None:
        reject = Reject(source, line, reason)
        self.count += 1
        if len(self.first) < self.SHOWN:
            self.first.append(reject)
        if self.path is not None:
            if self._file is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._file = self.path.open("w", encoding="utf-8", errors="backslashreplace")
            self._file.write(json.dumps(asdict(reject), ensure_ascii=False) + "\n")

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()
