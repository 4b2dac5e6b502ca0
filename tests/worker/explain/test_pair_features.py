"""What is known of a pair as a whole."""

from __future__ import annotations

import pytest

from indexer.engines.base import Engine
from tests.worker.conftest import INDEX
from worker.explain.pair_features import _compute_topic_similarity
from worker.explain.resolved_side import ResolvedSide
from worker.explain.resolver import SideLimits, resolve_sides
from worker.explain.side import Side
from worker.index_catalog import AnalyzerCache


def sides(engine: Engine, *asked: str) -> list[ResolvedSide]:
    reader = engine.open_reader(INDEX)
    return resolve_sides(
        reader, [Side.from_text(side) for side in asked], limits=SideLimits(), analyzer=AnalyzerCache().get(reader)
    )


def test_two_texts_are_as_near_as_their_places_among_the_topics(embedded: Engine) -> None:
    a, b = sides(embedded, "d0000", "d0006")
    assert _compute_topic_similarity(a, b) == pytest.approx(float(a.topic_vectors[0] @ b.topic_vectors[0])) != 1.0
    assert _compute_topic_similarity(a, a) == pytest.approx(1.0)


@pytest.mark.parametrize("other", ["ids:d0006,d0012", "text:A swarm cluster", f"text:{'xyzzy plugh ' * 40}"])
def test_of_sets_of_few_words_and_of_unknown_ones_nothing_is_held_against_what_they_share(
    embedded: Engine, other: str
) -> None:
    a, b = sides(embedded, "d0000", other)
    assert _compute_topic_similarity(a, b) == _compute_topic_similarity(b, a) == 1.0
