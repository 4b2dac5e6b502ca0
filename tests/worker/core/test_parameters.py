from __future__ import annotations

import pytest

from worker.solver.parameters import DEFAULT, PAPER, PRESETS, Parameters, preset


def test_the_paper_preset_is_the_papers() -> None:
    assert (PAPER.alpha, PAPER.lambda_, PAPER.gamma, PAPER.delta) == (100.0, 0.1, 1.0, 0.1)
    assert (PAPER.delta_mode, PAPER.kappa, PAPER.threshold, PAPER.tolerance) == ("each", None, "mean", 1e-4)


def test_the_papers_own_lambda_is_above_its_bound_and_says_so() -> None:
    (note,) = PAPER.notes()
    assert "lambda 0.1" in note and "0.09901" in note
    assert PAPER.with_options(lambda_=0.09).notes() == []


def test_a_default_without_lambda_has_nothing_to_note() -> None:
    assert DEFAULT.notes() == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0.0}, "alpha must be above 0, not 0"),
        ({"alpha": float("nan")}, "alpha must be a finite number"),
        ({"gamma": -1.0}, "gamma must be above 0"),
        ({"lambda": -0.1}, "lambda must be at least 0"),
        ({"lambda": "much"}, "lambda must be a finite number, not 'much'"),
        ({"lambda": True}, "lambda must be a finite number"),
        ({"lambda": 2.0}, r"lambda must be at most gamma squared \(1\), not 2"),
        ({"delta": float("inf")}, "delta must be a finite number"),
        ({"delta_mode": "some"}, "delta_mode must be one of each, mass"),
        ({"threshold": "median"}, "threshold must be one of mean, log"),
        ({"word_weight": -1.0}, "word_weight must be at least 0"),
        ({"kappa": 0.0}, "kappa must be above 0"),
        ({"cut": float("nan")}, "cut must be a finite number"),
        ({"max_inner": 0}, "max_inner must be a whole number of at least 1"),
        ({"max_outer": 2.5}, "max_outer must be a whole number"),
        ({"mu": 3.0}, "no parameter named 'mu'; there are alpha, "),
    ],
)
def test_bad_values_are_refused_by_name(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PAPER.with_options(**options)


def test_delta_is_added_to_every_entry_or_spread_as_a_mass() -> None:
    assert Parameters(delta=0.1).background(1000) == 0.1
    assert Parameters(delta=0.1, delta_mode="mass").background(1000) == pytest.approx(1e-4)
    assert Parameters(delta=0.1, delta_mode="mass").background(0) == 0.1


def test_presets_are_found_by_name() -> None:
    assert preset("paper") is PAPER and set(PRESETS) == {"default", "paper"}
    with pytest.raises(ValueError, match="no preset named 'papers'; there are default, paper"):
        preset("papers")
