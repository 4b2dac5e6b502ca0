"""The common phrase selection problem (Eq. 8) with its update rules (Eqs. 10-13)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from worker.solver.alternation import Solution, solve_alternating
from worker.solver.parameters import Parameters
from worker.solver.seeds import Seeds
from worker.solver.subgraph import Flags, Floats, Subgraph

CommonMeasure = Literal["product", "sum"]
THRESHOLD_SLACK = 1e-12
"""A score this close below its mean counts as reaching it: the mean of equal numbers is itself rounded."""


def compute_commonality(relevance_a: Floats, relevance_b: Floats, measure: CommonMeasure = "product") -> Floats:
    """Return Phi of Eq. 4, ``ln(1 + f f')``, or the alternative ``f + f'``."""
    return np.log1p(relevance_a * relevance_b) if measure == "product" else relevance_a + relevance_b


class CommonUpdate:
    """The minimiser over f_i of ``1/2 f_i^2 - f_i s_i - lambda y_i ln(1 + f_i f'_i)``, Eq. 10.

    As printed it subtracts ``1 / 2f'`` from a root of the same size, which is 0 in floating point
    for f' near 1e-15. The same root, with no such difference, is
    ``2 (s + lambda y f') / (1 - s f' + sqrt((1 + s f')^2 + 4 lambda y f'^2))``; above s f' = 1 the
    denominator would cancel, and the printed form is the safe one.
    """

    def __init__(self, shape: tuple[int, int]) -> None:
        self._x, self._b, self._root, self._q = (np.empty(shape) for _ in range(4))
        self._flip = np.empty(shape, dtype=bool)

    def __call__(self, s: Floats, other: Floats, weight: Floats, out: Floats) -> None:
        """Write ``out`` (P, K) from s = S g, f' and ``weight = lambda y``; no array is allocated."""
        x, b, root, q = self._x, self._b, self._root, self._q
        np.multiply(s, other, out=x)
        np.subtract(1.0, x, out=b)
        np.add(x, 1.0, out=x)
        np.multiply(x, x, out=x)
        np.multiply(weight, other, out=q)
        np.multiply(q, other, out=root)
        np.multiply(root, 4.0, out=root)
        np.add(root, x, out=root)
        np.sqrt(root, out=root)
        np.add(q, s, out=q)
        np.multiply(q, 2.0, out=q)
        np.less(b, 0.0, out=self._flip)
        np.abs(b, out=b)
        np.add(b, root, out=b)
        np.divide(q, b, out=out)
        np.multiply(other, 2.0, out=q)
        np.divide(b, q, out=out, where=self._flip)
        np.equal(weight, 0.0, out=self._flip)
        np.copyto(out, s, where=self._flip)


class CommonProblem:
    """Selections y (P, K); a common phrase is a salient one whose score reaches both means."""

    def __init__(self, in_a: Flags, in_b: Flags, lam: float, measure: CommonMeasure) -> None:
        self.in_a, self.in_b, self.lam, self.measure = in_a, in_b, lam, measure
        self.pair_count = in_a.shape[1]
        self._weight = np.zeros(in_a.shape)
        self._kernel = CommonUpdate(in_a.shape)

    def fix_selection(self, selection: Flags) -> None:
        np.multiply(selection, self.lam, out=self._weight)

    def update_relevance(self, propagated: Floats, relevance: Floats) -> None:
        k = self.pair_count
        if self.measure == "sum":
            np.add(propagated[:, :k], self._weight, out=relevance[:, :k])
            np.add(propagated[:, k:], self._weight, out=relevance[:, k:])
            return
        self._kernel(propagated[:, :k], relevance[:, k:], self._weight, out=relevance[:, :k])
        self._kernel(propagated[:, k:], relevance[:, :k], self._weight, out=relevance[:, k:])

    def compute_scores(self, relevance: Floats) -> Floats:
        """Return Phi, (P, K), of relevance f (P, 2K)."""
        return compute_commonality(relevance[:, : self.pair_count], relevance[:, self.pair_count :], self.measure)

    def compute_threshold(self, relevance: Floats) -> Floats:
        """Return the larger of the mean scores over S and over S', (K,)."""
        scores = self.compute_scores(relevance)
        return np.maximum(compute_column_means(scores, self.in_a), compute_column_means(scores, self.in_b))

    def flag_selected_phrases(self, relevance: Floats) -> Flags:
        scores = self.compute_scores(relevance)
        return reaches_threshold(scores, self.compute_threshold(relevance)) & (self.in_a | self.in_b)

    def sum_selected_scores(self, selection: Flags, relevance: Floats) -> Floats:
        return np.asarray(np.einsum("ij,ij->j", selection.astype(np.float64), self.compute_scores(relevance)))


def compute_column_means(scores: Floats, is_member: Flags) -> Floats:
    """Return the mean of each column (K,) over its members (P, K); 0 where there are none."""
    return np.asarray(
        np.einsum("ij,ij->j", scores, is_member.astype(np.float64)) / np.maximum(is_member.sum(axis=0), 1)
    )


def reaches_threshold(scores: Floats, threshold: Floats) -> Flags:
    """Return which scores (P, K) satisfy the constraint of their column and are worth selecting.

    Where the mean itself is 0 or less the printed constraint also admits scores of 0 or less;
    selecting one would not lower the objective, so it is left out.
    """
    return np.asarray((scores >= threshold - THRESHOLD_SLACK * np.abs(threshold)) & (scores > 0))


@dataclass(frozen=True, eq=False)
class CommonSolution:
    """The solved common problem of K pairs."""

    solution: Solution
    selected: Flags
    """C, shape (P, K)."""
    scores: Floats
    """Phi, shape (P, K)."""
    threshold: Floats
    """The mean a common phrase must reach, shape (K,)."""


def solve_common(
    graph: Subgraph, seeds: Seeds, is_salient_a: Flags, is_salient_b: Flags, parameters: Parameters, *,
    measure: CommonMeasure = "product",
) -> CommonSolution:  # fmt: skip
    """Minimise Eq. 8. ``is_salient_a`` and ``is_salient_b`` (P, K) or (P,) flag the salient phrases S and S'."""
    a, b = as_pair_columns(is_salient_a, graph, seeds), as_pair_columns(is_salient_b, graph, seeds)
    problem = CommonProblem(a, b, parameters.lambda_, measure)
    solution = solve_alternating(graph, seeds, problem, np.zeros(a.shape, dtype=bool), parameters)
    return CommonSolution(
        solution, solution.y, problem.compute_scores(solution.f), problem.compute_threshold(solution.f)
    )


def as_pair_columns(flags: Flags, graph: Subgraph, seeds: Seeds) -> Flags:
    """Return flags (P,) or (P, K) as (P, K); raise ValueError if they do not fit the graph and the seeds."""
    array = np.asarray(flags, dtype=bool)
    array = array[:, np.newaxis] if array.ndim == 1 else array
    if array.shape != (graph.phrase_count, seeds.pair_count):
        raise ValueError(f"flags of shape {array.shape} for {graph.phrase_count} phrases and {seeds.pair_count} pairs")
    return array
