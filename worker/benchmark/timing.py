"""Interleaved timing: steps take turns, so that whatever else the machine does disturbs all of them alike."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

MIN_CASES = 3
"""Cases that are timed however long they take."""

Step = Callable[[int], object]
"""A function that does the case of a given number."""


@dataclass(frozen=True)
class Timings:
    """Seconds of each case."""

    seconds: Sequence[float]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def p95(self) -> float:
        return compute_percentile(self.seconds, 0.95)

    def __len__(self) -> int:
        return len(self.seconds)


def compute_percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least a ``share`` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)]


def time_interleaved(
    steps: Mapping[str, Step], case_count: int, budget_seconds: float, *, warmup_cases: int = 1
) -> dict[str, Timings]:
    """Time every step on every case; the steps take turns, starting with another one each time.

    Ends after the last case, or once ``budget_seconds`` are over and ``MIN_CASES`` are done. The first ``warmup_cases``
    are done once before without being timed.
    """
    for case in range(min(warmup_cases, case_count)):
        for step in steps.values():
            step(case)
    names = list(steps)
    timings: dict[str, list[float]] = {name: [] for name in names}
    began = time.perf_counter()
    for case in range(case_count):
        for turn in range(len(names)):
            name = names[(turn + case) % len(names)]
            start = time.perf_counter()
            steps[name](case)
            timings[name].append(time.perf_counter() - start)
        if case + 1 >= MIN_CASES and time.perf_counter() - began > budget_seconds:
            break
    return {name: Timings(seconds) for name, seconds in timings.items()}
