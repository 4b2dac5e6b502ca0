"""The sides of a page, placed among the topics together."""

from __future__ import annotations

from indexer.model.topic_space import SMALL_BATCH
from tests.worker.conftest import INDEX
from worker.comparer import Comparer
from worker.explain.resolved_side import ResolvedSide, fill_topic_vectors
from worker.explain.resolver import SideLimits, resolve_sides
from worker.explain.side import Side


def sides(comparer: Comparer) -> list[ResolvedSide]:
    """A query, a set and more documents than are placed at a time."""
    reader = comparer.engine.open_reader(INDEX)
    ids = [analysed.document.id for analysed, _ in zip(reader.scan(), range(SMALL_BATCH + 3), strict=False)]
    asked = [Side.from_text("query:web graph"), Side.from_text(f"ids:{ids[0]},{ids[1]}"), *map(Side.from_id, ids)]
    return resolve_sides(reader, asked, limits=SideLimits())


def test_sides_placed_together_stand_where_each_would_alone(local: Comparer) -> None:
    together, alone = sides(local), sides(local)
    fill_topic_vectors(together)
    assert [side.topic_vectors.tobytes() for side in together] == [side.topic_vectors.tobytes() for side in alone]
    assert [side.topic_vectors.shape for side in together] == [side.topic_vectors.shape for side in alone]
    assert any(side.topic_vectors.any() for side in together)
