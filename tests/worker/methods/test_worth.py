"""What readers keep leads its list, what they strike out fills it up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.worker.methods.problems import problem_of
from worker.core.parameters import Parameters
from worker.core.seeds import Side
from worker.methods import Problem, method
from worker.methods.calibrated import COMMON, DISTINCT
from worker.methods.worth import IMPLIED, LONG, MARGIN, WORDED, Worth, chance

TEXTS = ["web graph link analysis", "page rank crawl index", "web graph crawl", "noise words", "link noise"]
PHRASES = ["web graph", "link analysis", "crawl"]
NOT_COMMON = Parameters(lambda_=0.0, delta=0.0, kappa=1.0, threshold="log", cut=9.0)


@pytest.fixture
def problem() -> Problem:
    found = problem_of(TEXTS, PHRASES, parameters=NOT_COMMON)
    return replace(found, documents=10_000, quality=np.full(len(PHRASES), 0.5))


def first(problem: Problem, **changed: Any) -> float:
    """The worth of "web graph" as a phrase that sets a apart."""
    size = len(problem.phrases)
    arrays = {name: np.full(size, value) if np.isscalar(value) else value for name, value in changed.items()}
    return float(Worth(replace(problem, **arrays)).distinct_a()[0])


def test_a_phrase_is_worth_more_by_quality_by_repetition_by_rarity_and_by_being_several_words(problem: Problem) -> None:
    usual = first(problem)
    assert first(problem, quality=0.1) < usual < first(problem, quality=0.9)
    assert first(problem, occurs_a=4) > usual
    assert first(problem, frequency=900) < usual
    assert Worth(problem).distinct_b()[2] < usual, "one word"


def test_what_the_other_text_nearly_says_sets_nothing_apart_unless_that_holds_any_word(problem: Problem) -> None:
    usual, said = first(problem), first(problem, worded_b=0.7)
    assert said < usual - 1
    assert first(problem, worded_b=0.7, tokens_b=["word"] * (LONG + 1)) == usual
    assert first(replace(problem, side_b=Side((1, 2))), worded_b=0.7) == usual, "a set"
    assert first(problem, worded_a=0.7) == usual, "its own side"


def test_an_implied_phrase_is_worth_what_speaks_for_it(problem: Problem) -> None:
    implied, margin = np.array([True, True, False]), np.array([0.0, 2.0, 2.0])
    held = replace(problem, worded_a=np.ones(3), worded_b=np.array([0.0, 1.0, 1.0]))
    worth = Worth(held).common(implied, margin)
    assert worth[:2].tolist() == pytest.approx([IMPLIED, IMPLIED + 2 * MARGIN + WORDED])
    passing = Worth(replace(held, salience_a=held.salience_a / 10)).common(implied, margin)
    assert passing[0] < worth[0] - 2, "what one text says in passing both are not about"
    assert worth[2] == pytest.approx(Worth(held).common(np.zeros(3, dtype=bool), margin)[2])


def test_what_a_set_is_about_is_worth_more_than_what_a_few_of_its_documents_say(problem: Problem) -> None:
    several = replace(problem, side_a=Side((0, 2, 3)))
    assert first(several, salience_a=1.0) == pytest.approx(first(problem, occurs_a=3)), "each document says it"
    assert first(several, salience_a=0.05) < first(problem) - 2


def test_a_corpus_of_few_documents_says_little_of_what_is_rare(problem: Problem) -> None:
    large = first(problem, frequency=1) - first(problem, frequency=100)
    small = replace(problem, documents=150)
    assert first(small, frequency=1) - first(small, frequency=100) == pytest.approx(large)
    assert first(small, frequency=100) > first(small, frequency=150)


def test_lists_begin_with_what_tells_something_and_end_with_what_stands_for_nothing(problem: Problem) -> None:
    poor = method("cda").sort(replace(problem, quality=np.array([0.5, 0.01, 0.5]))).distinct_a
    assert (len(poor), poor.telling, poor.filling) == (2, 1, 1)
    rich = method("cda").sort(problem).distinct_a
    assert (len(rich), rich.telling, rich.filling) == (2, 2, 2)
    assert COMMON.telling < DISTINCT.telling, "two texts share few phrases"
    assert (np.diff(poor.score) <= 0).all()


def test_two_texts_that_have_nothing_to_do_with_each_other_share_no_more_than_tells_something(problem: Problem) -> None:
    assert method("cda").sort(replace(problem, nearness=0.1)).common.filled
    assert not method("cda").sort(replace(problem, nearness=-0.1)).common.filled
    assert method("cda").sort(replace(problem, nearness=-0.1)).distinct_a.filled


def test_odds_become_chances() -> None:
    assert chance(np.array([-1e9, 0.0, 1e9])).tolist() == pytest.approx([0.0, 0.5, 1.0])
