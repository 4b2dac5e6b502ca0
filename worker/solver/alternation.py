"""The outer loop of Algorithm 1: relax with the selection fixed, select anew, until it settles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from worker.solver.parameters import Parameters
from worker.solver.relaxation import Relaxation, State, Watch, settled
from worker.solver.seeds import Seeds
from worker.solver.subgraph import Flags, Floats, Indices, Subgraph


class Problem(Protocol):
    """What tells the common problem from the distinct one. Selections have shape (P, K) or (P, 2K)."""

    def fix(self, y: Flags) -> None:
        """Use this selection in ``update`` from now on."""

    def update(self, s: Floats, f: Floats) -> None:
        """f (P, 2K) from s = S g, in place."""

    def select(self, f: Floats) -> Flags:
        """The selection under the constraints, given f."""

    def gain(self, y: Flags, f: Floats) -> Floats:
        """The sum of the selected scores of each pair, (K,): what lambda weighs."""


@dataclass(eq=False)
class Solution:
    """A settled state of K pairs."""

    f: Floats
    """(P, 2K)."""
    g: Floats
    """(N, 2K)."""
    y: Flags
    """(P, K) for the common problem, (P, 2K) for the distinct one."""
    objectives: list[Floats]
    """The objective of every pair (K,) after each outer round; a settled pair repeats its last."""
    inner: Indices
    """The longest inner loop of each pair, (K,)."""
    outer: Indices
    """Outer rounds of each pair, (K,)."""


def alternate(
    graph: Subgraph, seeds: Seeds, problem: Problem, y: Flags, parameters: Parameters, watch: Watch | None = None
) -> Solution:
    """Minimise Eq. 8 or Eq. 9 from zero vectors and the selection ``y`` (nothing).

    A pair ends when its selection stays, when its objective settles, or after ``max_outer`` rounds.
    The selection step can raise the objective, so selections may also go round in a circle: one
    that came up before ends the pair in the best state seen, as does the limit.
    """
    pairs, lam = seeds.pairs, parameters.lambda_
    relaxation, state = Relaxation(graph, seeds, parameters.alpha), State.zero(graph, seeds)
    live = np.ones(pairs, dtype=bool)
    inner, outer = np.zeros(pairs, dtype=np.int64), np.zeros(pairs, dtype=np.int64)
    seen: list[set[bytes]] = [{_key(y, k, pairs)} for k in range(pairs)]
    best, best_y, best_value = state.copy(), y.copy(), np.full(pairs, np.inf)
    objectives: list[Floats] = []
    for number in range(1, parameters.max_outer + 1):
        problem.fix(y)
        steps = relaxation.run(state, problem.update, parameters.tolerance, parameters.max_inner, live, watch)
        np.maximum(inner, steps, out=inner)
        outer[live] = number
        chosen = np.where(_wide(live, y), problem.select(state.f), y)
        value = 0.5 * state.loss - lam * problem.gain(chosen, state.f)
        objectives.append(value)
        better = live & (value <= best_value)
        best.keep(state, better)
        np.copyto(best_y, chosen, where=_wide(better, y))
        np.copyto(best_value, value, where=better)
        stays = np.array([bool((chosen[:, k::pairs] == y[:, k::pairs]).all()) for k in range(pairs)], dtype=bool)
        ends = live & (stays | (lam == 0))
        if number > 1:
            ends |= live & settled(objectives[-2], value, parameters.tolerance)
        y = chosen
        circles = np.array([_key(y, k, pairs) in seen[k] for k in range(pairs)], dtype=bool)
        falls_back = live & ~ends & (circles | (number == parameters.max_outer))
        state.keep(best, falls_back)
        np.copyto(y, best_y, where=_wide(falls_back, y))
        np.copyto(objectives[-1], best_value, where=falls_back)
        live &= ~(ends | falls_back)
        if not live.any():
            break
        for k in np.flatnonzero(live):
            seen[k].add(_key(y, int(k), pairs))
    return Solution(state.f, state.g, y, objectives, inner, outer)


def _key(y: Flags, k: int, pairs: int) -> bytes:
    return y[:, k::pairs].tobytes()


def _wide(pairs: Flags, y: Flags) -> Flags:
    """Flags of pairs (K,) for the columns of y (K or 2K of them)."""
    return pairs if y.shape[1] == pairs.size else np.concatenate([pairs, pairs])
