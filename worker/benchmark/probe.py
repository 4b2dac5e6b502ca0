"""What has to be measured in a process of its own: ``python -m worker.benchmark.probe NAME JSON`` prints JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from worker.benchmark import memory

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
PATTERNS = ("Evidence", "frequent_patterns", "phrase_candidates", "joined")
"""What mining calls between coded tokens and the features of its candidates."""
Given = dict[str, Any]


def start(name: str, given: Given) -> subprocess.Popen[str]:
    """A probe under way; it has one thread for numbers."""
    command = [sys.executable, "-m", "worker.benchmark.probe", name, json.dumps(given)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **ONE_THREAD}
    )


def result(process: subprocess.Popen[str]) -> Given:
    """What a probe found out; waits until it ends."""
    out, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"a probe ended with status {process.returncode}")
    found: Given = json.loads(out.strip().rpartition("\n")[2])
    return found


def mining(given: Given) -> Given:
    """Processor seconds and memory of mining ``count`` documents of the file ``path``, on one core."""
    from sklearn.ensemble import RandomForestClassifier

    from indexer.analysis import analyzer
    from indexer.mining import pipeline as steps
    from worker.benchmark.corpus import documents_of

    assert RandomForestClassifier
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    tokens: list[int] = []
    text = sum(len((d.title + d.text).encode()) for d in documents_of(given["path"], given["count"]))
    before = memory.resident()
    began = time.process_time()
    with timed(steps, *PATTERNS) as patterns, timed(analyzer, "code") as coding:
        analyzer.mine(
            documents_of(given["path"], given["count"]), learnt=lambda corpus, _: tokens.append(corpus.tokens)
        )
    whole = time.process_time() - began
    return {
        "tokens": tokens[0],
        "text_bytes": text,
        "seconds": {"patterns": sum(patterns), "coding": sum(coding), "whole": whole},
        "memory": memory.peak() - before,
    }


@contextmanager
def timed(module: ModuleType, *names: str) -> Iterator[list[float]]:
    """Processor seconds spent in functions of a module, called by their names there."""
    seconds: list[float] = []
    kept = {name: getattr(module, name) for name in names}

    def watched(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*positional: Any, **named: Any) -> Any:
            start = time.process_time()
            try:
                return function(*positional, **named)
            finally:
                seconds.append(time.process_time() - start)

        return call

    for name, function in kept.items():
        setattr(module, name, watched(function))
    try:
        yield seconds
    finally:
        for name, function in kept.items():
            setattr(module, name, function)


def comparing(given: Given) -> Given:
    """Comparisons of ``pairs`` for so many seconds, begun when a line comes in; and the memory they took."""
    import worker.methods  # noqa: F401
    from indexer.engines.factory import open_engine_of
    from indexer.settings import load_settings
    from worker.benchmark.environment import answer
    from worker.benchmark.workload import Pair
    from worker.comparer import Comparer

    before, own_before = memory.resident(), memory.anonymous()
    with open_engine_of(load_settings(engine=given["engine"])) as engine:
        comparer = Comparer(engine)
        questions = [Pair(a, b).question(comparer, given["index"]) for a, b in given["pairs"]]
        for question in questions[:3]:
            answer(comparer, question)
        print("ready", flush=True)
        sys.stdin.readline()
        done, began = 0, time.perf_counter()
        while time.perf_counter() - began < given["seconds"] or done < given.get("least", 0):
            answer(comparer, questions[done % len(questions)])
            done += 1
        seconds = time.perf_counter() - began
        return {
            "done": done,
            "seconds": seconds,
            "memory": memory.peak() - before,
            "anonymous": memory.anonymous() - own_before,
        }


def loading(given: Given) -> Given:
    from worker.benchmark.http_load import load

    return load(given["port"], given["request"].encode(), given["connections"], given["seconds"])


PROBES: dict[str, Callable[[Given], Given]] = {"mining": mining, "comparing": comparing, "loading": loading}


if __name__ == "__main__":
    print(json.dumps(PROBES[sys.argv[1]](json.loads(sys.argv[2]))), flush=True)
