from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.graphs import Pair, pairs, random_pair
from worker.solver.calibration import MIN_LOG_MARGIN, calibrate_relevance, compute_log_margin
from worker.solver.common_problem import CommonUpdate, mean_over_members, solve_common
from worker.solver.parameters import Parameters
from worker.solver.propagation import propagate_exactly
from worker.solver.seeds import SeedSide, build_pair_seeds

STRICT = Parameters(delta=0.0, tolerance=1e-13, kappa=3.0)


def columns(pair: Pair) -> tuple[np.ndarray, np.ndarray]:
    return pair.in_a[:, np.newaxis], pair.in_b[:, np.newaxis]


@given(pairs(), st.sampled_from([0.5, 1.0, 100.0]))
def test_an_average_salient_phrase_has_relevance_kappa_on_the_scale(pair: Pair, kappa: float) -> None:
    p = STRICT.with_options(kappa=kappa)
    in_a, in_b = columns(pair)
    graph = pair.graph()
    found = calibrate_relevance(graph, pair.seeds(p), in_a, in_b, p)
    f = propagate_exactly(graph, found.seeds, p.alpha).f
    means = mean_over_members(f, np.concatenate([in_a, in_b], axis=1))
    assert np.allclose(means[found.means > 0], kappa, rtol=1e-6)
    relative = mean_over_members(found.divide_by_mean(f), np.concatenate([in_a, in_b], axis=1))
    assert np.allclose(relative[found.means > 0], 1.0, rtol=1e-6)


def test_without_kappa_nothing_is_scaled() -> None:
    pair = random_pair(1)
    p = STRICT.with_options(kappa=None)
    seeds = pair.seeds(p)
    found = calibrate_relevance(pair.graph(), seeds, *columns(pair), p)
    assert found.seeds is seeds and (found.factors == 1).all()


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


def test_the_scale_makes_the_selection_independent_of_the_size_of_g0() -> None:
    for seed in range(20):
        pair = random_pair(seed, phrases=20, documents=15, density=0.2)
        graph, (in_a, in_b) = pair.graph(), columns(pair)
        if not (in_a.any() and in_b.any()):
            continue
        seeds = pair.seeds(STRICT)
        once = calibrate_relevance(graph, seeds, in_a, in_b, STRICT)
        again = calibrate_relevance(graph, seeds.scale_columns(np.array([7.0, 0.3])), in_a, in_b, STRICT)
        one, other = (solve_common(graph, c.seeds, in_a, in_b, STRICT) for c in (once, again))
        assert np.allclose(one.solution.f, other.solution.f, rtol=1e-8)
        assert np.array_equal(one.selected, other.selected)


def test_a_side_without_relevance_is_left_at_zero() -> None:
    pair = Pair(np.zeros((2, 2)), 0, 1, np.array([True, True]), np.array([True, False]))
    found = calibrate_relevance(pair.graph(), pair.seeds(STRICT), *columns(pair), STRICT)
    assert (found.factors == 1).all()
    assert (found.divide_by_mean(np.zeros((2, 2))) == 0).all()


def test_offsets_are_scaled_with_the_seeds() -> None:
    pair = random_pair(3)
    graph = pair.graph()
    seeds = build_pair_seeds(
        graph, SeedSide([0]), SeedSide([1]), alpha=100.0, delta=0.1, background=np.full(graph.phrase_count, 9.0)
    )
    doubled = seeds.scale_columns(np.array([2.0, 3.0]))
    expected = propagate_exactly(graph, seeds, 100.0).f * [2.0, 3.0]
    assert np.allclose(propagate_exactly(graph, doubled, 100.0).f, expected, rtol=1e-12)


def test_a_margin_is_positive_above_the_cut_and_a_number_everywhere() -> None:
    scores, cut = np.array([[0.2, 0.0], [0.05, 1.0], [0.0, -1.0]]), np.array([0.1, 0.0])
    found = compute_log_margin(scores, cut)
    assert found[:, 0] == pytest.approx([np.log(2), -np.log(2), MIN_LOG_MARGIN])
    assert (found[:, 1] == MIN_LOG_MARGIN).all()
