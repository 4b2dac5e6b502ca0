"""The distinct phrase selection problem (Eq. 9) with its update rules (Eqs. 15 and 16)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from worker.solver.alternation import Solution, solve_alternating
from worker.solver.paper_common import as_pair_columns, compute_column_means, reaches_threshold
from worker.solver.parameters import Parameters
from worker.solver.seeds import Seeds
from worker.solver.subgraph import Flags, Floats, Subgraph

DistinctMeasure = Literal["ratio", "difference"]


def compute_distinction(
    relevance_a: Floats, relevance_b: Floats, gamma: float, measure: DistinctMeasure = "ratio"
) -> Floats:
    """Return Pi of Eq. 5, ``ln((f + gamma) / (f' + gamma))``, or the alternative ``f - f'``."""
    if measure == "difference":
        return relevance_a - relevance_b
    return np.log1p(relevance_a / gamma) - np.log1p(relevance_b / gamma)


class DistinctUpdate:
    """The minimiser over f_i >= 0 of ``1/2 f_i^2 - f_i s_i - w_i ln(f_i + gamma)``, Eq. 15.

    w = lambda (y - y'). With A = (gamma + s) / 2 the printed root is
    ``s + w / (A + sqrt(A^2 + w))``, which is s itself where nothing is selected. Where the root is
    negative the minimiser is 0 (exact for lambda <= gamma^2). It is 0 as well where A^2 + w < 0, for
    then the objective rises everywhere; taking that root as 0 gives ``s + w / A < s - A < 0`` (as
    s < gamma there), so the same clipping serves.
    """

    def __init__(self, shape: tuple[int, int], gamma: float) -> None:
        self._gamma = gamma
        self._half, self._root = np.empty(shape), np.empty(shape)

    def __call__(self, s: Floats, weight: Floats, out: Floats) -> None:
        """Write ``out`` (P, 2K) from s = S g and ``weight = w``; no array is allocated."""
        half, root = self._half, self._root
        np.add(s, self._gamma, out=half)
        np.multiply(half, 0.5, out=half)
        np.multiply(half, half, out=root)
        np.add(root, weight, out=root)
        np.maximum(root, 0.0, out=root)
        np.sqrt(root, out=root)
        np.add(half, root, out=half)
        np.divide(weight, half, out=half)
        np.add(s, half, out=out)
        np.maximum(out, 0.0, out=out)


class DistinctProblem:
    """Selections (P, 2K): y of sides a, then y' of sides b; nothing common may be selected."""

    def __init__(
        self, in_a: Flags, in_b: Flags, common: Flags, parameters: Parameters, measure: DistinctMeasure
    ) -> None:
        self.pair_count = in_a.shape[1]
        self.members = np.concatenate([in_a, in_b], axis=1)
        self.allowed = self.members & ~np.concatenate([common, common], axis=1)
        self.lam, self.gamma, self.measure = parameters.lambda_, parameters.gamma, measure
        self._weight = np.zeros(self.members.shape)
        self._kernel = DistinctUpdate(self.members.shape, self.gamma)

    def fix_selection(self, selection: Flags) -> None:
        k = self.pair_count
        signed = selection.astype(np.float64)
        np.multiply(signed[:, :k] - signed[:, k:], self.lam, out=self._weight[:, :k])
        np.negative(self._weight[:, :k], out=self._weight[:, k:])

    def update_relevance(self, propagated: Floats, relevance: Floats) -> None:
        if self.measure == "difference":
            np.add(propagated, self._weight, out=relevance)
            np.maximum(relevance, 0.0, out=relevance)
        else:
            self._kernel(propagated, self._weight, out=relevance)

    def compute_scores(self, relevance: Floats) -> Floats:
        """Return Pi(d | d') and Pi(d' | d), (P, 2K), of relevance f (P, 2K)."""
        scores = compute_distinction(
            relevance[:, : self.pair_count], relevance[:, self.pair_count :], self.gamma, self.measure
        )
        return np.concatenate([scores, -scores], axis=1)

    def compute_thresholds(self, relevance: Floats) -> Floats:
        """Return the mean of Pi over S, and over S', (2K,). The paper prints Phi for the second by mistake."""
        return compute_column_means(self.compute_scores(relevance), self.members)

    def flag_selected_phrases(self, relevance: Floats) -> Flags:
        return np.asarray(
            reaches_threshold(self.compute_scores(relevance), self.compute_thresholds(relevance)) & self.allowed
        )

    def sum_selected_scores(self, selection: Flags, relevance: Floats) -> Floats:
        columns = np.einsum("ij,ij->j", selection.astype(np.float64), self.compute_scores(relevance))
        return np.asarray(columns[: self.pair_count] + columns[self.pair_count :])


@dataclass(frozen=True, eq=False)
class DistinctSolution:
    """The solved distinct problem of K pairs."""

    solution: Solution
    selected_a: Flags
    """Q, shape (P, K)."""
    selected_b: Flags
    """Q', shape (P, K)."""
    scores: Floats
    """Pi(d | d'), shape (P, K); Pi(d' | d) is its negative."""
    threshold_a: Floats
    """The mean a phrase of Q must reach, shape (K,)."""
    threshold_b: Floats
    """The mean a phrase of Q' must reach, shape (K,)."""


def solve_distinct(
    graph: Subgraph, seeds: Seeds, is_salient_a: Flags, is_salient_b: Flags, common: Flags, parameters: Parameters, *,
    measure: DistinctMeasure = "ratio",
) -> DistinctSolution:  # fmt: skip
    """Minimise Eq. 9. ``common`` (P, K) or (P,) flags C, which stays out of Q and Q'."""
    a, b, c = (as_pair_columns(flags, graph, seeds) for flags in (is_salient_a, is_salient_b, common))
    problem = DistinctProblem(a, b, c, parameters, measure)
    start = np.zeros(problem.members.shape, dtype=bool)
    solution = solve_alternating(graph, seeds, problem, start, parameters)
    k, thresholds = problem.pair_count, problem.compute_thresholds(solution.f)
    scores = problem.compute_scores(solution.f)[:, :k]
    return DistinctSolution(solution, solution.y[:, :k], solution.y[:, k:], scores, thresholds[:k], thresholds[k:])
