"""How the outer loop ends: settled, at a fixed point, in a cycle, or at its limit."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.graphs import make_random_pair
from worker.solver.alternation import Solution, solve_alternating
from worker.solver.parameters import Parameters
from worker.solver.propagation import copy_propagated
from worker.solver.subgraph import Flags, Floats

STRICT = Parameters(tolerance=0.0, max_inner=5, max_outer=9)


class ScriptedProblem:
    """A problem with selections and gains that are given in advance."""

    def __init__(self, phrases: int, script: list[tuple[int, float]]) -> None:
        """Each entry is the phrase to select and the gain of doing so; the last one repeats."""
        self.phrases, self.script, self.rounds = phrases, script, 0

    def fix_selection(self, y: Flags) -> None:
        pass

    def update_relevance(self, s: Floats, f: Floats) -> None:
        copy_propagated(s, f)

    def flag_selected_phrases(self, f: Floats) -> Flags:
        self.rounds += 1
        return np.asarray(np.arange(self.phrases) == self._entry()[0])[:, np.newaxis]

    def sum_selected_scores(self, y: Flags, f: Floats) -> Floats:
        return np.array([self._entry()[1]])

    def _entry(self) -> tuple[int, float]:
        return self.script[min(self.rounds, len(self.script)) - 1]


def solve_script(script: list[tuple[int, float]], parameters: Parameters = STRICT) -> tuple[Solution, int]:
    pair = make_random_pair(1)
    graph = pair.build_graph()
    problem = ScriptedProblem(graph.phrase_count, script)
    start = np.zeros((graph.phrase_count, 1), dtype=bool)
    solution = solve_alternating(graph, pair.build_seeds(parameters), problem, start, parameters)
    return solution, problem.rounds


def list_selected(solution: Solution) -> list[int]:
    return np.flatnonzero(solution.y[:, 0]).tolist()


def test_a_selection_that_stays_ends_the_loop() -> None:
    solution, rounds = solve_script([(3, 1.0), (4, 1.0), (4, 1.0), (5, 1.0)])
    assert (rounds, solution.outer_rounds[0], list_selected(solution)) == (3, 3, [4])


def test_a_selection_that_comes_back_ends_the_loop_in_the_best_state_seen() -> None:
    solution, rounds = solve_script([(3, 1.0), (4, 9.0), (5, 2.0), (3, 1.0), (7, 99.0)])
    assert (rounds, solution.outer_rounds[0], list_selected(solution)) == (4, 4, [4])
    assert solution.objectives[-1][0] == pytest.approx(solution.objectives[1][0])


def test_the_limit_ends_the_loop_in_the_best_state_seen() -> None:
    script = [(k, 5.0 if k == 6 else 1.0) for k in range(12)]
    solution, rounds = solve_script(script)
    assert (rounds, solution.outer_rounds[0], list_selected(solution)) == (9, 9, [6])


def test_an_objective_that_settles_ends_the_loop_where_it_is() -> None:
    solution, rounds = solve_script([(3, 1.0), (4, 1.0), (5, 1.0)], STRICT.with_options(tolerance=0.5, max_inner=40))
    assert (rounds, list_selected(solution)) == (2, [4])


def test_without_lambda_one_round_is_enough() -> None:
    solution, rounds = solve_script([(3, 1.0), (4, 1.0)], STRICT.with_options(lambda_=0.0))
    assert (rounds, solution.outer_rounds[0], list_selected(solution)) == (1, 1, [3])
