"""Measures the figures of deploy/SCALING.md on shards, on a cluster and on a million documents; prints JSON.

    python -m tests.tools.measure_scale layouts FOLDER FILE...  shards on one Elasticsearch node and on three
    python -m tests.tools.measure_scale million FOLDER [COUNT]  generated documents in the embedded engine

Comparisons alternate, so that other load on the machine affects all of them; FOLDER keeps the indexes.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from deploy.elasticsearch.node import Node
from indexer.engines import open_engine
from indexer.engines.base import Reader
from indexer.engines.elasticsearch.engine import ElasticsearchEngine
from indexer.indexing.build import build_index
from indexer.readers.registry import read_documents
from indexer.readers.rejects import Rejects
from tests.support.faults.cluster import Cluster
from worker.benchmark import measure_compare, measure_worker
from worker.benchmark.corpus import BenchCorpus
from worker.benchmark.environment import EMBEDDED, BenchEnvironment, compare_to_json
from worker.benchmark.timing import Step, time_interleaved
from worker.benchmark.workload import DocumentPair, draw_workload
from worker.comparer import Comparer

DOCUMENT_COUNT = 40_000
CASE_COUNT = 200
MAX_DRAWN_IDS = 4000
BUDGET_SECONDS = 240.0
MINED_INDEX, INDEX = "mined", "scale"
LANGUAGE_SIZE = 10
"""A million documents need ten times the words and topics of the benchmark's language."""


@dataclass(frozen=True)
class Layout:
    """Server, shards and replicas of an index."""

    url: str
    shards: int
    replicas: int = 0

    def open_engine(self) -> ElasticsearchEngine:
        prefix = f"scale-{self.shards}-{self.replicas}-"
        engine = open_engine(self.url, shards=self.shards, replicas=self.replicas, prefix=prefix)
        assert isinstance(engine, ElasticsearchEngine)
        return engine


def measure_layouts(folder: Path, files: Sequence[str]) -> dict[str, Any]:
    """Measure the same analysed documents in every layout: written one after the other, compared alternately."""
    results: dict[str, Any] = {}
    steps: dict[str, Step] = {}
    pairs: list[DocumentPair] = []
    with ExitStack() as opened:
        node = opened.enter_context(Node(heap="512m", work=folder / "node"))
        cluster = opened.enter_context(Cluster(folder / "cluster"))
        source = opened.enter_context(Layout(node.url, 1).open_engine())
        analysed = open_mined(source, files)
        for name, layout in list_layouts(node.url, cluster.url).items():
            engine = opened.enter_context(layout.open_engine())
            results[name] = {"write_seconds": time_write(analysed, engine), **describe_shards(engine)}
            print(name, results[name], file=sys.stderr, flush=True)
            ids = analysed.readable_ids(None, MAX_DRAWN_IDS)
            pairs = pairs or draw_workload(engine.open_reader(INDEX), ids, CASE_COUNT)[0]
            steps[name] = make_cold_step(engine, pairs)
        times = time_interleaved(steps, CASE_COUNT, BUDGET_SECONDS, warmup_cases=20)
    for name, step_times in times.items():
        results[name] |= {
            "median_ms": 1000 * step_times.median,
            "p95_ms": 1000 * step_times.p95,
            "cases": len(step_times),
        }
    return results


def list_layouts(node_url: str, cluster_url: str) -> dict[str, Layout]:
    """Return the layouts on one node and on a cluster of three by name."""
    alone = {f"one node, shards: {n}": Layout(node_url, n) for n in (1, 2, 4, 8)}
    return alone | {f"three nodes, shards: {n}, each with a replica": Layout(cluster_url, n, 1) for n in (1, 3)}


def open_mined(engine: ElasticsearchEngine, files: Sequence[str]) -> Reader:
    """Open the index of the analysed documents; build it unless an earlier run did."""
    if MINED_INDEX not in engine.list_indexes():
        build_index(islice(read_documents(files, Rejects()), DOCUMENT_COUNT), engine, MINED_INDEX)
    return engine.open_reader(MINED_INDEX)


