"""What readers keep leads its list, what they strike out fills it up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.worker.methods.problems import problem_of
from worker.methods import Problem, method
from worker.methods.log_evidence import COMMON, DISTINCT, NOTHING, REPEATED
from worker.methods.reader_odds import BELIEVED, FAR, LONG, NEAR, QUALITY, TOGETHER, WORDED, Worth, chance
from worker.solver.parameters import Parameters
from worker.solver.seeds import Side

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


@pytest.mark.parametrize(
    ("figure", "less", "more"),
    [
        ("quality", 0.1, 0.9),
        ("occurs_a", 1, 4),
        ("frequency", 900, 9),
        ("edge_a", 0.0, 12.0),
        ("topic_a", -0.2, 0.6),
        ("salience_a", 0.1, 1.0),
    ],
)
def test_a_phrase_is_worth_more_the_more_a_text_is_about_it(
    problem: Problem, figure: str, less: float, more: float
) -> None:
    assert first(problem, **{figure: less}) < first(problem, **{figure: more})


def test_several_words_are_worth_more_than_one(problem: Problem) -> None:
    same = replace(problem, occurs_a=np.ones(3), edge_a=np.ones(3), salience_a=np.ones(3), frequency=np.ones(3))
    several, _, one = Worth(same).distinct_a()
    assert one < several


def test_what_the_other_text_nearly_says_sets_nothing_apart_unless_that_holds_any_word(problem: Problem) -> None:
    usual, said = first(problem), first(problem, worded_b=0.7)
    assert said < usual - 1
    assert first(problem, worded_b=0.7, tokens_b=["word"] * (LONG + 1)) == usual
    assert first(replace(problem, side_b=Side((1, 2))), worded_b=0.7) == usual, "a set"
    assert first(problem, worded_a=0.7) == usual, "its own side"


def test_an_implied_phrase_is_worth_what_speaks_for_it(problem: Problem) -> None:
    implied, margin = np.ones(3, dtype=bool), np.zeros(3)
    lacked = replace(problem, occurs_a=np.ones(3), occurs_b=np.zeros(3), topic_a=np.zeros(3), worded_a=np.ones(3))
    usual = Worth(lacked).common(implied, margin)
    assert Worth(lacked).common(implied, margin + 1) == pytest.approx(usual + BELIEVED)
    assert Worth(replace(lacked, topic_b=np.ones(3))).common(implied, margin) == pytest.approx(usual + NEAR)
    assert Worth(replace(lacked, topic_a=np.ones(3))).common(implied, margin) == pytest.approx(usual), "who holds it"
    held = replace(lacked, worded_b=np.ones(3))
    assert (Worth(held).common(implied, margin) - usual)[0] == pytest.approx(WORDED * (1 - problem.worded_b[0]))
    passing = replace(lacked, salience_a=lacked.salience_a / 10, salience_b=lacked.salience_b / 10)
    assert (Worth(passing).common(implied, margin) < usual).all(), "what one says in passing both are not about"


def test_what_a_set_is_about_is_worth_more_than_what_a_few_of_its_documents_say(problem: Problem) -> None:
    sixteen = replace(problem, side_a=Side(tuple(range(16))))
    every, four, one = (first(sixteen, held_a=held, edge_a=3.0 * held) for held in (16, 4, 1))
    assert every > four > one
    assert four == pytest.approx(first(problem, held_a=1, occurs_a=2, edge_a=3.0)), "as one text that says it twice"
    assert first(sixteen, held_a=0, edge_a=0.0) < one, "what is only a piece of other phrases"


def test_a_corpus_of_few_documents_says_little_of_what_is_rare(problem: Problem) -> None:
    large = first(problem, frequency=1) - first(problem, frequency=100)
    small = replace(problem, documents=150)
    assert first(small, frequency=1) - first(small, frequency=100) == pytest.approx(large)
    assert first(small, frequency=100) > first(small, frequency=150)


def test_lists_begin_with_what_tells_something_and_end_with_what_stands_for_nothing(problem: Problem) -> None:
    assert NOTHING < DISTINCT.filling < DISTINCT.telling and COMMON.filling < COMMON.telling
    assert COMMON.telling < DISTINCT.telling, "two texts share few phrases"
    worth = Worth(problem).distinct_a()
    raised = problem.quality * np.exp((DISTINCT.telling + 0.1 - worth) / QUALITY)
    rich = method("cda").sort(replace(problem, quality=raised)).distinct_a
    assert (len(rich), rich.telling, rich.filling) == (2, 2, 2)
    poor = method("cda").sort(replace(problem, quality=raised * [1.0, 0.0, 1.0])).distinct_a
    assert (len(poor), poor.telling, poor.filling) == (2, 1, 1)
    assert poor.score == pytest.approx(sorted(poor.score, reverse=True))


def test_a_phrase_that_repeats_a_word_of_its_list_loses_worth() -> None:
    told = problem_of(
        ["web graph web page", "noise", "web graph", "web page"], ["web graph", "web page"], parameters=NOT_COMMON
    )
    odds = Worth(told).distinct_a()
    found = method("cda").sort(told).distinct_a
    best, other = np.argsort(-odds, kind="stable")
    assert found.index.tolist() == [best, other]
    assert found.score == pytest.approx(chance(np.array([odds[best], odds[other] - REPEATED])))


def test_odds_become_a_chance() -> None:
    assert chance(np.array([0.0, 50.0, -1000.0])) == pytest.approx([0.5, 1.0, 0.0])


def test_what_two_texts_say_that_have_nothing_to_do_with_each_other_is_worth_less(problem: Problem) -> None:
    implied, margin = np.array([True, False, False]), np.zeros(3)

    def worth(nearness: float) -> list[float]:
        return Worth(replace(problem, nearness=nearness)).common(implied, margin).tolist()

    assert worth(1.0) == worth(TOGETHER)
    assert worth(TOGETHER - 0.2) == pytest.approx([odds + 0.2 * FAR for odds in worth(1.0)])
    assert first(replace(problem, nearness=-1.0)) == first(problem), "what sets one apart does not"


def test_a_pair_weighs_what_its_members_do(problem: Problem) -> None:
    paired = replace(problem, phrases=["web@@graph", *problem.phrases[1:]], edge_a=2 * problem.edge_a)
    assert Worth(paired).distinct_a()[0] == pytest.approx(first(problem))


def test_words_that_bind_others_are_no_repetition() -> None:
    texts = ["bank of japan secretary of state", "noise", "bank of japan", "secretary of state"]
    told = problem_of(texts, ["bank of japan", "secretary of state"], parameters=NOT_COMMON)
    found = method("cda").sort(told).distinct_a
    assert found.score == pytest.approx(chance(Worth(told).distinct_a()[found.index]))


def test_what_is_implied_stands_behind_what_both_say_openly_and_only_fills_up(problem: Problem) -> None:
    all_common = replace(problem, parameters=replace(NOT_COMMON, cut=-9.0), quality=np.ones(3), nearness=1.0)
    openly = replace(
        all_common, occurs_a=np.ones(3), occurs_b=np.array([0, 0, 1]), topic_b=np.ones(3), worded_b=np.ones(3)
    )
    odds = Worth(openly).common(np.array([True, True, False]), method("cda").sort(openly).margin)
    assert odds[0] > odds[2] > COMMON.telling, "though more speaks for it"
    found = method("cda").sort(openly).common
    assert found.index[0] == 2 and (found.telling, found.filling) == (1, 3)


def test_wording_says_nothing_of_what_a_long_text_or_a_set_implies(problem: Problem) -> None:
    implied, margin = np.ones(3, dtype=bool), np.zeros(3)
    lacked = replace(problem, occurs_a=np.ones(3), occurs_b=np.zeros(3), worded_b=np.full(3, 0.5))
    usual = Worth(replace(lacked, worded_b=np.zeros(3))).common(implied, margin)
    assert (Worth(lacked).common(implied, margin) > usual).all()
    for other in (replace(lacked, tokens_b=["word"] * (LONG + 1)), replace(lacked, side_b=Side((1, 2)))):
        assert Worth(other).common(implied, margin) == pytest.approx(usual)
