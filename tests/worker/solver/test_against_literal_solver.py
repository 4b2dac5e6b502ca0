"""The core computes Algorithm 1, to nine digits, step for step."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from tests.support import literal_solver
from tests.support.graphs import PairGraph, make_random_pair, pair_graphs, solver_parameters
from worker.solver.paper_common import solve_common
from worker.solver.paper_distinct import solve_distinct
from worker.solver.parameters import PAPER, Parameters


def solve_literally(
    pair: PairGraph, p: Parameters, common: set[int] | None
) -> tuple[literal_solver.LiteralState, list[int], list[int]]:
    outer = p.max_outer if p.lambda_ > 0 else 1  # without lambda a second round could change nothing
    literal_settings = literal_solver.LiteralSettings(p.alpha, p.lambda_, p.gamma, p.delta, p.max_inner, outer)
    s_a, s_b = set(np.flatnonzero(pair.in_a).tolist()), set(np.flatnonzero(pair.in_b).tolist())
    return literal_solver.solve(pair.weights.tolist(), pair.a, pair.b, s_a, s_b, literal_settings, common)


def is_close(ours: np.ndarray, theirs: list[float]) -> bool:
    return bool(np.allclose(ours, theirs, rtol=1e-9, atol=1e-12))


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(pair_graphs(), solver_parameters())
def test_the_common_problem_is_solved_as_printed(pair: PairGraph, p: Parameters) -> None:
    ours = solve_common(pair.build_graph(), pair.build_seeds(p), pair.in_a, pair.in_b, p)
    state, y, _ = solve_literally(pair, p, None)
    assert len(ours.solution.objectives) == len(state.objective)
    assert np.allclose(np.ravel(ours.solution.objectives)[:-1], state.objective[:-1], rtol=1e-9, atol=1e-10)
    assert ours.selected[:, 0].tolist() == [bool(v) for v in y]
    assert is_close(ours.solution.f[:, 0], state.f) and is_close(ours.solution.f[:, 1], state.fp)
    assert is_close(ours.solution.g[:, 0], state.g) and is_close(ours.solution.g[:, 1], state.gp)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(pair_graphs(), solver_parameters())
def test_the_distinct_problem_is_solved_as_printed(pair: PairGraph, p: Parameters) -> None:
    common = {int(i) for i in np.flatnonzero(pair.in_a & pair.in_b)[::2]}
    flags = np.isin(np.arange(pair.in_a.size), list(common))
    ours = solve_distinct(pair.build_graph(), pair.build_seeds(p), pair.in_a, pair.in_b, flags, p)
    state, y, yp = solve_literally(pair, p, common)
    assert ours.selected_a[:, 0].tolist() == [bool(v) for v in y]
    assert ours.selected_b[:, 0].tolist() == [bool(v) for v in yp]
    assert len(ours.solution.objectives) == len(state.objective)
    assert np.allclose(np.ravel(ours.solution.objectives)[:-1], state.objective[:-1], rtol=1e-9, atol=1e-10)
    assert is_close(ours.solution.f[:, 0], state.f) and is_close(ours.solution.f[:, 1], state.fp)
    assert is_close(ours.solution.g[:, 0], state.g) and is_close(ours.solution.g[:, 1], state.gp)


def test_the_papers_settings_stay_within_the_papers_iteration_counts() -> None:
    for seed in range(30):
        pair = make_random_pair(seed, phrases=60, documents=40, density=0.1)
        seeds = pair.build_seeds(PAPER)
        common = solve_common(pair.build_graph(), seeds, pair.in_a, pair.in_b, PAPER)
        distinct = solve_distinct(pair.build_graph(), seeds, pair.in_a, pair.in_b, common.selected, PAPER)
        for solution in (common.solution, distinct.solution):
            assert 0 < solution.inner_steps[0] < 50
            assert 0 < solution.outer_rounds[0] < 5
