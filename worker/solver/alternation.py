"""The outer loop of Algorithm 1: relax with the selection fixed, select again, until it converges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from worker.solver.parameters import Parameters
from worker.solver.relaxation import Relaxation, RelaxationState, has_settled
from worker.solver.seeds import Seeds
from worker.solver.subgraph import Flags, Floats, Indices, Subgraph


class SelectionProblem(Protocol):
    """The part in which the common and the distinct problem differ. Selections have shape (P, K) or (P, 2K)."""

    def fix_selection(self, y: Flags) -> None:
        """Use this selection in ``update_relevance`` from now on."""

    def update_relevance(self, s: Floats, f: Floats) -> None:
        """Write f (P, 2K) from s = S g (P, 2K) in place."""

    def select_phrases(self, f: Floats) -> Flags:
        """Return the selection that f (P, 2K) allows under the constraints."""

    def sum_selected_scores(self, y: Flags, f: Floats) -> Floats:
        """Return the sum of the selected scores of each pair, (K,): the term that lambda weighs."""


@dataclass(eq=False)
class Solution:
    """A settled state of K pairs."""

    f: Floats
    """Relevance of phrases, (P, 2K)."""
    g: Floats
    """Relevance of documents, (N, 2K)."""
    y: Flags
    """The selection: (P, K) for the common problem, (P, 2K) for the distinct one."""
    objectives: list[Floats]
    """The objective of every pair (K,) after each outer round; a settled pair repeats its last."""
    inner_steps: Indices
    """Steps of the longest inner loop of each pair, (K,)."""
    outer_rounds: Indices
    """Outer rounds of each pair, (K,)."""


def solve_alternating(
    graph: Subgraph, seeds: Seeds, problem: SelectionProblem, y: Flags, parameters: Parameters
) -> Solution:
    """Minimise Eq. 8 or Eq. 9 from zero vectors and the empty selection ``y``.

    A pair ends when its selection stays, when its objective settles, or after ``max_outer`` rounds.
    The selection step can raise the objective, so selections may also repeat in a cycle: a selection
    that came up before, like the limit of rounds, ends the pair in the best state so far.
    """
    pairs, lam = seeds.pair_count, parameters.lambda_
    relaxation, state = Relaxation(graph, seeds, parameters.alpha), RelaxationState.create_zeros(graph, seeds)
    live = np.ones(pairs, dtype=bool)
    inner_steps, outer_rounds = np.zeros(pairs, dtype=np.int64), np.zeros(pairs, dtype=np.int64)
    earlier: list[set[bytes]] = [{_selection_key(y, k, pairs)} for k in range(pairs)]
    best, best_y, best_value = state.copy(), y.copy(), np.full(pairs, np.inf)
    objectives: list[Floats] = []
    for number in range(1, parameters.max_outer + 1):
        problem.fix_selection(y)
        steps = relaxation.run_until_settled(
            state, problem.update_relevance, parameters.tolerance, parameters.max_inner, live
        )
        np.maximum(inner_steps, steps, out=inner_steps)
        outer_rounds[live] = number
        chosen = np.where(_widen_to_columns(live, y), problem.select_phrases(state.f), y)
        value = 0.5 * state.loss - lam * problem.sum_selected_scores(chosen, state.f)
        objectives.append(value)
        better = live & (value <= best_value)
        best.copy_pairs(state, better)
        np.copyto(best_y, chosen, where=_widen_to_columns(better, y))
        np.copyto(best_value, value, where=better)
        stays = np.array([bool((chosen[:, k::pairs] == y[:, k::pairs]).all()) for k in range(pairs)], dtype=bool)
        ends = live & (stays | (lam == 0))
        if number > 1:
            ends |= live & has_settled(objectives[-2], value, parameters.tolerance)
        y = chosen
        repeats = np.array([_selection_key(y, k, pairs) in earlier[k] for k in range(pairs)], dtype=bool)
        falls_back = live & ~ends & (repeats | (number == parameters.max_outer))
        state.copy_pairs(best, falls_back)
        np.copyto(y, best_y, where=_widen_to_columns(falls_back, y))
        np.copyto(objectives[-1], best_value, where=falls_back)
        live &= ~(ends | falls_back)
        if not live.any():
            break
        for k in np.flatnonzero(live):
            earlier[k].add(_selection_key(y, int(k), pairs))
    return Solution(state.f, state.g, y, objectives, inner_steps, outer_rounds)


def _selection_key(y: Flags, k: int, pairs: int) -> bytes:
    """Return the selection of pair ``k`` as bytes, to recognise one that comes up again."""
    return y[:, k::pairs].tobytes()


def _widen_to_columns(pairs: Flags, y: Flags) -> Flags:
    """Repeat flags of pairs (K,) for the columns of y, of which there are K or 2K."""
    return pairs if y.shape[1] == pairs.size else np.concatenate([pairs, pairs])
