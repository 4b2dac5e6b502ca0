"""Timing of steps and functions."""

from __future__ import annotations

import statistics

import pytest

from worker.benchmark.probe import time_functions
from worker.benchmark.timing import MIN_CASES, compute_percentile, time_interleaved


def test_steps_take_turns_in_alternating_order() -> None:
    calls: list[tuple[str, int]] = []
    steps = {name: (lambda case, name=name: calls.append((name, case))) for name in "ab"}
    times = time_interleaved(steps, 3, budget_seconds=60, warmup_cases=0)
    assert calls == [("a", 0), ("b", 0), ("b", 1), ("a", 1), ("a", 2), ("b", 2)]
    assert len(times["a"]) == len(times["b"]) == 3


def test_a_row_ends_with_its_budget_after_a_minimum_of_cases() -> None:
    calls: list[int] = []
    time_interleaved({"only": calls.append}, 1000, budget_seconds=0, warmup_cases=0)
    assert len(calls) == MIN_CASES


@pytest.mark.parametrize(("share", "value"), [(0.95, 95), (0.5, 50), (1.0, 100), (0.0, 1)])
def test_a_percentile_is_one_of_the_values(share: float, value: int) -> None:
    assert compute_percentile(range(100, 0, -1), share) == value


def test_functions_are_timed_and_restored() -> None:
    original = statistics.median
    with time_functions(statistics, "median") as seconds:
        assert statistics.median([1, 2, 3]) == 2
    assert len(seconds) == 1
    assert statistics.median is original
