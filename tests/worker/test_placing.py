"""The sides of a page, placed among the topics together."""

from __future__ import annotations

from indexer.model.topic_space import FEW
from tests.worker.conftest import INDEX
from worker.comparer import Comparer
from worker.explain.placing import place_together
from worker.explain.resolver import Limits, Resolved, resolve
from worker.explain.side import Side


def sides(comparer: Comparer) -> list[Resolved]:
    """A query, a set and more documents than are placed at a time."""
    reader = comparer.engine.open(INDEX)
    ids = [analysed.document.id for analysed, _ in zip(reader.scan(), range(FEW + 3), strict=False)]
    asked = [Side.from_text("query:web graph"), Side.from_text(f"ids:{ids[0]},{ids[1]}"), *map(Side.document, ids)]
    return resolve(reader, asked, limits=Limits())


def test_sides_placed_together_stand_where_each_would_alone(local: Comparer) -> None:
    together, alone = sides(local), sides(local)
    place_together(together)
    assert [side.places.tobytes() for side in together] == [side.places.tobytes() for side in alone]
    assert [side.places.shape for side in together] == [side.places.shape for side in alone]
    assert any(side.places.any() for side in together)
