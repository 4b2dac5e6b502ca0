"""Features of a pair as a whole."""

from __future__ import annotations

import pytest

from indexer.engines.base import Engine
from tests.support.comparisons import resolve_texts
from worker.explain.candidates import PairCandidates
from worker.explain.full_graph import build_full_graph
from worker.explain.neighbourhood import SidePair
from worker.explain.pair_features import build_problem
from worker.explain.resolved_side import ResolvedSide
from worker.solver.parameters import DEFAULT


def get_topic_similarity(a: ResolvedSide, b: ResolvedSide) -> float:
    pair = SidePair(a, b, PairCandidates.from_sides(a, b))
    return build_problem([pair], build_full_graph(pair, None), DEFAULT).topic_similarity


def test_topic_similarity_is_the_cosine_of_the_topic_vectors(indexed_embedded_engine: Engine) -> None:
    a, b = resolve_texts(indexed_embedded_engine, "d0000", "d0006")
    assert get_topic_similarity(a, b) == pytest.approx(float(a.topic_vectors[0] @ b.topic_vectors[0])) != 1.0
    assert get_topic_similarity(a, a) == pytest.approx(1.0)


@pytest.mark.parametrize("other", ["ids:d0006,d0012", "text:A swarm cluster", f"text:{'xyzzy plugh ' * 40}"])
def test_topic_similarity_is_one_for_sets_short_texts_and_unknown_words(
    indexed_embedded_engine: Engine, other: str
) -> None:
    a, b = resolve_texts(indexed_embedded_engine, "d0000", other)
    assert get_topic_similarity(a, b) == get_topic_similarity(b, a) == 1.0
