"""Topic vectors of many sides, computed in batches."""

from __future__ import annotations

from indexer.engines.base import Engine
from indexer.model.topic_space import SMALL_BATCH
from tests.support.comparisons import INDEX, resolve_texts
from worker.explain.resolved_side import ResolvedSide, fill_topic_vectors


def resolve_many(engine: Engine) -> list[ResolvedSide]:
    """Return a query, a set and more documents than one batch takes."""
    ids = [
        analysed.document.id
        for analysed, _ in zip(engine.open_reader(INDEX).scan(), range(SMALL_BATCH + 3), strict=False)
    ]
    return resolve_texts(engine, "query:web graph", f"ids:{ids[0]},{ids[1]}", *ids)


def test_topic_vectors_are_the_same_in_a_batch_and_alone(indexed_embedded_engine: Engine) -> None:
    together, alone = resolve_many(indexed_embedded_engine), resolve_many(indexed_embedded_engine)
    fill_topic_vectors(together)
    assert [side.topic_vectors.tobytes() for side in together] == [side.topic_vectors.tobytes() for side in alone]
    assert [side.topic_vectors.shape for side in together] == [side.topic_vectors.shape for side in alone]
    assert any(side.topic_vectors.any() for side in together)
