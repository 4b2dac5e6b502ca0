"""Finds the documents nearest to a vector, in the epoch and among those added since.

All are compared by the same rows with the same arithmetic, so that neither a refresh nor the way of the search changes
a score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from indexer.engines.embedded.snapshot import EpochSnapshot
from indexer.engines.embedded.vectors.vector_index import VectorIndex, compute_cosines, make_unit_vector
from indexer.engines.rank_fusion import choose_candidate_count
from indexer.engines.search_types import VectorQuery

SMALL_INDEX_ROWS: Final = 2_000
"""Vectors up to which all are compared: it takes 2 ms, and nothing is missed."""

Ints = NDArray[np.int64]
Cosines = NDArray[np.float32]


def find_nearest(
    snapshot: EpochSnapshot,
    indexes: Sequence[VectorIndex],
    query: VectorQuery,
    allowed: NDArray[np.bool_] | None,
    *,
    is_exact: bool,
) -> list[tuple[str, float]]:
    """Return ids and scores, (1 + cosine) / 2, of the ``query.k`` nearest documents, best first, ties by id.

    ``allowed``: which documents may be found, shape (snapshot.size,); None: all. ``is_exact``: compare all of these, so
    that the others have no influence; otherwise the graph of neighbours finds most of the nearest.
    """
    if not query.vector:
        return []
    target = make_unit_vector(query.vector)
    parts = [_compare_added(snapshot, target, allowed)]
    for vectors in indexes:
        rows = _choose_rows(snapshot, vectors, query, target, is_exact=is_exact)
        parts.append(_compare_rows(vectors, rows, target, allowed))
    numbers = np.concatenate([part[0] for part in parts])
    cosines = np.concatenate([part[1] for part in parts])
    near = np.flatnonzero(cosines >= query.min_cosine)
    numbers, cosines = numbers[near], cosines[near]
    best = _select_best(numbers, cosines, snapshot, query.k)
    ids, _, _ = snapshot.read_ids_titles_and_degrees(numbers[best])
    return list(zip(ids, ((1.0 + cosines[best].astype(np.float64)) / 2.0).tolist(), strict=True))


def _choose_rows(
    snapshot: EpochSnapshot, vectors: VectorIndex, query: VectorQuery, target: NDArray[np.float32], *, is_exact: bool
) -> Ints | None:
    """Return the rows to compare; None: all."""
    # documents removed since the build are still in the graph, and may all be nearest
    count = choose_candidate_count(query) + len(snapshot.delta.removed)
    if is_exact or len(vectors) <= max(SMALL_INDEX_ROWS, 2 * count):
        return None
    return vectors.find_candidates(target, count)


def _compare_rows(
    vectors: VectorIndex, rows: Ints | None, target: NDArray[np.float32], allowed: NDArray[np.bool_] | None
) -> tuple[Ints, Cosines]:
    """Return the numbers of the epoch's allowed documents and their cosines; ``rows``: only of these."""
    documents = vectors.documents.astype(np.int64) if rows is None else vectors.documents[rows].astype(np.int64)
    if allowed is not None:
        chosen = np.flatnonzero(allowed[documents])
        documents, rows = documents[chosen], chosen if rows is None else rows[chosen]
    return documents, compute_cosines(vectors.rows, rows, target)


def _compare_added(
    snapshot: EpochSnapshot, target: NDArray[np.float32], allowed: NDArray[np.bool_] | None
) -> tuple[Ints, Cosines]:
    """Return the numbers of the allowed documents that were added since the build and their cosines."""
    numbers, rows = snapshot.added_vectors
    if not len(numbers):
        return numbers, np.zeros(0, dtype=np.float32)
    chosen = np.arange(len(numbers)) if allowed is None else np.flatnonzero(allowed[numbers])
    return numbers[chosen], compute_cosines(rows, chosen, target)


def _select_best(numbers: Ints, cosines: Cosines, snapshot: EpochSnapshot, k: int) -> Ints:
    """Return the positions of the ``k`` largest cosines in order, ties by id."""
    positions = np.arange(len(numbers))
    if k < len(numbers):
        threshold = np.partition(cosines, len(cosines) - k)[len(cosines) - k]
        positions = np.flatnonzero(cosines >= threshold)
    by_id = numbers if snapshot.id_sort_keys is None else snapshot.id_sort_keys[numbers]
    return positions[np.lexsort((by_id[positions], -cosines[positions]))[:k]]
