"""Measure what deploy/SCALING.md tells of shards, of a cluster and of a million documents; prints JSON.

    python -m tests.bench.scale layouts FOLDER FILE...  one index in shards on one Elasticsearch node and on three
    python -m tests.bench.scale million FOLDER [COUNT]  generated documents in the embedded engine

Comparisons are made in turns, so that what else the machine does disturbs all alike; FOLDER keeps the indexes.
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
from indexer.readers import Rejects, read_documents
from tests.support.faults.cluster import Cluster
from worker.benchmark import measure_compare, measure_worker
from worker.benchmark.corpus import BenchCorpus
from worker.benchmark.environment import EMBEDDED, BenchEnvironment, compare_to_json
from worker.benchmark.timing import Step, time_interleaved
from worker.benchmark.workload import DocumentPair, draw_workload
from worker.comparer import Comparer

DOCUMENTS = 40_000
CASES = 200
DRAWN_FROM = 4000
BUDGET = 240.0
MINED, INDEX = "mined", "scale"
LANGUAGE = 10
"""The language of a million documents has ten times the words and topics of that of the benchmark."""


@dataclass(frozen=True)
class Layout:
    """Where an index lies."""

    url: str
    shards: int
    replicas: int = 0

    def engine(self) -> ElasticsearchEngine:
        prefix = f"scale-{self.shards}-{self.replicas}-"
        engine = open_engine(self.url, shards=self.shards, replicas=self.replicas, prefix=prefix)
        assert isinstance(engine, ElasticsearchEngine)
        return engine


def layouts(folder: Path, files: Sequence[str]) -> dict[str, Any]:
    """The same analysed documents in every layout: written one after the other, compared in turns."""
    found: dict[str, Any] = {}
    steps: dict[str, Step] = {}
    pairs: list[DocumentPair] = []
    with ExitStack() as opened:
        node = opened.enter_context(Node(heap="512m", work=folder / "node"))
        three = opened.enter_context(Cluster(folder / "cluster"))
        source = opened.enter_context(Layout(node.url, 1).engine())
        analysed = mined(source, files)
        for name, layout in wanted(node.url, three.url).items():
            engine = opened.enter_context(layout.engine())
            found[name] = {"write_seconds": written(analysed, engine), **laid_out(engine)}
            print(name, found[name], file=sys.stderr, flush=True)
            ids = analysed.readable_ids(None, DRAWN_FROM)
            pairs = pairs or draw_workload(engine.open_reader(INDEX), ids, CASES)[0]
            steps[name] = cold(engine, pairs)
        times = time_interleaved(steps, CASES, BUDGET, warmup=20)
    for name, one in times.items():
        found[name] |= {"median_ms": 1000 * one.median, "p95_ms": 1000 * one.p95, "cases": len(one)}
    return found


def wanted(one: str, three: str) -> dict[str, Layout]:
    """Layouts on a node and on a cluster, by what they are called."""
    alone = {f"one node, shards: {n}": Layout(one, n) for n in (1, 2, 4, 8)}
    return alone | {f"three nodes, shards: {n}, each with a replica": Layout(three, n, 1) for n in (1, 3)}


def mined(engine: ElasticsearchEngine, files: Sequence[str]) -> Reader:
    """The documents, analysed; those of the last run if they are there."""
    if MINED not in engine.list_indexes():
        build_index(islice(read_documents(files, Rejects()), DOCUMENTS), engine, MINED)
    return engine.open_reader(MINED)


def written(analysed: Reader, engine: ElasticsearchEngine) -> float:
    """Seconds that writing all documents takes."""
    documents = list(analysed.scan())
    began = time.perf_counter()
    with engine.start_build(INDEX) as build:
        build.write(documents)
        build.commit(analysed.model, replace(analysed.info, name=INDEX))
    return time.perf_counter() - began


def laid_out(engine: ElasticsearchEngine) -> dict[str, int]:
    """As Elasticsearch itself tells it."""
    client, alias = engine.connection.client, engine.documents_alias(INDEX)
    client.cluster.health(index=alias, wait_for_status="green", timeout="120s")
    listed: Any = client.cat.shards(index=alias, format="json").body
    copies = [one for one in listed if one["state"] == "STARTED"]
    primaries = [one for one in copies if one["prirep"] == "p"]
    assert len(primaries) == engine.shards and len(copies) == engine.shards * (1 + engine.replicas), copies
    return {"shards": len(primaries), "copies": len(copies), "nodes": len({one["node"] for one in copies})}


def cold(engine: ElasticsearchEngine, pairs: Sequence[DocumentPair]) -> Step:
    comparer = Comparer(engine)
    questions = [pair.build_spec(comparer, INDEX) for pair in pairs]
    return lambda case: compare_to_json(comparer, questions[case % len(questions)])


def million(folder: Path, count: int) -> dict[str, Any]:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "documents.jsonl"
    corpus = BenchCorpus(path, INDEX, count)
    if not path.exists():
        made = BenchCorpus.create(folder, (), count, language_size=LANGUAGE)
        assert made.document_count == count
    with open_engine(str(folder / "engine")) as engine:
        found: dict[str, Any] = {"documents": count, "bytes": path.stat().st_size}
        name = f"{INDEX}-{count}"
        if name not in engine.list_indexes():
            with watched() as peak:
                began, used = time.perf_counter(), sum(os.times()[:4])
                report = build_index(corpus.read(), engine, name)
                found["build_seconds"] = time.perf_counter() - began
                found["build_processor_seconds"] = sum(os.times()[:4]) - used
            found |= {"report": report.to_dict(), "build_peak_bytes": max(peak)}
            print(found, file=sys.stderr, flush=True)
        index = folder / "engine" / name
        found["index_bytes"] = sum(one.stat().st_size for one in index.rglob("*") if one.is_file())
        setting = BenchEnvironment(corpus, {EMBEDDED: engine}, CASES, 60.0)
        found["growth"] = asdict(measure_compare.measure_growth(setting, EMBEDDED))
        found["set_comparison"] = asdict(measure_compare.measure_sets(setting, EMBEDDED))
        found["throughput"], found["memory"] = map(asdict, measure_worker.measure_throughput(setting, EMBEDDED))
    return found


@contextmanager
def watched() -> Iterator[list[int]]:
    """Bytes of its own that this process has together with its children, twice a second."""
    seen, over = [own_bytes()], threading.Event()

    def watch() -> None:
        while not over.wait(0.5):
            seen.append(own_bytes())

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()


def own_bytes() -> int:
    """Anonymous memory of this process and those below it; what they share is counted once."""
    ours, waiting = 0, ["self"]
    while waiting:
        process = Path("/proc", waiting.pop())
        try:
            lines = (process / "smaps_rollup").read_text().splitlines()
            waiting += [
                child for task in (process / "task").iterdir() for child in (task / "children").read_text().split()
            ]
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has just ended
        ours += sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss_Anon:"))
    return ours


def main(what: str, folder: str, *given: str) -> None:
    if what == "million":
        found = million(Path(folder), int(given[0]) if given else 1_000_000)
    else:
        found = layouts(Path(folder), given)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
