"""Costs of a comparison that can be counted: requests, documents, edges, iterations and bytes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from elastic_transport import Urllib3HttpNode

from indexer.documents import PAIR_SEPARATOR
from indexer.engines.base import Engine, Reader
from indexer.engines.search_types import Selection
from indexer.model.phrase_directions import PhraseDirections
from indexer.model.topic_space import TopicSpace
from tests.support.corpora.bench_corpus import INDEX
from webapi.app import create_app
from worker.access import Caller
from worker.benchmark.environment import compare_to_json
from worker.benchmark.workload import DocumentPair, make_two_sets
from worker.comparer import Comparer
from worker.explain.neighbourhood import PRESELECTION_FACTOR
from worker.explain.side import Side
from worker.explain.spec import DEFAULT_NEIGHBOURS, ComparisonSpec
from worker.explain.text import spans
from worker.explain.text.partial_match import SideText
from worker.jobs.config import WorkConfig
from worker.jobs.payloads import ComparisonRequest
from worker.methods.phrase_ranking import ReaderOdds
from worker.service.container import ServiceContainer
from worker.service.gateway import JobGateway

ANYBODY = Caller("anybody")
DOCUMENT_BYTES = 20_000
"""Of a side: its text, tokens, phrases and salient phrases."""
NEIGHBOUR_BYTES = 1_200
"""Its degree, its title, and the weights of its phrases."""
PHRASE_BYTES = 300
"""A clause of the search."""


@pytest.fixture
def transferred(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Bytes sent to and received from Elasticsearch."""
    byte_counts = {"sent": 0, "received": 0}
    original = Urllib3HttpNode.perform_request

    def perform_and_count(
        node: Urllib3HttpNode, method: str, target: str, body: bytes | None = None, **more: Any
    ) -> Any:
        answer = original(node, method, target, body, **more)
        byte_counts["sent"] += len(body or b"")
        byte_counts["received"] += len(answer[1])
        return answer

    monkeypatch.setattr(Urllib3HttpNode, "perform_request", perform_and_count)
    return byte_counts


def test_a_cold_pair_costs_two_requests(generated_engine: Engine, pairs: list[DocumentPair]) -> None:
    comparer = Comparer(generated_engine)
    comparer.compare(pairs[0].build_spec(comparer, INDEX))
    for pair in pairs:
        before = generated_engine.request_count
        compare_to_json(comparer, pair.build_spec(comparer, INDEX))
        assert generated_engine.request_count - before == 2


def test_a_page_costs_two_requests_however_many_hits_it_has(
    generated_engine: Engine, pairs: list[DocumentPair]
) -> None:
    comparer = Comparer(generated_engine)
    comparer.compare(pairs[0].build_spec(comparer, INDEX))
    before = generated_engine.request_count
    answers = list(comparer.explain([pair.build_spec(comparer, INDEX) for pair in pairs]))
    assert len(answers) == len(pairs)
    assert generated_engine.request_count - before == 2


def make_page_specs(comparer: Comparer, query: str) -> list[ComparisonSpec]:
    """Return the specs of ten hits of a query."""
    reader = comparer.engine.open_reader(INDEX)
    hits = reader.search(Selection(words=tuple(query.split())), size=10).hits
    assert len(hits) == 10
    return [comparer.make_spec(INDEX, Side.from_id(hit.id), Side.from_text(f"query:{query}")) for hit in hits]