def time_write(analysed: Reader, engine: ElasticsearchEngine) -> float:
    """Return the seconds that writing all documents takes."""
    documents = list(analysed.scan())
    began = time.perf_counter()
    with engine.start_build(INDEX) as build:
        build.write(documents)
        build.commit(analysed.model, replace(analysed.info, name=INDEX))
    return time.perf_counter() - began


def describe_shards(engine: ElasticsearchEngine) -> dict[str, int]:
    """Return the counts of shards, copies and nodes as Elasticsearch reports them."""
    client, alias = engine.connection.client, engine.documents_alias(INDEX)
    client.cluster.health(index=alias, wait_for_status="green", timeout="120s")
    listed: Any = client.cat.shards(index=alias, format="json").body
    copies = [shard for shard in listed if shard["state"] == "STARTED"]
    primaries = [shard for shard in copies if shard["prirep"] == "p"]
    assert len(primaries) == engine.shards and len(copies) == engine.shards * (1 + engine.replicas), copies
    return {"shards": len(primaries), "copies": len(copies), "nodes": len({shard["node"] for shard in copies})}


def make_cold_step(engine: ElasticsearchEngine, pairs: Sequence[DocumentPair]) -> Step:
    comparer = Comparer(engine)
    specs = [pair.build_spec(comparer, INDEX) for pair in pairs]
    return lambda case: compare_to_json(comparer, specs[case % len(specs)])


def measure_million(folder: Path, count: int) -> dict[str, Any]:
    """Measure building and comparing an embedded index of generated documents."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "documents.jsonl"
    corpus = BenchCorpus(path, INDEX, count)
    if not path.exists():
        generated = BenchCorpus.create(folder, (), count, language_size=LANGUAGE_SIZE)
        assert generated.document_count == count
    with open_engine(str(folder / "engine")) as engine:
        results: dict[str, Any] = {"documents": count, "bytes": path.stat().st_size}
        name = f"{INDEX}-{count}"
        if name not in engine.list_indexes():
            with sample_memory() as peak:
                began, used = time.perf_counter(), sum(os.times()[:4])
                report = build_index(corpus.read(), engine, name)
                results["build_seconds"] = time.perf_counter() - began
                results["build_processor_seconds"] = sum(os.times()[:4]) - used
            results |= {"report": report.to_dict(), "build_peak_bytes": max(peak)}
            print(results, file=sys.stderr, flush=True)
        index = folder / "engine" / name
        results["index_bytes"] = sum(path.stat().st_size for path in index.rglob("*") if path.is_file())
        environment = BenchEnvironment(corpus, {EMBEDDED: engine}, CASE_COUNT, 60.0)
        results["growth"] = asdict(measure_compare.measure_growth(environment, EMBEDDED))
        results["set_comparison"] = asdict(measure_compare.measure_set_comparison(environment, EMBEDDED))
        results["throughput"], results["memory"] = map(
            asdict, measure_worker.measure_comparison_throughput(environment, EMBEDDED)
        )
    return results


@contextmanager
def sample_memory() -> Iterator[list[int]]:
    """Measure the memory of this process and its children twice a second."""
    samples, stopped = [measure_memory()], threading.Event()

    def sample() -> None:
        while not stopped.wait(0.5):
            samples.append(measure_memory())

    thread = threading.Thread(target=sample, daemon=True)
    thread.start()
    try:
        yield samples
    finally:
        stopped.set()
        thread.join()


def measure_memory() -> int:
    """Return the bytes of anonymous memory of this process and its descendants; shared pages count once."""
    total, pending = 0, ["self"]
    while pending:
        process = Path("/proc", pending.pop())
        try:
            lines = (process / "smaps_rollup").read_text().splitlines()
            pending += [
                child for task in (process / "task").iterdir() for child in (task / "children").read_text().split()
            ]
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has just ended
        total += sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss_Anon:"))
    return total


def main(command: str, folder: str, *arguments: str) -> None:
    if command == "million":
        results = measure_million(Path(folder), int(arguments[0]) if arguments else 1_000_000)
    else:
        results = measure_layouts(Path(folder), arguments)
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
