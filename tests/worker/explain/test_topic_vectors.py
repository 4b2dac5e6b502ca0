"""Topic vectors of many sides, computed in batches."""

from __future__ import annotations

from indexer.engines.base import Engine
from tests.support.comparisons import INDEX, resolve_texts
from worker.explain.resolved_side import ResolvedSide, weigh_texts_together


def resolve_many(engine: Engine) -> list[ResolvedSide]:
    """Return a query, a set and eleven documents."""
    ids = [analysed.document.id for analysed, _ in zip(engine.open_reader(INDEX).scan(), range(11), strict=False)]
    return resolve_texts(engine, "query:web graph", f"ids:{ids[0]},{ids[1]}", *ids)


def test_topic_vectors_are_the_same_in_a_batch_and_alone(indexed_embedded_engine: Engine) -> None:
    together, alone = resolve_many(indexed_embedded_engine), resolve_many(indexed_embedded_engine)
    weigh_texts_together(together)
    assert [side.topic_vectors.tobytes() for side in together] == [side.topic_vectors.tobytes() for side in alone]
    assert [side.topic_vectors.shape for side in together] == [side.topic_vectors.shape for side in alone]
    assert any(side.topic_vectors.any() for side in together)
