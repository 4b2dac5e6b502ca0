"""Which documents of an index a caller may read, remembered for a few seconds."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

from indexer.engines.base import Groups
from worker.access import rights_of

Ids = tuple[str, ...]
_MOST_KEPT: Final = 16
"""Lists; each may hold many thousand ids."""


class ReadableIds:
    """A list holds until its index changes (``changed``) or ``seconds`` pass: no longer than a right that another
    program took away may still be used."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, str, str], tuple[float, Ids]] = {}
        self._changes = 0

    def get(self, index: str, epoch: str, groups: Groups, load: Callable[[], Ids]) -> Ids:
        name = (index, epoch, rights_of(groups))
        with self._lock:
            until, ids = self._kept.get(name, (0.0, ()))
            before = self._changes
        if until > time.monotonic():
            return ids
        began = time.monotonic()
        ids = load()
        with self._lock:
            if self._changes == before:  # else it may be older than the change
                self._kept[name] = (began + self._seconds, ids)
                while len(self._kept) > _MOST_KEPT:
                    del self._kept[next(iter(self._kept))]
        return ids

    def changed(self, index: str | None) -> None:
        """Forget what concerns this index; None: everything."""
        with self._lock:
            self._changes += 1
            self._kept = {name: kept for name, kept in self._kept.items() if index is not None and name[0] != index}
