"""Why a phrase is implied: shares that add up, bridges that carry what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from indexer.engines.base import Engine
from tests.worker.conftest import INDEX, ask
from tests.worker.planted import IMPLIED
from worker.answer.bridges import Reasoner
from worker.answer.comparison import Entry
from worker.answer.near_duplicates import Folder
from worker.comparer import Comparer
from worker.explain.neighbourhood import LocalGraph
from worker.methods.base import Problem
from worker.solver.seeds import Side
from worker.solver.subgraph import Subgraph


def implied(comparer: Comparer, a: str = "a1", b: str = "b1") -> Entry:
    return next(entry for entry in ask(comparer, a, b, cap=0).common if entry.phrase == IMPLIED)


def test_an_implied_phrase_has_reasons_that_sum_to_one(comparer: Comparer) -> None:
    reasons = implied(comparer).reasons
    assert reasons
    total = reasons.own + reasons.partial + reasons.rest + sum(bridge.share for bridge in reasons.via)
    assert abs(total - 1) < 1e-9
    assert reasons.via and reasons.own > 0


def test_a_bridge_is_a_third_document_that_holds_the_phrase_and_phrases_of_the_other_side(comparer: Comparer) -> None:
    reasons = implied(comparer).reasons
    assert reasons
    reader = comparer.engine.open(INDEX)
    found = reader.fetch(["b1", *(bridge.id for bridge in reasons.via)])
    held = {document.document.id: set(document.phrases) for document in found if document}
    for bridge in reasons.via:
        assert bridge.id not in ("a1", "b1")
        assert bridge.title
        assert IMPLIED in held[bridge.id]
        assert bridge.phrases and set(bridge.phrases) <= held[bridge.id]
        assert set(bridge.phrases) & held["b1"]


def test_shared_and_distinct_phrases_need_no_reasons(comparer: Comparer) -> None:
    answer = ask(comparer, "a1", "b1", cap=0)
    assert all((entry.reasons is not None) == (entry.kind == "implied") for entry in answer.common)
    assert all(entry.reasons is None for entry in (*answer.distinct_a, *answer.distinct_b))


def test_swapping_the_sides_keeps_the_reasons(comparer: Comparer) -> None:
    one, other = implied(comparer).reasons, implied(comparer, "b1", "a1").reasons
    assert one and other
    assert [bridge.id for bridge in one.via] == [bridge.id for bridge in other.via]
    assert other.own == pytest.approx(one.own, rel=1e-6)


def test_without_the_first_bridge_the_relevance_falls_by_about_its_share(copied: Engine) -> None:
    comparer = Comparer(copied)
    before = implied(comparer)
    assert before.reasons
    bridge = before.reasons.via[0]
    copied.delete(INDEX, [bridge.id])
    after = implied(comparer)
    assert after.reasons
    assert bridge.id not in {other.id for other in after.reasons.via}
    fall = 1 - after.relevance_b / before.relevance_b
    assert fall == pytest.approx(bridge.share, rel=0.1)


def test_a_phrase_that_words_alone_speak_for_says_so(embedded: Engine) -> None:
    """No document of the graph leads from b to the phrase, but b holds one of its words."""
    graph = LocalGraph(
        Subgraph.from_edges([0], [0], [1.0], [1.0], [1.0, 1.0]),
        (IMPLIED,), ("a", "b"), ("A", "B"), np.array([0]), np.array([1]),
        (np.array([0]), np.array([0]), np.array([1.0])), 0, 0.0,
    )  # fmt: skip
    found: dict[str, Any] = {
        "in_a": np.array([True]),
        "in_b": np.array([False]),
        "side_a": Side([0]),
        "side_b": Side([1]),
    }
    folder = Folder(embedded.open(INDEX).model)
    problem = Problem(phrases=[IMPLIED], **found)
    assert Reasoner(graph, problem, folder).reasons(IMPLIED, "b").to_dict() == {"own": 0.0, "via": [], "rest": 1.0}
    worded = Reasoner(graph, problem, folder, worded=(lambda phrase: False, lambda phrase: phrase == IMPLIED))
    assert worded.reasons(IMPLIED, "b").to_dict() == {
        "own": 0.0,
        "via": [],
        "rest": 0.0,
        "partial": 1.0,
    }
    assert worded.reasons("not in the graph", "b").rest == 1.0
