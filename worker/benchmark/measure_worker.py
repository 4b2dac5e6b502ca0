"""What a worker does and takes: comparisons a second on all cores, and memory."""

from __future__ import annotations

from worker.benchmark import probe
from worker.benchmark.environment import Setting
from worker.benchmark.memory import MB
from worker.benchmark.rows import Figures

CORES = 2
"""Processes that compare side by side."""


def throughput(setting: Setting, kind: str) -> list[Figures]:
    """Cold comparisons a second of two processes together, and the most memory that one of them took."""
    given = {
        "engine": setting.engines[kind].address,
        "index": setting.index(kind),
        "pairs": [(pair.a, pair.b) for pair in setting.drawn[0]],
        "seconds": min(setting.budget, 10.0),
        "least": len(setting.drawn[0]) // CORES,
    }
    started = [probe.start("comparing", given) for _ in range(CORES)]
    for process in started:
        assert process.stdout is not None
        process.stdout.readline()
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    found = [probe.result(process) for process in started]
    rate = sum(one["done"] / one["seconds"] for one in found)
    done = sum(one["done"] for one in found)
    own = max(one["anonymous"] for one in found) / MB
    return [
        Figures(rate, repetitions=done, note=f"{CORES} processes"),
        Figures(
            max(one["memory"] for one in found) / MB, repetitions=CORES, note=f"{own:,.0f} MB without mapped files"
        ),
    ]
