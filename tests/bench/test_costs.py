"""What a comparison costs, counted and not timed: requests, documents, edges, steps and bytes."""

from __future__ import annotations

from typing import Any

import pytest
from elastic_transport import Urllib3HttpNode

from indexer.documents import PAIR
from indexer.engines.base import Engine
from tests.bench.conftest import INDEX
from worker.access import Caller
from worker.benchmark.environment import answer
from worker.benchmark.workload import Pair, sets
from worker.comparer import Comparer
from worker.explain.neighbourhood import PRESELECT
from worker.explain.side import Side
from worker.explain.spec import NEIGHBOURS
from worker.explain.text.partial_match import Wording
from worker.jobs.config import WorkConfig
from worker.jobs.payloads import Asked
from worker.service.container import Service
from worker.service.gateway import Desk

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


def test_a_cold_pair_costs_two_requests(library: Engine, pairs: list[Pair]) -> None:
    comparer = Comparer(library)
    comparer.compare(pairs[0].question(comparer, INDEX))
    for pair in pairs:
        before = library.requests
        answer(comparer, pair.question(comparer, INDEX))
        assert library.requests - before == 2


def test_a_page_costs_two_requests_however_many_hits_it_has(library: Engine, pairs: list[Pair]) -> None:
    comparer = Comparer(library)
    comparer.compare(pairs[0].question(comparer, INDEX))
    before = library.requests
    found = list(comparer.explain([pair.question(comparer, INDEX) for pair in pairs]))
    assert len(found) == len(pairs)
    assert library.requests - before == 2


def test_a_cached_answer_costs_no_request(library: Engine, pairs: list[Pair]) -> None:
    desk = Desk(Service(WorkConfig(engine=library.address, redis_url=""), engine=library))
    try:
        asked = Asked(INDEX, Side.document(pairs[0].a), Side.document(pairs[0].b))
        first = desk.wait(desk.ask(asked, ANYBODY), ANYBODY, 30).kept
        before = library.requests
        again = desk.ask(asked, ANYBODY)
        kept = desk.look(again.id, ANYBODY, asked_now=True).kept
        assert first is not None and kept is not None
        assert kept.answer.body == first.answer.body
        assert library.requests == before
    finally:
        desk.local.forget(again.id)


@pytest.mark.parametrize(("preset", "steps"), [("default", 0), ("paper", 50)])
def test_what_is_solved_is_small_and_soon_solved(library: Engine, pairs: list[Pair], preset: str, steps: int) -> None:
    comparer = Comparer(library)
    for pair in pairs:
        question = comparer.question(INDEX, Side.document(pair.a), Side.document(pair.b), preset=preset)
        stats = comparer.compare(question).stats
        assert 0 < stats.phrases <= 60
        assert stats.documents <= NEIGHBOURS[preset] + 2
        assert stats.edges <= stats.phrases * stats.documents
        assert stats.iterations <= steps


def test_a_comparison_moves_as_many_bytes_as_its_neighbourhood_needs(
    remote: Engine, pairs: list[Pair], moved: dict[str, int]
) -> None:
    comparer = Comparer(remote)
    comparer.compare(pairs[0].question(comparer, INDEX))
    for pair in pairs:
        moved.update(sent=0, received=0)
        stats = comparer.compare(pair.question(comparer, INDEX)).stats
        handed_over = min(PRESELECT * NEIGHBOURS["default"], stats.reached) + 2
        assert moved["sent"] <= 2_000 + BYTES_OF_A_PHRASE * stats.phrases
        assert moved["received"] <= 2 * BYTES_OF_A_DOCUMENT + BYTES_OF_A_NEIGHBOUR * handed_over


def test_what_is_reached_is_cut_before_it_is_handed_over(library: Engine, pairs: list[Pair]) -> None:
    comparer = Comparer(library)
    for pair in pairs:
        question = comparer.question(INDEX, Side.document(pair.a), Side.document(pair.b), options={"neighbours": 5})
        assert comparer.compare(question).stats.documents <= 7


def test_occurrences_are_counted_only_of_what_is_shown(embedded: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: set[str] = set()
    really = Wording._count

    def noted(wording: Wording, phrase: str) -> int:
        counted.add(phrase)
        return really(wording, phrase)

    monkeypatch.setattr(Wording, "_count", noted)
    comparer = Comparer(embedded)
    ids = [document.document.id for document in embedded.open(INDEX).scan()]
    found = comparer.compare(comparer.question(INDEX, *sets(ids, 100)))
    shown = {entry.phrase for entry in (*found.common, *found.distinct_a, *found.distinct_b)}
    assert {phrase for phrase in counted if PAIR not in phrase} <= shown
    assert 0 < len(shown) < found.stats.phrases
