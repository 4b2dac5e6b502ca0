"""The candidate phrases of a pair: the salient ones of both sides, with their edges to the sides' documents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from worker.explain.query_runs import find_query_runs
from worker.explain.resolved_side import ResolvedSide


@dataclass(frozen=True, eq=False)
class PairCandidates:
    """The salient phrases of both sides (S and S' of the paper); row i of every array is ``phrases[i]``."""

    salient_a: tuple[str, ...]
    """Salient phrases of side a, best first; then, of a query, its runs in the other side."""
    salient_b: tuple[str, ...]
    """The same of side b."""
    phrases: tuple[str, ...]
    """The union of both: those of a, then those only in b."""
    phrase_ids: NDArray[np.int64]
    """Ids in the model, -1 for a phrase it does not know; shape (phrases,)."""
    edges_a: NDArray[np.float64]
    """BM25 in each document of a that contains the phrase, else 0; shape (phrases, documents of a)."""
    edges_b: NDArray[np.float64]
    """BM25 in the documents of b, shape (phrases, documents of b)."""
    model_degrees: NDArray[np.float64]
    """Degrees of the model's phrases."""

    @classmethod
    def from_sides(cls, a: ResolvedSide, b: ResolvedSide, max_per_side: int | None = None) -> PairCandidates:
        """Collect the salient phrases of both sides, at most ``max_per_side`` of each, and the runs of a query."""
        salient_a, salient_b = (
            tuple(dict.fromkeys([*tuple(side.salience)[:max_per_side], *find_query_runs(side, other)]))
            for side, other in ((a, b), (b, a))
        )
        phrases = tuple(dict.fromkeys([*salient_a, *salient_b]))
        model = a.reader.model
        # that the model knows a run of two texts of a limited caller would confirm a guess about hidden documents
        is_guess = a.groups is not None and a.is_ad_hoc and b.is_ad_hoc
        known = a.salience.keys() | b.salience.keys() if is_guess else model.phrase_ids.keys()
        ids = np.array([model.phrase_ids.get(p, -1) if p in known else -1 for p in phrases], dtype=np.int64)
        edges_a, edges_b = a.get_edge_weights(phrases), b.get_edge_weights(phrases)
        return cls(salient_a, salient_b, phrases, ids, edges_a, edges_b, model.degree)

    @cached_property
    def degrees(self) -> NDArray[np.float64]:
        """Degrees in the whole corpus, shape (phrases,)."""
        known = self.phrase_ids >= 0
        return np.where(known, self.model_degrees[self.phrase_ids], 0.0) if len(known) else np.zeros(0)

    @cached_property
    def first_step_weights(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """First step of a walk from each side: mean edge weight over the phrase's degree, two of shape (phrases,)."""
        a, b = (self._divide_by_degrees(edges.mean(axis=1)) for edges in (self.edges_a, self.edges_b))
        return a, b

    def _divide_by_degrees(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.divide(weights, self.degrees, out=np.zeros(len(weights)), where=self.degrees > 0)
