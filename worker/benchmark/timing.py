"""Timing several things side by side: in turns, so that what disturbs the machine disturbs all of them."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

LEAST = 3
"""So many cases are timed however long they take."""

Step = Callable[[int], object]
"""Does one case, by its number."""


@dataclass(frozen=True)
class Times:
    """Seconds of each case."""

    seconds: Sequence[float]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def p95(self) -> float:
        return percentile(self.seconds, 0.95)

    def __len__(self) -> int:
        return len(self.seconds)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that is not below so large a share of them."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)]


def interleaved(steps: Mapping[str, Step], cases: int, budget: float, *, warm: int = 1) -> dict[str, Times]:
    """Every step on every case, the steps in turns, another one first each time.

    Ends after the last case, or once ``budget`` seconds are over and a few cases are done. ``warm`` cases
    are done before without being timed.
    """
    for case in range(min(warm, cases)):
        for step in steps.values():
            step(case)
    names = list(steps)
    found: dict[str, list[float]] = {name: [] for name in names}
    began = time.perf_counter()
    for case in range(cases):
        for at in range(len(names)):
            name = names[(at + case) % len(names)]
            start = time.perf_counter()
            steps[name](case)
            found[name].append(time.perf_counter() - start)
        if case + 1 >= LEAST and time.perf_counter() - began > budget:
            break
    return {name: Times(seconds) for name, seconds in found.items()}