def test_a_page_of_a_query_costs_one_request_and_measures_all_its_hits_at_once(
    generated_engine: Engine, page_query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparer = Comparer(generated_engine)
    specs = make_page_specs(comparer, page_query)
    comparer.explain_query_page(specs)  # opens the index
    calls: Counter[str] = Counter()

    def count_calls(owner: Any, name: str) -> None:
        original = getattr(owner, name)

        def call(*positional: Any, **named: Any) -> Any:
            calls[name] += 1
            return original(*positional, **named)

        monkeypatch.setattr(owner, name, call)

    count_calls(PhraseDirections, "look_up_phrases")
    count_calls(PhraseDirections, "measure_reservoir")
    count_calls(TopicSpace, "weigh_texts")
    count_calls(ReaderOdds, "compute_distinct_odds_a")
    count_calls(spans, "find_piece_ends")
    before = generated_engine.request_count
    page = comparer.explain_query_page(specs)
    assert generated_engine.request_count - before == 1
    assert len(page.reasons) == len(specs)
    assert 0 < calls.pop("find_piece_ends") <= 2 * (len(specs) + 1)  # the title and the text of a hit at most once
    assert calls.pop("compute_distinct_odds_a") == 2  # of all mined phrases, and of all that only the texts show
    # texts have vectors in two spaces, but the query's invented words are known only to the topics of the corpus
    assert calls == {"weigh_texts": 2, "look_up_phrases": 1, "measure_reservoir": 1}


def test_reasons_cost_a_search_one_fetch_and_a_repeated_search_nothing(
    generated_engine: Engine, page_query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    open_reader = type(generated_engine).open_reader

    def open_and_record(engine: Engine, index: str) -> Reader:
        opened.append(index)
        return open_reader(engine, index)

    monkeypatch.setattr(type(generated_engine), "open_reader", open_and_record)
    config = WorkConfig(engine=generated_engine.address, redis_url="")
    client = create_app(inline=True, service=ServiceContainer(config, engine=generated_engine)).test_client()

    def search_and_count(size: int, *, why: bool) -> tuple[int, int]:
        """Return the requests to the engine and how often the index was opened, which Elasticsearch is asked for."""
        requests_before, opened_before = generated_engine.request_count, len(opened)
        body = {"query": {"match": {"text": page_query}}, "size": size, "why": why}
        response = client.post(f"/v1/{INDEX}/_search", json=body, headers={"Prefer": "wait=30"})
        assert all(hit["why"]["state"] == "done" for hit in response.json["hits"]["hits"] if why)
        return generated_engine.request_count - requests_before, len(opened) - opened_before

    search_and_count(1, why=True)  # reads the epoch and opens the comparer's index
    requests, opens = search_and_count(10, why=False)
    assert search_and_count(10, why=True) == (requests + 1, opens)
    assert search_and_count(10, why=True) == (requests, opens)


def test_a_cached_answer_costs_no_request(generated_engine: Engine, pairs: list[DocumentPair]) -> None:
    gateway = JobGateway(
        ServiceContainer(WorkConfig(engine=generated_engine.address, redis_url=""), engine=generated_engine)
    )
    try:
        request = ComparisonRequest(INDEX, Side.from_id(pairs[0].a), Side.from_id(pairs[0].b))
        first = gateway.wait(gateway.submit_comparison(request, ANYBODY), ANYBODY, 30).answer
        before = generated_engine.request_count
        again = gateway.submit_comparison(request, ANYBODY)
        cached = gateway.get(again.id, ANYBODY, just_submitted=True).answer
        assert first is not None and cached is not None
        assert cached.stored.body == first.stored.body
        assert generated_engine.request_count == before
    finally:
        gateway.answers.forget(again.id)


@pytest.mark.parametrize(("preset", "steps"), [("default", 0), ("paper", 50)])
def test_the_solved_graph_is_small_and_takes_few_iterations(
    generated_engine: Engine, pairs: list[DocumentPair], preset: str, steps: int
) -> None:
    comparer = Comparer(generated_engine)
    for pair in pairs:
        spec = comparer.make_spec(INDEX, Side.from_id(pair.a), Side.from_id(pair.b), preset=preset)
        stats = comparer.compare(spec).stats
        assert 0 < stats.phrases <= 60
        assert stats.documents <= DEFAULT_NEIGHBOURS[preset] + 2
        assert stats.edges <= stats.phrases * stats.documents
        assert stats.iterations <= steps


def test_a_comparison_transfers_no_more_bytes_than_its_neighbourhood_needs(
    generated_elasticsearch_engine: Engine, pairs: list[DocumentPair], transferred: dict[str, int]
) -> None:
    comparer = Comparer(generated_elasticsearch_engine)
    comparer.compare(pairs[0].build_spec(comparer, INDEX))
    for pair in pairs:
        transferred.update(sent=0, received=0)
        stats = comparer.compare(pair.build_spec(comparer, INDEX)).stats
        returned = min(PRESELECTION_FACTOR * DEFAULT_NEIGHBOURS["default"], stats.reached) + 2
        assert transferred["sent"] <= 2_000 + PHRASE_BYTES * stats.phrases
        assert transferred["received"] <= 2 * DOCUMENT_BYTES + NEIGHBOUR_BYTES * returned


def test_the_neighbourhood_is_cut_to_the_option_neighbours(generated_engine: Engine, pairs: list[DocumentPair]) -> None:
    comparer = Comparer(generated_engine)
    for pair in pairs:
        spec = comparer.make_spec(INDEX, Side.from_id(pair.a), Side.from_id(pair.b), options={"neighbours": 5})
        assert comparer.compare(spec).stats.documents <= 7


def test_occurrences_are_counted_only_of_listed_phrases(
    generated_embedded_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    perform_and_count: set[str] = set()
    original = SideText._count_occurrences

    def count_and_record(side_text: SideText, phrase: str) -> int:
        perform_and_count.add(phrase)
        return original(side_text, phrase)

    monkeypatch.setattr(SideText, "_count_occurrences", count_and_record)
    comparer = Comparer(generated_embedded_engine)
    ids = [document.document.id for document in generated_embedded_engine.open_reader(INDEX).scan()]
    answer = comparer.compare(comparer.make_spec(INDEX, *make_two_sets(ids, 100)))
    listed = {entry.phrase for entry in (*answer.common, *answer.distinct_a, *answer.distinct_b)}
    assert {phrase for phrase in perform_and_count if PAIR_SEPARATOR not in phrase} <= listed
    assert 0 < len(listed) < answer.stats.phrases
