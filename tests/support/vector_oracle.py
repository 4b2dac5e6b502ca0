"""The nearest documents by brute force, to compare engines with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from indexer.documents import AnalysedDocument
from indexer.vectors import decode_vector, encode_vector


def make_random_vectors(count: int, dimensions: int, seed: int) -> list[bytes]:
    """Return vectors in random directions, of different lengths."""
    generator = np.random.default_rng(seed)
    return [encode_vector((vector * length).tolist()) for vector, length in zip(
        generator.standard_normal((count, dimensions)), generator.uniform(0.1, 10, count), strict=True
    )]  # fmt: skip


def compute_score(a: bytes, b: bytes) -> float:
    """Return (1 + cosine) / 2 in double precision."""
    first, second = decode_vector(a).astype(np.float64), decode_vector(b).astype(np.float64)
    return float((1 + first @ second / np.linalg.norm(first) / np.linalg.norm(second)) / 2)


def rank_by_vector(documents: Iterable[AnalysedDocument], query: bytes) -> list[tuple[str, float]]:
    """Return ids and scores of the documents that have a vector, best first, ties by id."""
    scores = {d.document.id: compute_score(d.document.vector, query) for d in documents if d.document.vector}
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))


def assert_nearest(
    found: Sequence[tuple[str, float]], ranked: Sequence[tuple[str, float]], k: int, tolerance: float = 1e-3
) -> None:
    """Require the first ``k`` of a ranking; documents whose scores differ by less than the tolerance may swap."""
    scores: NDArray[np.float64] = np.array([score for _, score in ranked[:k]])
    true_scores = dict(ranked)
    assert len(found) == len(scores) and len({id for id, _ in found}) == len(found)
    np.testing.assert_allclose([score for _, score in found], scores, atol=tolerance)
    np.testing.assert_allclose([true_scores[id] for id, _ in found], scores, atol=tolerance)
