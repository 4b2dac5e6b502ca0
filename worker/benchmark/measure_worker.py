"""Measurements of worker processes: comparisons a second on two cores, and memory."""

from __future__ import annotations

from worker.benchmark import probe
from worker.benchmark.environment import BenchEnvironment
from worker.benchmark.rows import MB, MeasuredFigures

PROCESSES = 2
"""Processes that compare at the same time."""


def measure_comparison_throughput(environment: BenchEnvironment, engine_kind: str) -> list[MeasuredFigures]:
    """Measure cold comparisons a second of two processes together, and the largest memory of one of them."""
    arguments = {
        "engine": environment.engines[engine_kind].address,
        "index": environment.ensure_index(engine_kind),
        "pairs": [(pair.a, pair.b) for pair in environment.pairs],
        "seconds": min(environment.budget_seconds, 10.0),
        "least": len(environment.pairs) // PROCESSES,
    }
    processes = [probe.start_probe("comparing", arguments) for _ in range(PROCESSES)]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    results = [probe.wait_for_result(process) for process in processes]
    rate = sum(result["done"] / result["seconds"] for result in results)
    done = sum(result["done"] for result in results)
    memory = max(result["memory"] for result in results) / MB
    anonymous = max(result["anonymous"] for result in results) / MB
    return [
        MeasuredFigures(rate, repetitions=done, note=f"{PROCESSES} processes"),
        MeasuredFigures(memory, repetitions=PROCESSES, note=f"{anonymous:,.0f} MB without mapped files"),
    ]
