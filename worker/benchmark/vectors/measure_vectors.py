"""Measurements of what vectors cost: size and time of an index, a page of reasons, and a model of a million phrases."""

from __future__ import annotations

import json
import statistics
import time
import uuid
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from indexer.documents import Document
from indexer.engines.base import Engine
from indexer.indexing.build import build_index
from worker.benchmark import probe
from worker.benchmark.environment import BenchEnvironment, Unmeasured, build_ms_figures
from worker.benchmark.measure_http import run_service
from worker.benchmark.measure_search import SearchClient
from worker.benchmark.rows import MB, MeasuredFigures
from worker.benchmark.timing import Timings, time_interleaved
from worker.benchmark.vectors.word_projection import DIMENSIONS, WordProjection
from worker.benchmark.workload import PAGE_HITS

MAX_INDEXED = 20_000
"""Documents that builds are timed on."""
REPETITIONS = 3
"""Number of builds with and without vectors."""
PHRASES = 1_000_000
"""Phrases of the large model."""


def measure_index_growth(environment: BenchEnvironment, engine_kind: str) -> list[MeasuredFigures]:
    """Measure bytes of a document and seconds of a build with vectors against the same without; builds take turns."""
    engine = environment.engines[engine_kind]
    count = min(MAX_INDEXED, environment.corpus.document_count)
    plain = list(environment.corpus.read(count))
    turns: dict[str, list[Document]] = {"with": list(WordProjection().add_vectors(plain)), "without": plain}
    seconds: dict[str, list[float]] = {name: [] for name in turns}
    sizes: dict[str, int] = {}
    for _ in range(REPETITIONS):
        turns = dict(reversed(turns.items()))
        for name, documents in turns.items():
            taken, sizes[name] = _build_and_weigh(engine, documents)
            seconds[name].append(taken)
    note = f"{count:,} documents, {DIMENSIONS} dimensions"
    return [
        MeasuredFigures(sizes["with"] / count, sizes["without"] / count, note=note),
        MeasuredFigures(
            statistics.median(seconds["with"]), statistics.median(seconds["without"]),
            max(seconds["with"]), max(seconds["without"]), REPETITIONS, f"{note}; 95th percentile: the slowest",
        ),
    ]  # fmt: skip


def _build_and_weigh(engine: Engine, documents: Sequence[Document]) -> tuple[float, int]:
    """Return the seconds of a build and the bytes of the index in the engine's folder."""
    name = f"bench-build-{uuid.uuid4().hex[:8]}"
    start = time.perf_counter()
    build_index(documents, engine, name)
    seconds = time.perf_counter() - start
    size = sum(path.stat().st_size for path in (Path(engine.address) / name).rglob("*") if path.is_file())
    engine.delete_index(name)
    return seconds, size


def measure_vector_pages(environment: BenchEnvironment, engine_kind: str) -> list[MeasuredFigures]:
    """Measure ten hits with reasons by words and a vector against the same by words alone: new queries, then again.

    Only pages are counted that have ten hits, each with its reasons.
    """
    engine = environment.engines[engine_kind]
    warmup, *queries = environment.queries
    if not queries:
        raise Unmeasured("the corpus has only one query")
    index = environment.corpus.ensure_index(engine, environment.corpus.document_count, WordProjection().add_vectors)
    projection = WordProjection()
    vectors = {query: projection.project(query) for query in (warmup, *queries)}
    with run_service(engine.address) as port, closing(SearchClient(port, index)) as client:
        for why in (True, {"vector": vectors[warmup]}):
            client.search(warmup, why)
        pages = VectorPages(client, queries, vectors)
        cold = pages.time(len(queries), environment.budget_seconds)
        return [cold, pages.time(pages.asked, environment.budget_seconds)]


class VectorPages:
    """Searches for queries with and without their vector, in turns."""

    def __init__(self, client: SearchClient, queries: Sequence[str], vectors: dict[str, list[float]]) -> None:
        self._client, self._queries, self._vectors = client, queries, vectors
        self._is_complete: dict[int, bool] = {}

    @property
    def asked(self) -> int:
        """Queries that were asked so far."""
        return len(self._is_complete)

    def time(self, count: int, budget_seconds: float) -> MeasuredFigures:
        """Search for the first ``count`` queries; raise Unmeasured if no page counts."""
        responses: dict[int, bytes] = {}

        def search_with_vector(case: int) -> None:
            query = self._queries[case]
            responses[case] = self._client.search(query, {"vector": self._vectors[query]})

        steps = {"with": search_with_vector, "without": lambda case: self._client.search(self._queries[case], True)}
        # nothing is warmed up: the first request for reasons is the one that computes them
        times = time_interleaved(steps, count, budget_seconds, warmup_cases=0)
        self._is_complete = {case: _has_all_reasons(response) for case, response in responses.items()}
        counted = [case for case, is_complete in self._is_complete.items() if is_complete]
        if not counted:
            raise Unmeasured(f"none of {len(responses)} pages has {PAGE_HITS} hits with reasons")
        with_vector, without = (Timings([times[name].seconds[n] for n in counted]) for name in ("with", "without"))
        return build_ms_figures(with_vector, without, f"{len(counted)} of {len(responses)} pages count")


def _has_all_reasons(response: bytes) -> bool:
    hits = json.loads(response)["hits"]["hits"]
    return len(hits) == PAGE_HITS and all(hit["why"]["state"] == "done" for hit in hits)


def measure_large_model(environment: BenchEnvironment, engine_kind: str) -> list[MeasuredFigures]:
    """Measure memory and time of the vector space of a million phrases, in a process of its own."""
    result = probe.wait_for_result(probe.start_probe("vector-space", {"phrases": PHRASES}))
    note = f"{PHRASES:,} phrases x {result['dimensions']}, {result['documents']:,} random documents"
    return [
        MeasuredFigures(result["memory"] / MB, note=note),
        build_ms_figures(Timings(result["page"]), note=f"{note}; those are measured too"),
        build_ms_figures(Timings(result["random"]), note=note),
    ]
