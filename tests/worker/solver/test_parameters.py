"""Parameters of the solver and their presets."""

from __future__ import annotations

import pytest

from worker.solver.parameters import DEFAULT, PAPER, PRESETS
from worker.solver.ranking_weights import ODDS_OPTIONS


def test_the_paper_preset_has_the_values_of_the_paper() -> None:
    assert (PAPER.alpha, PAPER.lambda_, PAPER.gamma, PAPER.delta) == (100.0, 0.1, 1.0, 0.1)
    assert (PAPER.kappa, PAPER.threshold, PAPER.tolerance) == (None, "mean", 1e-4)


def test_the_paper_preset_notes_that_its_lambda_is_above_its_bound() -> None:
    (note,) = PAPER.build_notes()
    assert "lambda 0.1" in note and "0.09901" in note
    assert PAPER.with_options(lambda_=0.09).build_notes() == []


def test_a_default_without_lambda_has_nothing_to_note() -> None:
    assert DEFAULT.build_notes() == []


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
        ({"threshold": "median"}, "threshold must be one of mean, log"),
        ({"word_weight": -1.0}, "word_weight must be at least 0"),
        ({"kappa": 0.0}, "kappa must be above 0"),
        ({"cut": float("nan")}, "cut must be a finite number"),
        ({"max_inner": 0}, "max_inner must be a whole number of at least 1"),
        ({"max_outer": 2.5}, "max_outer must be a whole number"),
        ({"mu": 3.0}, "no parameter named 'mu'; use one of alpha, "),
    ],
)
def test_bad_values_are_refused_by_name(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PAPER.with_options(**options)


def test_presets_are_found_by_name() -> None:
    assert PRESETS == {"default": DEFAULT, "paper": PAPER}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"odds_bm25": float("nan")}, "odds_bm25 must be a finite number"),
        ({"odds_bm25": True}, "odds_bm25 must be a finite number"),
        ({"odds_min_quality": 0.0}, "odds_min_quality must be above 0"),
        ({"odds_worth": 1.0}, "no parameter named 'odds_worth'; use one of alpha, .*odds_bm25"),
        ({"reader_odds": 1.0}, "no parameter named 'reader_odds'"),
    ],
)
def test_bad_weights_of_the_ranking_are_refused_by_name(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DEFAULT.with_options(**options)


@pytest.mark.parametrize("name", ODDS_OPTIONS)
def test_every_weight_of_the_ranking_can_be_set(name: str) -> None:
    changed = DEFAULT.with_options(**{name: 0.5, "lambda": 0.1})
    assert changed.get_option(name) == 0.5 and changed.get_option("lambda") == 0.1
    assert changed.reader_odds != DEFAULT.reader_odds or DEFAULT.get_option(name) == 0.5


def test_weights_of_the_ranking_count_in_the_id_only_where_they_are_not_the_default() -> None:
    same = DEFAULT.with_options(odds_bm25=DEFAULT.get_option("odds_bm25"))
    assert same.get_values_for_id() == DEFAULT.get_values_for_id()
    assert "reader_odds" not in DEFAULT.get_values_for_id()
    assert DEFAULT.with_options(odds_bm25=3.0).get_values_for_id() != DEFAULT.get_values_for_id()
