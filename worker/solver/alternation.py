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

    def fix_selection(self, selection: Flags) -> None:
        """Use this selection in ``update_relevance`` from now on."""

    def update_relevance(self, propagated: Floats, relevance: Floats) -> None:
        """Write relevance f (P, 2K) from what was propagated, s = S g (P, 2K), in place."""

    def flag_selected_phrases(self, relevance: Floats) -> Flags:
        """Return the selection that relevance f (P, 2K) allows under the constraints."""

    def sum_selected_scores(self, selection: Flags, relevance: Floats) -> Floats:
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
    graph: Subgraph, seeds: Seeds, problem: SelectionProblem, selection: Flags, parameters: Parameters
) -> Solution:
    """Minimise Eq. 8 or Eq. 9 from zero vectors and the empty ``selection``.

    A pair ends when its selection stays, when its objective settles, or after ``max_outer`` rounds.
    The selection step can raise the objective, so selections may also repeat in a cycle: a selection
    that came up before, like the limit of rounds, ends the pair in the best state so far.
    """
    pairs, lam = seeds.pair_count, parameters.lambda_
    relaxation, state = Relaxation(graph, seeds, parameters.alpha), RelaxationState.create_zeros(graph, seeds)
    live = np.ones(pairs, dtype=bool)
    inner_steps, outer_rounds = np.zeros(pairs, dtype=np.int64), np.zeros(pairs, dtype=np.int64)
    earlier: list[set[bytes]] = [{_make_selection_key(selection, k, pairs)} for k in range(pairs)]
    best, best_y, best_value = state.copy(), selection.copy(), np.full(pairs, np.inf)
    objectives: list[Floats] = []
    for number in range(1, parameters.max_outer + 1):
        problem.fix_selection(selection)
        steps = relaxation.relax_and_count_steps(
            state, problem.update_relevance, parameters.tolerance, parameters.max_inner, live
        )
        np.maximum(inner_steps, steps, out=inner_steps)
        outer_rounds[live] = number
        chosen = np.where(_widen_to_columns(live, selection), problem.flag_selected_phrases(state.f), selection)
        value = 0.5 * state.loss - lam * problem.sum_selected_scores(chosen, state.f)
        objectives.append(value)
        better = live & (value <= best_value)
        best.copy_pairs(state, better)
        np.copyto(best_y, chosen, where=_widen_to_columns(better, selection))
        np.copyto(best_value, value, where=better)
        stays = np.array(
            [bool((chosen[:, k::pairs] == selection[:, k::pairs]).all()) for k in range(pairs)], dtype=bool
        )
        ends = live & (stays | (lam == 0))
        if number > 1:
            ends |= live & has_settled(objectives[-2], value, parameters.tolerance)
        selection = chosen
        repeats = np.array([_make_selection_key(selection, k, pairs) in earlier[k] for k in range(pairs)], dtype=bool)
        falls_back = live & ~ends & (repeats | (number == parameters.max_outer))
        state.copy_pairs(best, falls_back)
        np.copyto(selection, best_y, where=_widen_to_columns(falls_back, selection))
        np.copyto(objectives[-1], best_value, where=falls_back)
        live &= ~(ends | falls_back)
        if not live.any():
            break
        for k in np.flatnonzero(live):
            earlier[k].add(_make_selection_key(selection, int(k), pairs))
    return Solution(state.f, state.g, selection, objectives, inner_steps, outer_rounds)


def _make_selection_key(selection: Flags, pair_number: int, pair_count: int) -> bytes:
    """Return the selection of pair ``pair_number`` as bytes, to recognise one that comes up again."""
    return selection[:, pair_number::pair_count].tobytes()


def _widen_to_columns(pair_flags: Flags, selection: Flags) -> Flags:
    """Repeat flags of pairs (K,) for the columns of a selection, of which there are K or 2K."""
    return pair_flags if selection.shape[1] == pair_flags.size else np.concatenate([pair_flags, pair_flags])
