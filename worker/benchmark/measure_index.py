"""Measurements of indexing against a plain bulk load, and of mining by itself."""

from __future__ import annotations

import statistics
import time
import uuid
from collections.abc import Iterator
from typing import Any

from indexer.engines.elasticsearch.connection import LONG_TIMEOUT
from indexer.engines.elasticsearch.engine import ElasticsearchEngine
from indexer.indexing.build import build_index
from worker.benchmark import probe
from worker.benchmark.environment import BenchEnvironment, Unmeasured
from worker.benchmark.rows import MB, MeasuredFigures

MAX_INDEXED = 20_000
"""Documents that indexing is timed on."""
REPETITIONS = 3
"""Number of builds and of bulk loads."""
MAX_MINED = 60_000
"""Documents that mining is timed on."""


def measure_indexing(environment: BenchEnvironment, engine_kind: str) -> MeasuredFigures:
    """Measure the whole pipeline against ``parallel_bulk`` of the raw text into the same server.

    Both write to an index of the same shards and replicas that is not refreshed before the end; ours is also merged
    into one segment. They take turns; the median of each is reported.
    """
    engine = environment.engines[engine_kind]
    if not isinstance(engine, ElasticsearchEngine):
        raise Unmeasured("only Elasticsearch has a bulk load to measure against")
    count = min(MAX_INDEXED, environment.corpus.document_count)
    ours: list[float] = []
    against: list[float] = []
    turns = [(ours, _time_build), (against, _time_bulk_load)]
    for _ in range(REPETITIONS):
        turns.reverse()
        for seconds, run in turns:
            seconds.append(run(engine, environment, count))
    note = f"{count:,} documents; 95th percentile: the slowest"
    return MeasuredFigures(
        statistics.median(ours), statistics.median(against), max(ours), max(against), REPETITIONS, note
    )


def _time_build(engine: ElasticsearchEngine, environment: BenchEnvironment, count: int) -> float:
    """Return the seconds of building our index of the first ``count`` documents."""
    name = f"bench-build-{uuid.uuid4().hex[:8]}"
    start = time.perf_counter()
    build_index(environment.corpus.read(count), engine, name)
    seconds = time.perf_counter() - start
    engine.delete_index(name)
    return seconds


def _time_bulk_load(engine: ElasticsearchEngine, environment: BenchEnvironment, count: int) -> float:
    """Return the seconds of loading the raw text of the first ``count`` documents."""
    from elasticsearch.helpers import parallel_bulk

    name = f"{engine.prefix}bench-raw-{uuid.uuid4().hex[:8]}"
    client = engine.connection.client.options(request_timeout=LONG_TIMEOUT)

    def build_actions() -> Iterator[dict[str, Any]]:
        for document in environment.corpus.read(count):
            source = {"title": document.title, "text": document.text, "date": document.date}
            yield {"_index": name, "_id": document.id, "_source": source}

    text = {"type": "text"}
    client.indices.create(
        index=name,
        settings={"number_of_shards": engine.shards, "number_of_replicas": engine.replicas, "refresh_interval": -1},
        mappings={"properties": {"title": text, "text": text, "date": {"type": "date"}}},
    )
    try:
        start = time.perf_counter()
        for _ in parallel_bulk(client, build_actions()):
            pass
        client.indices.refresh(index=name)
        return time.perf_counter() - start
    finally:
        client.indices.delete(index=name)


def measure_mining(environment: BenchEnvironment, engine_kind: str | None) -> list[MeasuredFigures]:
    """Measure tokens a second of counting patterns and of all of mining, and its memory, in a process on one core."""
    count = min(MAX_MINED, environment.corpus.document_count)
    result = probe.wait_for_result(probe.start_probe("mining", {"path": str(environment.corpus.path), "count": count}))
    tokens, seconds = result["tokens"], result["seconds"]
    encoded_rate = tokens / (seconds["whole"] - seconds["coding"])
    size = f"{count:,} documents, {tokens:,} tokens"
    return [
        MeasuredFigures(tokens / seconds["patterns"], note=size),
        MeasuredFigures(tokens / seconds["whole"], note=f"{size}; {encoded_rate:,.0f} from coded tokens on"),
        MeasuredFigures(result["memory"] / MB, result["text_bytes"] / MB, note=size),
    ]
