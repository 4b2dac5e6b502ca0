"""The reasons of an implied phrase: shares that sum to 1, and bridges that hold what they claim."""

from __future__ import annotations

import numpy as np
import pytest

from indexer.engines.base import Engine
from tests.support.comparisons import INDEX, compare_sides
from tests.support.corpora.planted_pairs import IMPLIED
from worker.answer.bridges import BridgeFinder
from worker.answer.comparison import Entry
from worker.answer.near_duplicates import NearDuplicates
from worker.comparer import Comparer
from worker.explain.neighbourhood import EdgeList, LocalGraph
from worker.methods.base import PairProblem, SideFeatures
from worker.solver.seeds import SeedSide
from worker.solver.subgraph import Subgraph


def find_implied_entry(comparer: Comparer, a: str = "a1", b: str = "b1") -> Entry:
    return next(entry for entry in compare_sides(comparer, a, b, cap=0).common if entry.phrase == IMPLIED)


def test_an_implied_phrase_has_reasons_that_sum_to_one(comparer: Comparer) -> None:
    reasons = find_implied_entry(comparer).reasons
    assert reasons
    total = (
        reasons.own_share + reasons.word_share + reasons.other_share + sum(bridge.share for bridge in reasons.bridges)
    )
    assert abs(total - 1) < 1e-9
    assert reasons.bridges and reasons.own_share > 0


def test_a_bridge_is_a_neighbour_that_holds_the_phrase_and_phrases_of_the_other_side(comparer: Comparer) -> None:
    reasons = find_implied_entry(comparer).reasons
    assert reasons
    reader = comparer.engine.open_reader(INDEX)
    documents = reader.fetch(["b1", *(bridge.id for bridge in reasons.bridges)])
    phrases_by_id = {document.document.id: set(document.phrases) for document in documents if document}
    for bridge in reasons.bridges:
        assert bridge.id not in ("a1", "b1")
        assert bridge.title
        assert IMPLIED in phrases_by_id[bridge.id]
        assert bridge.phrases and set(bridge.phrases) <= phrases_by_id[bridge.id]
        assert set(bridge.phrases) & phrases_by_id["b1"]


def test_shared_and_distinct_phrases_need_no_reasons(comparer: Comparer) -> None:
    answer = compare_sides(comparer, "a1", "b1", cap=0)
    assert all((entry.reasons is not None) == (entry.kind == "implied") for entry in answer.common)
    assert all(entry.reasons is None for entry in (*answer.distinct_a, *answer.distinct_b))


def test_swapping_the_sides_keeps_the_reasons(comparer: Comparer) -> None:
    one, other = find_implied_entry(comparer).reasons, find_implied_entry(comparer, "b1", "a1").reasons
    assert one and other
    assert [bridge.id for bridge in one.bridges] == [bridge.id for bridge in other.bridges]
    assert other.own_share == pytest.approx(one.own_share, rel=1e-6)


def test_without_the_first_bridge_the_relevance_falls_by_about_its_share(writable_engine: Engine) -> None:
    comparer = Comparer(writable_engine)
    before = find_implied_entry(comparer)
    assert before.reasons
    bridge = before.reasons.bridges[0]
    writable_engine.delete_documents(INDEX, [bridge.id])
    after = find_implied_entry(comparer)
    assert after.reasons
    assert bridge.id not in {other.id for other in after.reasons.bridges}
    fall = 1 - after.relevance_b / before.relevance_b
    assert fall == pytest.approx(bridge.share, rel=0.1)


def test_a_phrase_supported_by_words_alone_has_a_partial_share(indexed_embedded_engine: Engine) -> None:
    """No document of the graph links b to the phrase, but b contains one of its words."""
    graph = LocalGraph(
        Subgraph.from_edges([0], [0], [1.0], [1.0], [1.0, 1.0]),
        (IMPLIED,), ("a", "b"), ("A", "B"), np.array([0]), np.array([1]),
        EdgeList(np.array([0]), np.array([0]), np.array([1.0])), 0, 0.0,
    )  # fmt: skip
    duplicates = NearDuplicates(indexed_embedded_engine.open_reader(INDEX).model)
    problem = PairProblem(
        phrases=[IMPLIED],
        a=SideFeatures(is_salient=np.array([True]), seed=SeedSide([0])),
        b=SideFeatures(is_salient=np.array([False]), seed=SeedSide([1])),
    )
    assert BridgeFinder(graph, problem, duplicates).explain_phrase(IMPLIED, "b").to_dict() == {
        "own": 0.0,
        "via": [],
        "rest": 1.0,
    }
    with_words = BridgeFinder(
        graph, problem, duplicates, contains_any_word=(lambda phrase: False, lambda phrase: phrase == IMPLIED)
    )
    assert with_words.explain_phrase(IMPLIED, "b").to_dict() == {
        "own": 0.0,
        "via": [],
        "rest": 0.0,
        "partial": 1.0,
    }
    assert with_words.explain_phrase("not in the graph", "b").other_share == 1.0
