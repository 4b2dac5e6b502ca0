"""The calibrated scale: relevance measured against an average salient phrase of its side.

Relevance as Eq. 7 leaves it is about 0.01 to 0.1, so ``ln(1 + f f')`` is nearly ``f f'`` and its mean
is that of the few phrases found in both texts. On the calibrated scale relevance is
``u = kappa f / mean of f over the side's salient phrases``. The means are frozen from the solution
with lambda = 0. In the joint problems the graph terms are written in u as well: L is quadratic in
(f, g, g0) together, so ``(kappa / m)^2 L(f, g; g0) = L(u, v; kappa g0 / m)``. The re-derived update
rules are therefore the printed ones with g0 (and the offsets) multiplied by ``kappa / m``, and
lambda and gamma are numbers without a unit: gamma = kappa is the relevance of an average phrase.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from worker.solver.paper_common import compute_column_means
from worker.solver.parameters import Parameters
from worker.solver.propagation import Relevance, propagate_exactly, propagate_iteratively
from worker.solver.seeds import Seeds
from worker.solver.subgraph import Flags, Floats, Subgraph

MIN_LOG_MARGIN = -50.0
"""Used as the logarithm of 0: far below any real margin, but finite."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """Frozen means of K pairs and the seeds that put their relevance on the calibrated scale."""

    seeds: Seeds
    means: Floats
    """Mean relevance of the salient phrases at lambda = 0, before scaling, shape (2K,)."""
    factors: Floats
    """Factors from unscaled to calibrated relevance, shape (2K,); 1 where there is no kappa or no relevance."""
    relevance: Relevance
    """The solution with lambda = 0, on the calibrated scale; exact where the graph is small."""
    unscaled_relevance: Relevance
    """The solution with lambda = 0, before scaling."""

    def divide_by_mean(self, relevance: Floats) -> Floats:
        """Return calibrated relevance f (P, 2K) in units of an average salient phrase of its side."""
        unit = self.means * self.factors
        return np.divide(relevance, unit, out=np.zeros_like(relevance), where=unit > 0)


def calibrate_relevance(
    graph: Subgraph, seeds: Seeds, is_salient_a: Flags, is_salient_b: Flags, parameters: Parameters
) -> Calibration:
    """Solve with lambda = 0 and freeze the means over S (P, K) and S' (P, K); without kappa nothing is scaled."""
    p = parameters
    if graph.is_dense:  # the exact solution takes half the time, and its shares leave no rest
        unscaled = propagate_exactly(graph, seeds, p.alpha)
    else:
        unscaled = propagate_iteratively(graph, seeds, p.alpha, tolerance=p.tolerance, max_steps=p.max_inner)
    means = compute_column_means(unscaled.f, np.concatenate([is_salient_a, is_salient_b], axis=1))
    factors = np.ones_like(means)
    if p.kappa is None:
        return Calibration(seeds, means, factors, unscaled, unscaled)
    np.divide(p.kappa, means, out=factors, where=means > 0)
    relevance = Relevance(unscaled.f * factors, unscaled.g * factors, unscaled.iterations)
    return Calibration(seeds.scale_columns(factors), means, factors, relevance, unscaled)


def compute_log_margin(scores: Floats, threshold: Floats) -> Floats:
    """Return ``ln(score / threshold)``, (P, K), of scores (P, K) and thresholds (K,): above 0 where it is reached."""
    positive = (scores > 0) & (threshold > 0)
    ratio = np.divide(scores, threshold, out=np.ones_like(scores), where=positive)
    return np.where(positive, np.clip(np.log(ratio), MIN_LOG_MARGIN, -MIN_LOG_MARGIN), MIN_LOG_MARGIN)
