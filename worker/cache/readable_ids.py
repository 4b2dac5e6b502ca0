"""The ids of the documents of an index that a caller may read, remembered for a few seconds."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

from indexer.engines.search_types import Groups
from worker.access import make_groups_key

DocumentIds = tuple[str, ...]
_MAX_LISTS: Final = 16
"""Each list may hold many thousand ids."""


class ReadableIds:
    """Lists of ids by index, epoch and groups.

    A list is valid until its index changes (``forget_index``) or ``seconds`` have passed: no longer than a right that
    another program took away may still be used.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._lists: dict[tuple[str, str, str], tuple[float, DocumentIds]] = {}
        """(index, epoch, groups key) -> time at which the list expires, ids."""
        self._changes = 0

    def get_or_load(self, index: str, epoch: str, groups: Groups, load: Callable[[], DocumentIds]) -> DocumentIds:
        """Return the remembered ids, or those that ``load`` returns."""
        key = (index, epoch, make_groups_key(groups))
        with self._lock:
            expires_at, ids = self._lists.get(key, (0.0, ()))
            changes_before = self._changes
        if expires_at > time.monotonic():
            return ids
        started_at = time.monotonic()
        ids = load()
        with self._lock:
            if self._changes == changes_before:  # else the list may be older than the change
                self._lists[key] = (started_at + self._seconds, ids)
                while len(self._lists) > _MAX_LISTS:
                    del self._lists[next(iter(self._lists))]
        return ids

    def forget_index(self, index: str | None) -> None:
        """Remove the lists of this index; None: all lists."""
        with self._lock:
            self._changes += 1
            self._lists = {key: ids for key, ids in self._lists.items() if index is not None and key[0] != index}
