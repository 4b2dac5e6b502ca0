"""Answers kept in the process itself: hot ones cost no request to anything."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass

from worker.jobs.job import Answer, Kind


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer ready to be sent."""

    kind: Kind
    answer: Answer
    etag: str

    @classmethod
    def of(cls, kind: Kind, answer: Answer) -> Kept:
        return cls(kind, answer, hashlib.blake2b(answer.body, digest_size=12).hexdigest())

    def fresh(self) -> bool:
        return self.answer.expires > time.time()

    def age(self) -> int:
        return max(0, int(time.time() - self.answer.stored))


class LocalAnswers:
    """The most recently read answers, up to so many bytes. An answer never changes under its id."""

    def __init__(self, most_bytes: int = 32 * 2**20) -> None:
        self._most = most_bytes
        self._bytes = 0
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, id: str) -> Kept | None:
        with self._lock:
            kept = self._kept.get(id)
            if kept is None:
                return None
            if not kept.fresh():
                self._drop(id)
                return None
            self._kept.move_to_end(id)
            return kept

    def put(self, id: str, kind: Kind, answer: Answer) -> Kept:
        kept = Kept.of(kind, answer)
        with self._lock:
            self._drop(id)
            self._kept[id] = kept
            self._bytes += len(answer.body)
            while self._bytes > self._most and self._kept:
                self._drop(next(iter(self._kept)))
        return kept

    def forget(self, id: str) -> None:
        with self._lock:
            self._drop(id)

    def __len__(self) -> int:
        return len(self._kept)

    def _drop(self, id: str) -> None:
        kept = self._kept.pop(id, None)
        if kept is not None:
            self._bytes -= len(kept.answer.body)


class KnownQuestions:
    """Which id a request's bytes led to, so that the same bytes need not be understood again.

    An entry holds until its index changes (``changed``) or a few seconds pass: no longer than the
    mirror may be behind an index that another program writes.
    """

    def __init__(self, seconds: float, most: int = 10_000) -> None:
        self._seconds = seconds
        self._most = most
        self._known: OrderedDict[tuple[str, bytes], tuple[str, str, float]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, rights: str, body: bytes, *, stale: bool = False) -> str | None:
        """``stale``: better than nothing, when there is nobody to ask whether it still holds."""
        known = self._known.get((rights, body))
        if known is None or (known[2] < time.monotonic() and not stale):
            return None
        return known[1]

    def put(self, rights: str, body: bytes, index: str, id: str) -> None:
        if len(body) > 4096:
            return
        with self._lock:
            self._known[(rights, body)] = (index, id, time.monotonic() + self._seconds)
            self._known.move_to_end((rights, body))
            while len(self._known) > self._most:
                self._known.popitem(last=False)

    def changed(self, index: str | None) -> None:
        """Forget what concerns this index; None: everything."""
        with self._lock:
            if index is None:
                self._known.clear()
                return
            for name in [name for name, known in self._known.items() if known[0] == index]:
                del self._known[name]
