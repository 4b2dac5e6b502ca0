"""What a comparison costs, counted and not timed: requests, documents, edges, steps and bytes."""

from __future__ import annotations

from typing import Any

import pytest
from elastic_transport import Urllib3HttpNode

from indexer.documents import PAIR_SEPARATOR
from indexer.engines.base import Engine
from tests.bench.conftest import INDEX
from worker.access import Caller
from worker.benchmark.environment import compare_to_json
from worker.benchmark.workload import DocumentPair, split_into_sets
from worker.comparer import Comparer
from worker.explain.neighbourhood import PRESELECTION_FACTOR
from worker.explain.side import Side
from worker.explain.spec import DEFAULT_NEIGHBOURS
from worker.explain.text.partial_match import SideText
from worker.jobs.config import WorkConfig
from worker.jobs.payloads import ComparisonRequest
from worker.service.container import ServiceContainer
from worker.service.gateway import JobGateway

ANYBODY = Caller("anybody")
BYTES_OF_A_DOCUMENT = 20_000
"""Both sides come whole: text, tokens, phrases and salient phrases."""
BYTES_OF_A_NEIGHBOUR = 1_200
"""Degree, title, and the weight of each phrase it holds."""
BYTES_OF_A_PHRASE = 300
"""One clause of the search."""


@pytest.fixture
def moved(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Bytes sent to and received from Elasticsearch."""
    bytes_moved = {"sent": 0, "received": 0}
    really = Urllib3HttpNode.perform_request

    def counted(node: Urllib3HttpNode, method: str, target: str, body: bytes | None = None, **more: Any) -> Any:
        answer = really(node, method, target, body, **more)
        bytes_moved["sent"] += len(body or b"")
        bytes_moved["received"] += len(answer[1])
        return answer

    monkeypatch.setattr(Urllib3HttpNode, "perform_request", counted)
    return bytes_moved


def test_a_cold_pair_costs_two_requests(library: Engine, pairs: list[DocumentPair]) -> None:
    comparer = Comparer(library)
    comparer.compare(pairs[0].build_spec(comparer, INDEX))
    for pair in pairs:
        before = library.request_count
        compare_to_json(comparer, pair.build_spec(comparer, INDEX))
        assert library.request_count - before == 2


def test_a_page_costs_two_requests_however_many_hits_it_has(library: Engine, pairs: list[DocumentPair]) -> None:
    comparer = Comparer(library)
    comparer.compare(pairs[0].build_spec(comparer, INDEX))
    before = library.request_count
    found = list(comparer.explain([pair.build_spec(comparer, INDEX) for pair in pairs]))
    assert len(found) == len(pairs)
    assert library.request_count - before == 2


def test_a_cached_answer_costs_no_request(library: Engine, pairs: list[DocumentPair]) -> None:
    desk = JobGateway(ServiceContainer(WorkConfig(engine=library.address, redis_url=""), engine=library))
    try:
        asked = ComparisonRequest(INDEX, Side.from_id(pairs[0].a), Side.from_id(pairs[0].b))
        first = desk.wait(desk.submit_comparison(asked, ANYBODY), ANYBODY, 30).answer
        before = library.request_count
        again = desk.submit_comparison(asked, ANYBODY)
        kept = desk.get(again.id, ANYBODY, just_submitted=True).answer
        assert first is not None and kept is not None
        assert kept.stored.body == first.stored.body
        assert library.request_count == before
    finally:
        desk.answers.forget(again.id)


@pytest.mark.parametrize(("preset", "steps"), [("default", 0), ("paper", 50)])
def test_what_is_solved_is_small_and_soon_solved(
    library: Engine, pairs: list[DocumentPair], preset: str, steps: int
) -> None:
    comparer = Comparer(library)
    for pair in pairs:
        question = comparer.make_spec(INDEX, Side.from_id(pair.a), Side.from_id(pair.b), preset=preset)
        stats = comparer.compare(question).stats
        assert 0 < stats.phrases <= 60
        assert stats.documents <= DEFAULT_NEIGHBOURS[preset] + 2
        assert stats.edges <= stats.phrases * stats.documents
        assert stats.iterations <= steps


def test_a_comparison_moves_as_many_bytes_as_its_neighbourhood_needs(
    remote: Engine, pairs: list[DocumentPair], moved: dict[str, int]
) -> None:
    comparer = Comparer(remote)
    comparer.compare(pairs[0].build_spec(comparer, INDEX))
    for pair in pairs:
        moved.update(sent=0, received=0)
        stats = comparer.compare(pair.build_spec(comparer, INDEX)).stats
        handed_over = min(PRESELECTION_FACTOR * DEFAULT_NEIGHBOURS["default"], stats.reached) + 2
        assert moved["sent"] <= 2_000 + BYTES_OF_A_PHRASE * stats.phrases
        assert moved["received"] <= 2 * BYTES_OF_A_DOCUMENT + BYTES_OF_A_NEIGHBOUR * handed_over


def test_what_is_reached_is_cut_before_it_is_handed_over(library: Engine, pairs: list[DocumentPair]) -> None:
    comparer = Comparer(library)
    for pair in pairs:
        question = comparer.make_spec(INDEX, Side.from_id(pair.a), Side.from_id(pair.b), options={"neighbours": 5})
        assert comparer.compare(question).stats.documents <= 7


def test_occurrences_are_counted_only_of_what_is_shown(embedded: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: set[str] = set()
    really = SideText._count_occurrences

    def noted(wording: SideText, phrase: str) -> int:
        counted.add(phrase)
        return really(wording, phrase)

    monkeypatch.setattr(SideText, "_count_occurrences", noted)
    comparer = Comparer(embedded)
    ids = [document.document.id for document in embedded.open_reader(INDEX).scan()]
    found = comparer.compare(comparer.make_spec(INDEX, *split_into_sets(ids, 100)))
    shown = {entry.phrase for entry in (*found.common, *found.distinct_a, *found.distinct_b)}
    assert {phrase for phrase in counted if PAIR_SEPARATOR not in phrase} <= shown
    assert 0 < len(shown) < found.stats.phrases
