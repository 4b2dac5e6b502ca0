"""What a worker does and takes: comparisons a second on all cores, and memory."""

from __future__ import annotations

from worker.benchmark import probe
from worker.benchmark.environment import BenchEnvironment
from worker.benchmark.memory import MB
from worker.benchmark.rows import MeasuredFigures

PROCESSES = 2
"""Processes that compare side by side."""


def measure_throughput(environment: BenchEnvironment, kind: str) -> list[MeasuredFigures]:
    """Cold comparisons a second of two processes together, and the most memory that one of them took."""
    given = {
        "engine": environment.engines[kind].address,
        "index": environment.ensure_index(kind),
        "pairs": [(pair.a, pair.b) for pair in environment.pairs],
        "seconds": min(environment.budget_seconds, 10.0),
        "least": len(environment.pairs) // PROCESSES,
    }
    started = [probe.start_probe("comparing", given) for _ in range(PROCESSES)]
    for process in started:
        assert process.stdout is not None
        process.stdout.readline()
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    found = [probe.wait_for_result(process) for process in started]
    rate = sum(one["done"] / one["seconds"] for one in found)
    done = sum(one["done"] for one in found)
    own = max(one["anonymous"] for one in found) / MB
    return [
        MeasuredFigures(rate, repetitions=done, note=f"{PROCESSES} processes"),
        MeasuredFigures(
            max(one["memory"] for one in found) / MB, repetitions=PROCESSES, note=f"{own:,.0f} MB without mapped files"
        ),
    ]
