"""Probes: measurements that need a process of their own. ``python -m worker.benchmark.probe NAME JSON`` prints JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
PATTERN_STEPS = ("PatternStatistics", "find_frequent_patterns", "collect_phrase_candidates")
"""Steps of ``indexer.mining.pipeline`` between encoded tokens and the features of candidates."""
ProbeArguments = dict[str, Any]
ProbeResult = dict[str, Any]


def start_probe(name: str, arguments: ProbeArguments) -> subprocess.Popen[str]:
    """Start a probe in a process with one thread for numerical libraries."""
    command = [sys.executable, "-m", "worker.benchmark.probe", name, json.dumps(arguments)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **ONE_THREAD}
    )


def wait_for_result(process: subprocess.Popen[str]) -> ProbeResult:
    """Wait until a probe ends and return its result; raise RuntimeError if it failed."""
    out, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"a probe exited with status {process.returncode}")
    result: ProbeResult = json.loads(out.strip().rpartition("\n")[2])
    return result


def probe_mining(arguments: ProbeArguments) -> ProbeResult:
    """Measure processor seconds and memory of mining ``count`` documents of the file ``path`` on one core."""
    from sklearn.ensemble import RandomForestClassifier

    from indexer.mining import pipeline
    from worker.benchmark.corpus import read_corpus_file

    assert RandomForestClassifier  # imported before memory is measured
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    tokens: list[int] = []
    text_bytes = sum(len((d.title + d.text).encode()) for d in read_corpus_file(arguments["path"], arguments["count"]))
    before = get_resident_bytes()
    start = time.process_time()
    with time_functions(pipeline, *PATTERN_STEPS) as patterns, time_functions(pipeline, "encode_corpus") as encoding:
        pipeline.mine_model(
            read_corpus_file(arguments["path"], arguments["count"]),
            on_phrases_mined=lambda corpus, _: tokens.append(corpus.token_count),
        )
    whole = time.process_time() - start
    return {
        "tokens": tokens[0],
        "text_bytes": text_bytes,
        "seconds": {"patterns": sum(patterns), "coding": sum(encoding), "whole": whole},
        "memory": get_peak_bytes() - before,
    }


@contextmanager
def time_functions(module: ModuleType, *names: str) -> Iterator[list[float]]:
    """Yield a list that collects the processor seconds of calls of functions through their names in a module."""
    seconds: list[float] = []
    originals = {name: getattr(module, name) for name in names}

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*positional: Any, **named: Any) -> Any:
            start = time.process_time()
            try:
                return function(*positional, **named)
            finally:
                seconds.append(time.process_time() - start)

        return call

    for name, function in originals.items():
        setattr(module, name, wrap(function))
    try:
        yield seconds
    finally:
        for name, function in originals.items():
            setattr(module, name, function)


def probe_comparing(arguments: ProbeArguments) -> ProbeResult:
    """Count comparisons of ``pairs`` in some ``seconds`` from a line on stdin on, and measure the memory they take."""
    import worker.methods.registry  # noqa: F401
    from indexer.engines.factory import open_engine_from_settings
    from indexer.settings import load_settings
    from worker.benchmark.environment import compare_to_json
    from worker.benchmark.workload import DocumentPair
    from worker.comparer import Comparer

    resident_before, anonymous_before = get_resident_bytes(), get_anonymous_bytes()
    with open_engine_from_settings(load_settings(engine=arguments["engine"])) as engine:
        comparer = Comparer(engine)
        specs = [DocumentPair(a, b).build_spec(comparer, arguments["index"]) for a, b in arguments["pairs"]]
        for spec in specs[:3]:
            compare_to_json(comparer, spec)
        print("ready", flush=True)
        sys.stdin.readline()
        done, start = 0, time.perf_counter()
        while time.perf_counter() - start < arguments["seconds"] or done < arguments.get("least", 0):
            compare_to_json(comparer, specs[done % len(specs)])
            done += 1
        seconds = time.perf_counter() - start
        return {
            "done": done,
            "seconds": seconds,
            "memory": get_peak_bytes() - resident_before,
            "anonymous": get_anonymous_bytes() - anonymous_before,
        }


def probe_vector_space(arguments: ProbeArguments) -> ProbeResult:
    """Measure memory, and seconds of a page of hits, in the vector space of some ``phrases`` that are made up."""
    import numpy as np

    from indexer.model.evidence_spaces import EvidenceSpaces, Reservoir, SpaceHit, SpaceQuery, normalise_rows
    from indexer.model.vector_space import PhraseCentroids, VectorProjection, VectorSpace

    count, input_dimensions, dimensions, documents, salient, hits = arguments["phrases"], 384, 128, 1000, 30, 10
    rng = np.random.default_rng(1)
    axes = np.linalg.qr(rng.standard_normal((input_dimensions, dimensions)))[0].astype(np.float32)
    before = get_resident_bytes()
    centroids = PhraseCentroids(
        rng.integers(-127, 128, (count, dimensions), dtype=np.int8),
        np.full(count, 1e-3, dtype=np.float32),
        np.asarray(rng.integers(2, 50, count), dtype=np.int32),
    )
    reservoir = Reservoir(np.arange(documents + 1) * salient, rng.integers(0, count, documents * salient))
    places = normalise_rows(rng.standard_normal((documents, dimensions), dtype=np.float32))
    projection = VectorProjection(np.zeros(input_dimensions, dtype=np.float32), axes)
    space = VectorSpace(projection, centroids, reservoir, places)
    spaces = EvidenceSpaces([space], reservoir)

    def make_page() -> tuple[SpaceQuery, list[SpaceHit]]:
        vectors = rng.standard_normal((hits + 1, input_dimensions), dtype=np.float32)
        holds = np.ones((salient, 1), dtype=np.bool_)
        page = [
            SpaceHit(rng.integers(0, count, salient), {}, None, vector[np.newaxis], holds) for vector in vectors[1:]
        ]
        return SpaceQuery(np.zeros(0, dtype=np.int64), vectors[0]), page

    spaces.measure(*make_page())  # measures the random documents along their own phrases, once
    memory = get_resident_bytes() - before
    page_seconds, random_seconds = [], []
    for query, page in [make_page() for _ in range(100)]:
        start = time.perf_counter()
        spaces.measure(query, page)
        page_seconds.append(time.perf_counter() - start)
        located = space.locate_query(query)
        assert located is not None  # every vector has a direction
        start = time.perf_counter()
        space.measure_reservoir(located)
        random_seconds.append(time.perf_counter() - start)
    return {
        "memory": memory,
        "page": page_seconds,
        "random": random_seconds,
        "dimensions": dimensions,
        "documents": documents,
    }


def probe_load(arguments: ProbeArguments) -> ProbeResult:
    """Send HTTP requests for some ``seconds``."""
    from worker.benchmark.http_load import generate_load

    return generate_load(
        arguments["port"], arguments["request"].encode(), arguments["connections"], arguments["seconds"]
    )


def get_resident_bytes() -> float:
    """Return the bytes this process has in memory now."""
    return _read_status("VmRSS")


def get_peak_bytes() -> float:
    """Return the peak of its bytes in memory. (That of ``getrusage`` includes the process it was started from.)"""
    return _read_status("VmHWM")


def get_anonymous_bytes() -> float:
    """Return its bytes without those mapped from files, which the system may take back."""
    return _read_status("RssAnon")


def _read_status(name: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return float(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no {name}")


PROBES: dict[str, Callable[[ProbeArguments], ProbeResult]] = {
    "mining": probe_mining,
    "comparing": probe_comparing,
    "loading": probe_load,
    "vector-space": probe_vector_space,
}


if __name__ == "__main__":
    print(json.dumps(PROBES[sys.argv[1]](json.loads(sys.argv[2]))), flush=True)
