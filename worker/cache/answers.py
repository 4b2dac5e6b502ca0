"""Answers and known requests in the memory of this process: a repeated request costs no other request."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass

from worker.jobs.job import JobKind, StoredAnswer

_MAX_BODY_BYTES = 4096
"""Larger request bodies are not remembered."""


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """An answer ready to be sent."""

    kind: JobKind
    stored: StoredAnswer
    etag: str

    @classmethod
    def from_stored(cls, kind: JobKind, answer: StoredAnswer) -> CachedAnswer:
        return cls(kind, answer, hashlib.blake2b(answer.body, digest_size=12).hexdigest())

    def is_fresh(self) -> bool:
        return self.stored.expires_at > time.monotonic()

    def age_seconds(self) -> int:
        return max(0, int(time.monotonic() - self.stored.stored_at))


class AnswerCache:
    """The most recently read answers, up to ``max_bytes``. An answer never changes under its id."""

    def __init__(self, max_bytes: int = 32 * 2**20) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._answers: OrderedDict[str, CachedAnswer] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, id: str) -> CachedAnswer | None:
        with self._lock:
            cached = self._answers.get(id)
            if cached is None:
                return None
            if not cached.is_fresh():
                self._remove(id)
                return None
            self._answers.move_to_end(id)
            return cached

    def put(self, id: str, kind: JobKind, answer: StoredAnswer) -> CachedAnswer:
        cached = CachedAnswer.from_stored(kind, answer)
        with self._lock:
            self._remove(id)
            self._answers[id] = cached
            self._bytes += answer.size
            while self._bytes > self._max_bytes and self._answers:
                self._remove(next(iter(self._answers)))
        return cached

    def forget(self, id: str) -> None:
        with self._lock:
            self._remove(id)

    def __len__(self) -> int:
        return len(self._answers)

    def _remove(self, id: str) -> None:
        cached = self._answers.pop(id, None)
        if cached is not None:
            self._bytes -= cached.stored.size


@dataclass(frozen=True, slots=True)
class _KnownRequest:
    index: str
    id: str
    expires_at: float
    """By the monotonic clock."""


class KnownRequests:
    """The job ids that request bodies led to, so that equal bytes need not be parsed again.

    An entry is valid until its index changes (``forget_index``) or ``seconds`` have passed: no longer than the version
    cache may be behind an index that another program writes.
    """

    def __init__(self, seconds: float, max_entries: int = 10_000) -> None:
        self._seconds = seconds
        self._max_entries = max_entries
        self._known: OrderedDict[tuple[str, bytes], _KnownRequest] = OrderedDict()
        self._lock = threading.Lock()

    def get_job_id(self, groups_key: str, body: bytes, *, allow_stale: bool = False) -> str | None:
        """Return the job id of a body; ``allow_stale`` also returns one whose time has passed."""
        known = self._known.get((groups_key, body))
        if known is None or (known.expires_at < time.monotonic() and not allow_stale):
            return None
        return known.id

    def put(self, groups_key: str, body: bytes, index: str, job_id: str) -> None:
        if len(body) > _MAX_BODY_BYTES:
            return
        with self._lock:
            self._known[(groups_key, body)] = _KnownRequest(index, job_id, time.monotonic() + self._seconds)
            self._known.move_to_end((groups_key, body))
            while len(self._known) > self._max_entries:
                self._known.popitem(last=False)

    def forget_index(self, index: str | None) -> None:
        """Remove the entries of this index; None: all entries."""
        with self._lock:
            if index is None:
                self._known.clear()
                return
            for key in [key for key, known in self._known.items() if known.index == index]:
                del self._known[key]
