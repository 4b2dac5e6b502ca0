"""Numbers for monitoring: open and ended jobs, and how long requests to Elasticsearch took."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

DURATION_BUCKETS: Final = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, float("inf"))
"""Upper bounds of the buckets, in seconds."""


@dataclass(frozen=True, slots=True)
class Durations:
    """A histogram of request durations."""

    counts: Mapping[float, int] = field(default_factory=dict)
    """Upper bound of a bucket -> requests in that bucket alone."""
    seconds: float = 0.0
    """Sum of all durations."""

    def cumulative_counts(self) -> list[tuple[str, float]]:
        """Return the buckets as Prometheus expects them: label of the bound, requests up to it."""
        total, cumulative = 0, []
        for bound in DURATION_BUCKETS:
            total += self.counts.get(bound, 0)
            cumulative.append(("+Inf" if bound == DURATION_BUCKETS[-1] else str(bound), float(total)))
        return cumulative


class DurationRecorder:
    """Collects durations from any thread until they are drained."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[float] = Counter()
        self._seconds = 0.0

    def record(self, seconds: float) -> None:
        bucket = next(bound for bound in DURATION_BUCKETS if seconds <= bound)
        with self._lock:
            self._counts[bucket] += 1
            self._seconds += seconds

    def drain(self) -> Durations:
        """Return the durations recorded since the last call and start over."""
        with self._lock:
            durations = Durations(dict(self._counts), self._seconds)
            self._counts, self._seconds = Counter(), 0.0
        return durations


@dataclass(frozen=True, slots=True)
class JobStatistics:
    """State of the queues, and totals since the store was created."""

    open_jobs: Mapping[tuple[str, str], int]
    """(queue, state) -> jobs."""
    oldest_queued_seconds: Mapping[str, float]
    """Queue -> seconds since its oldest queued job was last queued."""
    ended_jobs: Mapping[tuple[str, str], int]
    """(state, error code or an empty string) -> jobs."""
    has_worker: bool
    """Whether any worker is alive."""
    stalled_seconds: Mapping[str, float] = field(default_factory=dict)
    """Queue -> the longest time for which an open job has finished no chunk, retries included."""
    elasticsearch_durations: Durations = Durations()
    """Requests of the workers to Elasticsearch."""
