"""Relevance on a scale on which an average salient phrase has the same value on both sides."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.graphs import PairGraph, make_random_pair, pair_graphs
from worker.solver.calibration import MIN_LOG_MARGIN, calibrate_relevance, compute_log_margin
from worker.solver.paper_common import CommonUpdate, compute_column_means, solve_common
from worker.solver.parameters import Parameters
from worker.solver.propagation import propagate_exactly
from worker.solver.seeds import SeedSide, build_pair_seeds

STRICT = Parameters(delta=0.0, tolerance=1e-13, kappa=3.0)


def get_columns(pair: PairGraph) -> tuple[np.ndarray, np.ndarray]:
    return pair.in_a[:, np.newaxis], pair.in_b[:, np.newaxis]


@given(pair_graphs(), st.sampled_from([0.5, 1.0, 100.0]))
def test_an_average_salient_phrase_has_relevance_kappa_after_calibration(pair: PairGraph, kappa: float) -> None:
    p = STRICT.with_options(kappa=kappa)
    in_a, in_b = get_columns(pair)
    graph = pair.build_graph()
    calibration = calibrate_relevance(graph, pair.build_seeds(p), in_a, in_b, p)
    f = propagate_exactly(graph, calibration.seeds, p.alpha).f
    means = compute_column_means(f, np.concatenate([in_a, in_b], axis=1))
    assert np.allclose(means[calibration.means > 0], kappa, rtol=1e-6)
    relative = compute_column_means(calibration.divide_by_mean(f), np.concatenate([in_a, in_b], axis=1))
    assert np.allclose(relative[calibration.means > 0], 1.0, rtol=1e-6)


def test_without_kappa_nothing_is_scaled() -> None:
    pair = make_random_pair(1)
    p = STRICT.with_options(kappa=None)
    seeds = pair.build_seeds(p)
    calibration = calibrate_relevance(pair.build_graph(), seeds, *get_columns(pair), p)
    assert calibration.seeds is seeds and (calibration.factors == 1).all()


@settings(max_examples=100)
@given(s=st.floats(0, 1), other=st.floats(0, 1), a=st.floats(1, 1e3), b=st.floats(1, 1e3), lam=st.floats(0.01, 1))
def test_scaling_the_seeds_is_the_update_of_the_scaled_objective(
    s: float, other: float, a: float, b: float, lam: float
) -> None:
    """The minimiser over f of (a^2/2)(f - s)^2 - lam ln(1 + a f b f') is the printed rule in a f."""
    out = np.empty((1, 1))
    CommonUpdate((1, 1))(np.array([[a * s]]), np.array([[b * other]]), np.array([[lam]]), out)
    f = out[0, 0] / a
    slope = a**2 * (f - s) - lam * a * b * other / (1 + a * f * b * other)
    assert abs(slope) <= 1e-9 * (a**2 * max(f, s) + lam * a * b * other + 1)


def test_calibration_makes_the_selection_independent_of_the_size_of_g0() -> None:
    for seed in range(20):
        pair = make_random_pair(seed, phrases=20, documents=15, density=0.2)
        graph, (in_a, in_b) = pair.build_graph(), get_columns(pair)
        if not (in_a.any() and in_b.any()):
            continue
        seeds = pair.build_seeds(STRICT)
        once = calibrate_relevance(graph, seeds, in_a, in_b, STRICT)
        again = calibrate_relevance(graph, seeds.scale_columns(np.array([7.0, 0.3])), in_a, in_b, STRICT)
        one, other = (solve_common(graph, c.seeds, in_a, in_b, STRICT) for c in (once, again))
        assert np.allclose(one.solution.f, other.solution.f, rtol=1e-8)
        assert np.array_equal(one.selected, other.selected)


def test_a_side_without_relevance_is_left_at_zero() -> None:
    pair = PairGraph(np.zeros((2, 2)), 0, 1, np.array([True, True]), np.array([True, False]))
    calibration = calibrate_relevance(pair.build_graph(), pair.build_seeds(STRICT), *get_columns(pair), STRICT)
    assert (calibration.factors == 1).all()
    assert (calibration.divide_by_mean(np.zeros((2, 2))) == 0).all()


def test_offsets_are_scaled_with_the_seeds() -> None:
    pair = make_random_pair(3)
    graph = pair.build_graph()
    seeds = build_pair_seeds(
        graph, SeedSide([0]), SeedSide([1]), alpha=100.0, delta=0.1, background=np.full(graph.phrase_count, 9.0)
    )
    doubled = seeds.scale_columns(np.array([2.0, 3.0]))
    expected = propagate_exactly(graph, seeds, 100.0).f * [2.0, 3.0]
    assert np.allclose(propagate_exactly(graph, doubled, 100.0).f, expected, rtol=1e-12)


def test_a_margin_is_positive_above_the_threshold_and_finite_everywhere() -> None:
    scores, cut = np.array([[0.2, 0.0], [0.05, 1.0], [0.0, -1.0]]), np.array([0.1, 0.0])
    calibration = compute_log_margin(scores, cut)
    assert calibration[:, 0] == pytest.approx([np.log(2), -np.log(2), MIN_LOG_MARGIN])
    assert (calibration[:, 1] == MIN_LOG_MARGIN).all()
