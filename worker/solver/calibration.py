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

from worker.solver.common_problem import mean_over
from worker.solver.parameters import Parameters
from worker.solver.propagation import Relevance, propagate, propagate_exactly
from worker.solver.seeds import Seeds
from worker.solver.subgraph import Flags, Floats, Subgraph

FLOOR = -50.0
"""The log of nothing: far below any real margin, yet a number."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """Frozen means of K pairs and the seeds that put their relevance on the scale."""

    seeds: Seeds
    means: Floats
    """Mean relevance of the salient phrases at lambda = 0, before scaling, shape (2K,)."""
    factors: Floats
    """What relevance was multiplied by, shape (2K,); 1 where there is no kappa or no relevance."""
    alone: Relevance
    """The solution with lambda = 0, on the scale; exact where the graph is small."""
    unscaled: Relevance
    """The same before scaling."""

    def relative(self, f: Floats) -> Floats:
        """Scaled relevance (P, 2K) in units of an average salient phrase of its side."""
        unit = self.means * self.factors
        return np.divide(f, unit, out=np.zeros_like(f), where=unit > 0)


def calibrate(graph: Subgraph, seeds: Seeds, in_a: Flags, in_b: Flags, parameters: Parameters) -> Calibration:
    """Freeze the means over S (P, K) and S' (P, K); without kappa the seeds stay as they are."""
    p = parameters
    if graph.dense:  # the exact solution takes half the time, and its shares leave no rest
        found = propagate_exactly(graph, seeds, p.alpha)
    else:
        found = propagate(graph, seeds, p.alpha, tolerance=p.tolerance, limit=p.max_inner)
    means = mean_over(found.f, np.concatenate([in_a, in_b], axis=1))
    factors = np.ones_like(means)
    if p.kappa is None:
        return Calibration(seeds, means, factors, found, found)
    np.divide(p.kappa, means, out=factors, where=means > 0)
    alone = Relevance(found.f * factors, found.g * factors, found.iterations)
    return Calibration(seeds.scaled(factors), means, factors, alone, found)


def log_margin(scores: Floats, cut: Floats) -> Floats:
    """``ln(score / cut)``: how far above (> 0) or below its cut (K,) each score (P, K) is."""
    some = (scores > 0) & (cut > 0)
    ratio = np.divide(scores, cut, out=np.ones_like(scores), where=some)
    return np.where(some, np.clip(np.log(ratio), FLOOR, -FLOOR), FLOOR)
