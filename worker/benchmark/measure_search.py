"""Measurements of a results page over HTTP: a search with the reasons of its hits against the same search without."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

from worker.benchmark.environment import BenchEnvironment, Unmeasured, build_ms_figures
from worker.benchmark.measure_http import run_service
from worker.benchmark.rows import MeasuredFigures
from worker.benchmark.timing import Timings, time_interleaved
from worker.benchmark.workload import PAGE_HITS

_HEADERS = {"Content-Type": "application/json", "Prefer": "wait=10"}
_MAX_PHRASES = 3
"""Phrases of each list that a search shows."""


class SearchClient:
    """One connection to a service, for searches of one index."""

    def __init__(self, port: int, index: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port)
        self._index = index

    def close(self) -> None:
        self._connection.close()

    def search(self, query: str, why: object) -> bytes:
        """Return the response to a search for ten hits; ``why``: whether, or by what, they are explained."""
        body = {"query": {"match": {"text": query}}, "size": PAGE_HITS, "why": why}
        return self._post(f"/v1/{self._index}/_search", body)

    def explain(self, query: str, hits: Sequence[str]) -> list[dict[str, Any]]:
        """Return what ``/v1/explanations`` says about each hit of a query."""
        body = {"index": self._index, "query": query, "hits": list(hits)}
        explanations: list[dict[str, Any]] = json.loads(self._post("/v1/explanations", body))["explanations"]
        return explanations

    def _post(self, path: str, body: Mapping[str, object]) -> bytes:
        self._connection.request("POST", path, json.dumps(body), _HEADERS)
        with self._connection.getresponse() as response:
            content = response.read()
        if response.status != 200:
            raise Unmeasured(f"{path} was answered with status {response.status}")
        return content


def measure_search_pages(environment: BenchEnvironment, engine_kind: str) -> list[MeasuredFigures]:
    """Measure ten hits with reasons against the same hits without: queries asked for the first time, then again.

    Only pages are counted whose reasons are complete and the same as those of ``/v1/explanations``.
    """
    index = environment.ensure_index(engine_kind)
    warmup, *queries = environment.queries
    if not queries:
        raise Unmeasured("the corpus has only one query")
    with (
        run_service(environment.engines[engine_kind].address) as port,
        closing(SearchClient(port, index)) as client,
    ):
        for with_why in (False, True):
            client.search(warmup, with_why)
        cold = time_pages(client, queries, environment.budget_seconds)
        asked = queries[: len(cold.with_why)]
        cached = time_pages(client, asked, environment.budget_seconds)
        return [pages.build_figures(client, asked) for pages in (cold, cached)]


class TimedPages:
    """Seconds of the searches for some queries, with and without reasons, and the responses with reasons."""

    def __init__(self, with_why: Timings, without_why: Timings, responses: Mapping[int, bytes]) -> None:
        self.with_why, self.without_why = with_why, without_why
        self._responses = responses

    def build_figures(self, client: SearchClient, queries: Sequence[str]) -> MeasuredFigures:
        """Return the figures of the pages that count; raise Unmeasured if there are none."""
        timed = range(len(self.with_why))
        counted = [n for n in timed if is_fully_explained(client, queries[n], self._responses[n])]
        if not counted:
            raise Unmeasured(f"none of {len(timed)} pages has {PAGE_HITS} hits with complete reasons")
        with_why, without_why = (
            Timings([timings.seconds[n] for n in counted]) for timings in (self.with_why, self.without_why)
        )
        return build_ms_figures(with_why, without_why, f"{len(counted)} of {len(timed)} pages count")


def time_pages(client: SearchClient, queries: Sequence[str], budget_seconds: float) -> TimedPages:
    """Search for each query once with reasons and once without, in turns."""
    responses: dict[int, bytes] = {}

    def search_with_why(case: int) -> None:
        responses[case] = client.search(queries[case], True)

    steps = {"with": search_with_why, "without": lambda case: client.search(queries[case], False)}
    # nothing is warmed up: the first request for reasons is the one that computes them
    times = time_interleaved(steps, len(queries), budget_seconds, warmup_cases=0)
    return TimedPages(times["with"], times["without"], responses)


def is_fully_explained(client: SearchClient, query: str, response: bytes) -> bool:
    """Return whether a page has ten hits, each with the beginnings of the lists of ``/v1/explanations``."""
    hits = json.loads(response)["hits"]["hits"]
    if len(hits) < PAGE_HITS or any(hit["why"]["state"] != "done" for hit in hits):
        return False
    explanations = client.explain(query, [hit["_id"] for hit in hits])
    return [_shorten_lists(hit["why"]) for hit in hits] == [_shorten_lists(one) for one in explanations]


def _shorten_lists(reasons: Mapping[str, Any]) -> dict[str, Any]:
    """Return the lists of a hit as a search shows them; a list that is missing is None."""
    lists = {name: reasons.get(name) for name in ("matched", "lacks")}
    return lists | {name: (reasons.get(name) or ())[:_MAX_PHRASES] for name in ("common", "distinct")}
