"""Properties of both problems on every graph."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.support.graphs import PairGraph, make_random_pair, pair_graphs, solver_parameters
from worker.solver.alternation import SelectionProblem
from worker.solver.paper_common import CommonProblem, CommonSolution, compute_commonality, solve_common
from worker.solver.paper_distinct import DistinctProblem, DistinctSolution, compute_distinction, solve_distinct
from worker.solver.parameters import PAPER, Parameters
from worker.solver.relaxation import Relaxation, RelaxationState
from worker.solver.seeds import SeedSide, build_pair_seeds
from worker.solver.subgraph import Subgraph

TIGHT = Parameters(tolerance=1e-14, max_inner=500)


def solve_both(pair: PairGraph, p: Parameters) -> tuple[CommonSolution, DistinctSolution]:
    graph, seeds = pair.build_graph(), pair.build_seeds(p)
    common = solve_common(graph, seeds, pair.in_a, pair.in_b, p)
    return common, solve_distinct(graph, seeds, pair.in_a, pair.in_b, common.selected, p)


def is_clear_cut(common: CommonSolution, distinct: DistinctSolution) -> bool:
    """Return whether no score is so close to its threshold that rounding decides."""
    gaps = [
        common.scores - common.threshold,
        distinct.scores - distinct.threshold_a,
        -distinct.scores - distinct.threshold_b,
    ]
    return all((np.abs(gap) > 1e-7).all() for gap in gaps)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["common", "distinct"])
@settings(max_examples=200, deadline=None)
@given(pair=pair_graphs(), p=solver_parameters())
def test_the_objective_never_rises_while_the_selection_is_fixed(name: str, pair: PairGraph, p: Parameters) -> None:
    graph, seeds = pair.build_graph(), pair.build_seeds(p)
    in_a, in_b = pair.in_a[:, np.newaxis], pair.in_b[:, np.newaxis]
    problem: SelectionProblem
    if name == "common":
        problem, y = CommonProblem(in_a, in_b, p.lambda_, "product"), in_a | in_b
    else:
        nothing = np.zeros_like(in_a)
        problem = DistinctProblem(in_a, in_b, nothing, p, "ratio")
        y = np.concatenate([in_a & ~in_b, in_b & ~in_a], axis=1)
    problem.fix_selection(y)
    values: list[float] = []

    relaxation, state = Relaxation(graph, seeds, p.alpha), RelaxationState.create_zeros(graph, seeds)
    for _ in range(30):
        relaxation.run_step(state, problem.update_relevance)
        values.append(float(0.5 * state.loss[0] - p.lambda_ * problem.sum_selected_scores(y, state.f)[0]))
    rounding = 1e-13 * (1 + p.alpha) * float((seeds.g0**2).sum())
    assert (np.diff(values) <= rounding).all()


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(pair_graphs(), solver_parameters())
def test_everything_is_finite_and_not_negative(pair: PairGraph, p: Parameters) -> None:
    common, distinct = solve_both(pair, p)
    for solution in (common.solution, distinct.solution):
        for array in (solution.f, solution.g):
            assert np.isfinite(array).all() and (array >= 0).all()
        assert np.isfinite(solution.objectives).all()
        assert 1 <= solution.outer_rounds[0] <= p.max_outer and 1 <= solution.inner_steps[0] <= p.max_inner
    assert np.isfinite(common.scores).all() and np.isfinite(distinct.scores).all()


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(pair_graphs(), solver_parameters())
def test_the_three_sets_are_disjoint_and_salient(pair: PairGraph, p: Parameters) -> None:
    common, distinct = solve_both(pair, p)
    c, qa, qb = common.selected[:, 0], distinct.selected_a[:, 0], distinct.selected_b[:, 0]
    assert not (c & qa).any() and not (c & qb).any() and not (qa & qb).any()
    assert not (c & ~(pair.in_a | pair.in_b)).any()
    assert not (qa & ~pair.in_a).any() and not (qb & ~pair.in_b).any()


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(pair_graphs(), st.sampled_from([0.0, 0.1]))
def test_swapping_the_sides_swaps_the_answer(pair: PairGraph, delta: float) -> None:
    p = TIGHT.with_options(delta=delta)
    common, distinct = solve_both(pair, p)
    assume(is_clear_cut(common, distinct))
    other_common, other_distinct = solve_both(pair.swap_sides(), p)
    assert np.array_equal(common.selected, other_common.selected)
    assert np.array_equal(distinct.selected_a, other_distinct.selected_b)
    assert np.array_equal(distinct.selected_b, other_distinct.selected_a)
    assert np.allclose(common.solution.f, other_common.solution.f[:, ::-1], rtol=1e-6, atol=1e-9)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(pair_graphs(), st.randoms(use_true_random=False), st.sampled_from([0.0, 0.1]))
def test_relabelling_phrases_and_documents_changes_nothing(pair: PairGraph, random: object, delta: float) -> None:
    p = TIGHT.with_options(delta=delta)
    rng = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]
    rows, columns = rng.permutation(pair.weights.shape[0]), rng.permutation(pair.weights.shape[1])
    common, distinct = solve_both(pair, p)
    assume(is_clear_cut(common, distinct))
    new_common, new_distinct = solve_both(pair.relabel(rows, columns), p)
    assert np.array_equal(common.selected[rows], new_common.selected)
    assert np.array_equal(distinct.selected_a[rows], new_distinct.selected_a)
    assert np.allclose(common.solution.f[rows], new_common.solution.f, rtol=1e-9, atol=1e-12)


@given(pair_graphs())
def test_a_document_compared_with_itself_has_nothing_distinct(pair: PairGraph) -> None:
    same = PairGraph(pair.weights, pair.a, pair.a, pair.in_a, pair.in_a)
    _, distinct = solve_both(same, PAPER)
    assert not distinct.selected_a.any() and not distinct.selected_b.any()


def test_equal_phrases_are_all_common_although_their_mean_is_rounded() -> None:
    for size in range(1, 30):
        weights = np.full((size, 2), 1.7)
        every = np.ones(size, dtype=bool)
        common, _ = solve_both(PairGraph(weights, 0, 1, every, every), PAPER)
        assert common.selected.all()


def test_nothing_in_common_selects_nothing() -> None:
    pair = PairGraph(np.eye(2), 0, 1, np.array([True, False]), np.array([False, True]))
    common, distinct = solve_both(pair, Parameters(delta=0.0))
    assert not common.selected.any()
    assert distinct.selected_a[:, 0].tolist() == [True, False]
    assert distinct.selected_b[:, 0].tolist() == [False, True]


@pytest.mark.parametrize("shape", [(0, 2), (3, 2)])
def test_a_graph_without_edges_gives_an_empty_answer(shape: tuple[int, int]) -> None:
    every = np.ones(shape[0], dtype=bool)
    common, distinct = solve_both(PairGraph(np.zeros(shape), 0, 1, every, every), PAPER)
    assert not common.selected.any() and not distinct.selected_a.any() and not distinct.selected_b.any()


def test_without_a_document_there_is_no_relevance() -> None:
    graph = Subgraph.from_edges([], [], [], [1.0, 2.0], [])
    seeds = build_pair_seeds(graph, SeedSide([]), SeedSide([]), alpha=100.0)
    every = np.ones(2, dtype=bool)
    assert not solve_common(graph, seeds, every, every, PAPER).selected.any()


def test_an_empty_side_leaves_the_other_side_distinct() -> None:
    pair = make_random_pair(4)
    nothing = np.zeros_like(pair.in_a)
    _, distinct = solve_both(PairGraph(pair.weights, pair.a, pair.b, pair.in_a, nothing), Parameters(delta=0.0))
    assert not distinct.selected_b.any()


def test_the_joint_step_pulls_selected_phrases_further_apart() -> None:
    pair = make_random_pair(1, phrases=30, documents=20, density=0.2)
    alone = solve_both(pair, Parameters(lambda_=0.0))[1]
    joint = solve_both(pair, Parameters(lambda_=0.1))[1]
    both = alone.selected_a & joint.selected_a
    assert both.any()
    assert (joint.scores[both] > alone.scores[both]).all()


def test_measures_are_those_of_the_paper() -> None:
    f, other = np.array([[0.5], [0.1]]), np.array([[0.5], [0.9]])
    assert compute_commonality(f, other)[:, 0] == pytest.approx([np.log(1.25), np.log(1.09)])
    assert compute_commonality(f, other, "sum")[:, 0] == pytest.approx([1.0, 1.0])
    assert compute_distinction(f, other, 1.0)[:, 0] == pytest.approx([0.0, np.log(1.1 / 1.9)])
    assert compute_distinction(f, other, 1.0, "difference")[:, 0] == pytest.approx([0.0, -0.8])


def test_flags_of_the_wrong_length_are_refused() -> None:
    pair = make_random_pair(2)
    with pytest.raises(ValueError, match="flags of shape"):
        solve_common(pair.build_graph(), pair.build_seeds(PAPER), pair.in_a[:-1], pair.in_b, PAPER)


@pytest.mark.parametrize("name", ["common", "distinct"])
def test_a_step_on_a_dense_graph_allocates_nothing_of_the_size_of_the_documents(name: str) -> None:
    pair = make_random_pair(2, phrases=16, documents=2000, density=0.1)
    graph, seeds = pair.build_graph(), pair.build_seeds(PAPER)
    assert graph.is_dense
    in_a, in_b = pair.in_a[:, np.newaxis], pair.in_b[:, np.newaxis]
    problem: SelectionProblem = CommonProblem(in_a, in_b, 0.1, "product")
    if name == "distinct":
        problem = DistinctProblem(in_a, in_b, np.zeros_like(in_a), PAPER, "ratio")
    relaxation, state = Relaxation(graph, seeds, PAPER.alpha), RelaxationState.create_zeros(graph, seeds)
    relaxation.run_step(state, problem.update_relevance)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        for _ in range(10):
            relaxation.run_step(state, problem.update_relevance)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak - before < state.g[:, 0].nbytes
