"""Making an index: against a plain bulk load, and mining by itself."""

from __future__ import annotations

import statistics
import time
import uuid
from collections.abc import Iterator
from typing import Any

from indexer.engines.elasticsearch.connection import LONG
from indexer.engines.elasticsearch.engine import ElasticsearchEngine
from indexer.indexing.build import build_index
from worker.benchmark import probe
from worker.benchmark.environment import Setting, Unmeasured
from worker.benchmark.memory import MB
from worker.benchmark.rows import Figures

MOST = 20_000
"""Documents indexed to be timed."""
REPETITIONS = 3
"""Builds and loads, in turns."""
MINED = 60_000
"""Documents mined to be timed."""


def whole_pipeline(setting: Setting, kind: str) -> Figures:
    """Tokens, phrases, salience and writing against ``parallel_bulk`` of the raw text into the same server.

    Both write to an index of the same shards and replicas that is not refreshed before the end; ours is also merged
    into one segment. They take turns, and the middle of each counts.
    """
    engine = setting.engines[kind]
    if not isinstance(engine, ElasticsearchEngine):
        raise Unmeasured("only Elasticsearch has a bulk load to measure against")
    count = min(MOST, setting.corpus.documents)
    ours: list[float] = []
    against: list[float] = []
    turns = [(ours, _build_seconds), (against, _bulk_seconds)]
    for _ in range(REPETITIONS):
        turns.reverse()
        for seconds, run in turns:
            seconds.append(run(engine, setting, count))
    note = f"{count:,} documents; 95th percentile: the slowest"
    return Figures(statistics.median(ours), statistics.median(against), max(ours), max(against), REPETITIONS, note)


def _build_seconds(engine: ElasticsearchEngine, setting: Setting, count: int) -> float:
    name = f"bench-build-{uuid.uuid4().hex[:8]}"
    began = time.perf_counter()
    build_index(setting.corpus.read(count), engine, name)
    seconds = time.perf_counter() - began
    engine.drop(name)
    return seconds


def _bulk_seconds(engine: ElasticsearchEngine, setting: Setting, count: int) -> float:
    from elasticsearch.helpers import parallel_bulk

    name = f"{engine.prefix}bench-raw-{uuid.uuid4().hex[:8]}"
    client = engine.connection.client.options(request_timeout=LONG)

    def actions() -> Iterator[dict[str, Any]]:
        for document in setting.corpus.read(count):
            source = {"title": document.title, "text": document.text, "date": document.date}
            yield {"_index": name, "_id": document.id, "_source": source}

    text = {"type": "text"}
    client.indices.create(
        index=name,
        settings={"number_of_shards": engine.shards, "number_of_replicas": engine.replicas, "refresh_interval": -1},
        mappings={"properties": {"title": text, "text": text, "date": {"type": "date"}}},
    )
    try:
        began = time.perf_counter()
        for _ in parallel_bulk(client, actions()):
            pass
        client.indices.refresh(index=name)
        return time.perf_counter() - began
    finally:
        client.indices.delete(index=name)


def mining(setting: Setting, kind: str | None) -> list[Figures]:
    """Tokens a second of counting patterns and of all of mining, and its memory; a process and a core of its own."""
    count = min(MINED, setting.corpus.documents)
    found = probe.result(probe.start("mining", {"path": str(setting.corpus.path), "count": count}))
    tokens, seconds = found["tokens"], found["seconds"]
    coded = tokens / (seconds["whole"] - seconds["coding"])
    size = f"{count:,} documents, {tokens:,} tokens"
    return [
        Figures(tokens / seconds["patterns"], note=size),
        Figures(tokens / seconds["whole"], note=f"{size}; {coded:,.0f} from coded tokens on"),
        Figures(found["memory"] / MB, found["text_bytes"] / MB, note=size),
    ]
