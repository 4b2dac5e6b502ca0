"""Evidence from the spaces of an index that a query and a hit, or two texts, are both about a phrase."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from indexer.model.evidence_scale import MIN_RESERVOIR
from indexer.model.evidence_spaces import (
    SPACE_NAMES,
    PhraseEvidence,
    SpaceHit,
    SpaceName,
    SpaceQuery,
    Vectors,
)
from indexer.text.stopwords import ENGLISH_STOPWORDS
from indexer.vectors import decode_vector
from worker.explain.neighbourhood import SidePair
from worker.explain.resolved_side import ResolvedSide


def measure_query_evidence(
    query: ResolvedSide, pairs: Sequence[SidePair], space_names: Collection[SpaceName] = SPACE_NAMES
) -> PhraseEvidence | None:
    """Measure the candidates of pairs of the query and a hit; the result has those of one pair after another.

    ``space_names``: the spaces to measure in, of those that the index has. None if the index is too small or of a
    former version, or the query has no place in any space.
    """
    spaces = query.reader.model.evidence_spaces.select(space_names)
    hits = [
        _describe_hit(pair.a, pair.candidates.phrase_ids, pair.candidates.edges_a)
        if pair.b is query
        else _describe_hit(pair.b, pair.candidates.phrase_ids, pair.candidates.edges_b)
        for pair in pairs
    ]
    return spaces.measure(describe_query(query), hits)


def describe_query(query: ResolvedSide) -> SpaceQuery:
    """Return a query as the spaces see it: without function words.

    Words that the caller may not know of count as words that the index does not have.
    """
    words = dict.fromkeys(word for word in query.documents[0].tokens.split() if word not in ENGLISH_STOPWORDS)
    word_ids = query.reader.model.word_ids
    known = [word for word in words if word in word_ids and word not in query.unreadable_words]
    unknown = tuple(word for word in words if word not in word_ids or word in query.unreadable_words)
    vector = None if query.side.vector is None else decode_vector(query.side.vector)
    return SpaceQuery(np.array([word_ids[word] for word in known], dtype=np.int64), vector, unknown)


def _describe_hit(hit: ResolvedSide, phrase_ids: NDArray[np.int64], edges: NDArray[np.float64]) -> SpaceHit:
    """``edges``: weight of each phrase in each document of the hit, shape (P, documents)."""
    vectors = [document.document.vector for document in hit.documents]
    placed = [number for number, vector in enumerate(vectors) if vector is not None]
    rows = [decode_vector(vector) for vector in vectors if vector is not None]
    return SpaceHit(
        phrase_ids,
        hit.text_vectors,
        hit.weighed_text,
        np.stack(rows) if rows else np.zeros((0, 0), np.float32),
        edges[:, placed] > 0,
    )


def measure_pair_noise(a: ResolvedSide, b: ResolvedSide) -> float | None:
    """Return the share of random documents that are as close to one of two texts as they are to each other.

    The smaller of the two shares; None where it cannot be measured.
    """
    model = a.reader.model
    if len(model.reservoir_vectors) < MIN_RESERVOIR or not len(model.topic_scales):
        return None
    vectors: tuple[Vectors, Vectors] = (a.get_text_vector("topics"), b.get_text_vector("topics"))
    cosine = float(vectors[0] @ vectors[1])
    return min(model.topic_directions.measure_closeness_noise(vector, cosine) for vector in vectors)
