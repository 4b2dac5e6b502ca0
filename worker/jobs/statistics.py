"""How much there is to do and what came of what was done: numbers for those who watch the service."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

BUCKETS: Final = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, float("inf"))
"""Upper bounds, in seconds, by which requests to Elasticsearch are counted."""


@dataclass(frozen=True, slots=True)
class Durations:
    """How many requests took how long."""

    counts: Mapping[float, int] = field(default_factory=dict)
    """Bucket -> requests that took no longer, and longer than the bucket below."""
    seconds: float = 0.0
    """All of them together."""

    def cumulative(self) -> list[tuple[str, float]]:
        """As Prometheus wants them: every bucket holds those below."""
        total, found = 0, []
        for bound in BUCKETS:
            total += self.counts.get(bound, 0)
            found.append(("+Inf" if bound == BUCKETS[-1] else str(bound), float(total)))
        return found


class Stopwatch:
    """Collects durations from any thread until they are taken away."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[float] = Counter()
        self._seconds = 0.0

    def took(self, seconds: float) -> None:
        bound = next(bound for bound in BUCKETS if seconds <= bound)
        with self._lock:
            self._counts[bound] += 1
            self._seconds += seconds

    def take(self) -> Durations:
        """All since the last time."""
        with self._lock:
            taken = Durations(dict(self._counts), self._seconds)
            self._counts, self._seconds = Counter(), 0.0
        return taken


@dataclass(frozen=True, slots=True)
class Census:
    jobs: Mapping[tuple[str, str], int]
    """(queue, state) -> open jobs."""
    oldest: Mapping[str, float]
    """Queue -> seconds since the oldest job that nobody runs was last queued."""
    ended: Mapping[tuple[str, str], int]
    """(state, error code or nothing) -> jobs that ended so, ever."""
    worker: bool
    """Whether any worker lives."""
    standstill: Mapping[str, float] = field(default_factory=dict)
    """Queue -> seconds since the oldest open job was handed in or finished a piece, however often it was tried."""
    elasticsearch: Durations = Durations()
    """What workers waited for Elasticsearch, ever."""
