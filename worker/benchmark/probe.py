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
PATTERN_STEPS = ("PatternStatistics", "find_frequent_patterns", "collect_phrase_candidates")
"""What mining calls between coded tokens and the features of its candidates."""
ProbeArguments = dict[str, Any]


def start_probe(name: str, given: ProbeArguments) -> subprocess.Popen[str]:
    """A probe under way; it has one thread for numbers."""
    command = [sys.executable, "-m", "worker.benchmark.probe", name, json.dumps(given)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **ONE_THREAD}
    )


def wait_for_result(process: subprocess.Popen[str]) -> ProbeArguments:
    """What a probe found out; waits until it ends."""
    out, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"a probe ended with status {process.returncode}")
    found: ProbeArguments = json.loads(out.strip().rpartition("\n")[2])
    return found


def probe_mining(given: ProbeArguments) -> ProbeArguments:
    """Processor seconds and memory of mining ``count`` documents of the file ``path``, on one core."""
    from sklearn.ensemble import RandomForestClassifier

    from indexer.mining import pipeline as steps
    from worker.benchmark.corpus import read_corpus_file

    assert RandomForestClassifier
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    tokens: list[int] = []
    text = sum(len((d.title + d.text).encode()) for d in read_corpus_file(given["path"], given["count"]))
    before = memory.get_resident_bytes()
    began = time.process_time()
    with time_functions(steps, *PATTERN_STEPS) as patterns, time_functions(steps, "encode_corpus") as coding:
        steps.mine_model(
            read_corpus_file(given["path"], given["count"]),
            on_phrases_mined=lambda corpus, _: tokens.append(corpus.token_count),
        )
    whole = time.process_time() - began
    return {
        "tokens": tokens[0],
        "text_bytes": text,
        "seconds": {"patterns": sum(patterns), "coding": sum(coding), "whole": whole},
        "memory": memory.get_peak_bytes() - before,
    }


@contextmanager
def time_functions(module: ModuleType, *names: str) -> Iterator[list[float]]:
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


def probe_comparing(given: ProbeArguments) -> ProbeArguments:
    """Comparisons of ``pairs`` for so many seconds, begun when a line comes in; and the memory they took."""
    import worker.methods  # noqa: F401
    from indexer.engines.factory import open_engine_from_settings
    from indexer.settings import load_settings
    from worker.benchmark.environment import compare_to_json
    from worker.benchmark.workload import DocumentPair
    from worker.comparer import Comparer

    before, own_before = memory.get_resident_bytes(), memory.get_anonymous_bytes()
    with open_engine_from_settings(load_settings(engine=given["engine"])) as engine:
        comparer = Comparer(engine)
        questions = [DocumentPair(a, b).build_spec(comparer, given["index"]) for a, b in given["pairs"]]
        for question in questions[:3]:
            compare_to_json(comparer, question)
        print("ready", flush=True)
        sys.stdin.readline()
        done, began = 0, time.perf_counter()
        while time.perf_counter() - began < given["seconds"] or done < given.get("least", 0):
            compare_to_json(comparer, questions[done % len(questions)])
            done += 1
        seconds = time.perf_counter() - began
        return {
            "done": done,
            "seconds": seconds,
            "memory": memory.get_peak_bytes() - before,
            "anonymous": memory.get_anonymous_bytes() - own_before,
        }


def probe_load(given: ProbeArguments) -> ProbeArguments:
    from worker.benchmark.http_load import generate_load

    return generate_load(given["port"], given["request"].encode(), given["connections"], given["seconds"])


PROBES: dict[str, Callable[[ProbeArguments], ProbeArguments]] = {
    "mining": probe_mining,
    "comparing": probe_comparing,
    "loading": probe_load,
}


if __name__ == "__main__":
    print(json.dumps(PROBES[sys.argv[1]](json.loads(sys.argv[2]))), flush=True)
