"""The start of relevance: g0 of each side, and the relevance that documents outside the subgraph send in.

With delta on *every* entry of g0, documents outside the subgraph carry relevance too. Write b for
the stored background (``b_i = sum_j S_ij`` over the whole corpus). The first-order part of what
they send to phrase i is exact: ``alpha delta / (1 + alpha) * (b_i - sum_inside S_ij)``. For the
second order, note that ``S S^T sqrt(D_P) = sqrt(D_P)`` on the full graph and that b is close to
``beta sqrt(D_P)``; with that phrase relevance, outside documents add
``delta beta / (1 + alpha) * sqrt(D_P,i) * (1 - covered_i)`` and outside phrases send
``delta beta sqrt(D_D,j) * (1 - covered_j)`` to document j. All three vanish when nothing is outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from worker.solver.subgraph import Floats, Subgraph


@dataclass(frozen=True, eq=False)
class Seeds:
    """g0 and g'0 of K pairs; the offsets are constants added to S g and to S^T f."""

    g0: Floats
    """Shape (N, 2K): sides a, then sides b."""
    phrase_offset: Floats | None = None
    """Shape (P, 2K)."""
    document_offset: Floats | None = None
    """Shape (N, 2K)."""

    @property
    def pair_count(self) -> int:
        return int(self.g0.shape[1]) // 2

    def scale_columns(self, factors: Floats) -> Seeds:
        """Return seeds with each column multiplied by its factor (2K,): the solution of Eq. 7 scales with it."""
        return replace(
            self,
            g0=self.g0 * factors,
            phrase_offset=None if self.phrase_offset is None else self.phrase_offset * factors,
            document_offset=None if self.document_offset is None else self.document_offset * factors,
        )


@dataclass(frozen=True, eq=False)
class SeedSide:
    """The documents one side consists of."""

    columns: Sequence[int]
    """Indices of its documents in the subgraph."""
    weights: Sequence[float] | None = None
    """Their g0, 1 each by default."""


def build_pair_seeds(
    graph: Subgraph, a: SeedSide, b: SeedSide, *, alpha: float, delta: float = 0.0, background: ArrayLike | None = None
) -> Seeds:
    """Build the seeds of one pair; see ``build_batch_seeds``."""
    return build_batch_seeds(graph, [(a, b)], alpha=alpha, delta=delta, background=background)


def build_batch_seeds(
    graph: Subgraph, pairs: Sequence[tuple[SeedSide, SeedSide]], *,
    alpha: float, delta: float = 0.0, background: ArrayLike | None = None,
) -> Seeds:  # fmt: skip
    """Build the seeds of many pairs on one graph. ``background`` is b for the subgraph's phrases, shape (P,)."""
    sides = [a for a, _ in pairs] + [b for _, b in pairs]
    g0 = np.full((graph.document_count, len(sides)), float(delta))
    for k, side in enumerate(sides):
        _add_side_weights(g0[:, k], side)
    if background is None or delta == 0:
        return Seeds(g0)
    b = np.asarray(background, dtype=np.float64)
    if b.shape != (graph.phrase_count,) or not np.isfinite(b).all() or (b < 0).any():
        raise ValueError(
            f"the background is one finite number of at least 0 for each of the {graph.phrase_count} phrases"
        )
    phrase, document = compute_outside_offsets(graph, alpha, delta, b)
    ones = np.ones(len(sides))
    return Seeds(g0, np.outer(phrase, ones), np.outer(document, ones))


def compute_outside_offsets(graph: Subgraph, alpha: float, delta: float, background: Floats) -> tuple[Floats, Floats]:
    """Return the constants that documents and phrases outside add to S g, shape (P,), and to S^T f, shape (N,)."""
    root_p, root_d = np.sqrt(graph.phrase_degrees), np.sqrt(graph.document_degrees)
    covered_p, covered_d = graph.compute_phrase_and_document_coverage()
    total = float(graph.phrase_degrees.sum())
    beta = float(root_p @ background) / total if total > 0 else 0.0
    first = np.maximum(background - graph.matrix @ np.ones(graph.document_count), 0.0)
    second = beta * root_p * np.maximum(1 - covered_p, 0.0)
    phrase = delta * (alpha * first + second) / (1 + alpha)
    return phrase, delta * beta * root_d * np.maximum(1 - covered_d, 0.0)


def _add_side_weights(document_seeds: Floats, side: SeedSide) -> None:
    """Add the weights of a side to its column of g0 (N,) in place."""
    columns = np.asarray(side.columns, dtype=np.int64)
    if columns.size and (columns.min() < 0 or columns.max() >= document_seeds.size):
        raise ValueError(f"a side's document is outside the subgraph's {document_seeds.size}")
    weights = np.ones(columns.size) if side.weights is None else np.asarray(side.weights, dtype=np.float64)
    if weights.shape != columns.shape or not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("a side's weights are one finite number of at least 0 for each of its documents")
    document_seeds[columns] += weights
