"""The update rules of f against high-precision arithmetic, and as minimisers."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.solver.paper_common import CommonUpdate
from worker.solver.paper_distinct import DistinctUpdate

magnitudes = st.floats(-18, 3).map(lambda exponent: 10.0**exponent)
amounts = st.one_of(st.just(0.0), magnitudes)


def common_update(s: float, other: float, weight: float) -> float:
    out = np.empty((1, 1))
    CommonUpdate((1, 1))(np.array([[s]]), np.array([[other]]), np.array([[weight]]), out)
    return float(out[0, 0])


def distinct_update(s: float, gamma: float, weight: float) -> float:
    out = np.empty((1, 1))
    DistinctUpdate((1, 1), gamma)(np.array([[s]]), np.array([[weight]]), out)
    return float(out[0, 0])


def printed_common(s: float, other: float, weight: float) -> mpmath.mpf:
    """Eq. 10 with 120 digits."""
    with mpmath.workdps(120):
        s, other, weight = mpmath.mpf(s), mpmath.mpf(other), mpmath.mpf(weight)
        if other == 0:
            return s
        return s / 2 - 1 / (2 * other) + mpmath.sqrt((s / 2 + 1 / (2 * other)) ** 2 + weight)


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(s=amounts, other=amounts, weight=st.one_of(st.just(0.0), st.floats(1e-6, 10.0)))
def test_the_common_update_keeps_its_digits_for_every_size_of_the_other_side(
    s: float, other: float, weight: float
) -> None:
    exact = printed_common(s, other, weight)
    assert abs(common_update(s, other, weight) - exact) <= 4e-15 * exact


def test_the_common_update_does_not_vanish_where_the_printed_form_does() -> None:
    s, other = 0.03, 1e-15
    printed = s / 2 - 1 / (2 * other) + ((s / 2 + 1 / (2 * other)) ** 2 + 0.1) ** 0.5
    assert printed == 0.0
    assert common_update(s, other, 0.1) == pytest.approx(s, rel=1e-12)


@given(s=amounts, other=amounts)
def test_an_unselected_phrase_keeps_what_the_graph_sends_it(s: float, other: float) -> None:
    assert common_update(s, other, 0.0) == s
    assert distinct_update(s, 1.0, 0.0) == s


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(s=st.floats(0, 5), gamma=st.floats(0.2, 3), share=st.floats(0, 1), sign=st.sampled_from([-1, 1]))
def test_the_distinct_update_is_the_smallest_over_all_allowed_values(
    s: float, gamma: float, share: float, sign: int
) -> None:
    weight = sign * share * gamma**2

    def objective(f: np.ndarray | float) -> np.ndarray:
        return np.asarray(0.5 * np.square(f) - f * s - weight * np.log(f + gamma))

    updated = distinct_update(s, gamma, weight)
    assert updated >= 0
    grid = np.linspace(0, 10, 20_001)
    assert objective(updated) <= objective(grid).min() + 1e-12


def test_a_negative_discriminant_gives_zero() -> None:
    assert distinct_update(0.0, 1.0, -0.3) == 0.0


def test_a_negative_root_gives_zero() -> None:
    assert distinct_update(0.05, 1.0, -0.1) == 0.0


@settings(max_examples=300, deadline=None)
@given(s=magnitudes, gamma=st.floats(0.2, 3), share=st.floats(1e-6, 1))
def test_the_distinct_update_of_a_selected_phrase_matches_the_printed_form(
    s: float, gamma: float, share: float
) -> None:
    weight = share * gamma**2
    with mpmath.workdps(120):
        exact = -(mpmath.mpf(gamma) - s) / 2 + mpmath.sqrt(((mpmath.mpf(gamma) + s) / 2) ** 2 + weight)
    assert abs(distinct_update(s, gamma, weight) - exact) <= 4e-15 * exact
