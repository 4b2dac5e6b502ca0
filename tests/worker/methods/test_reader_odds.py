"""What readers keep leads its list, what they strike out fills it up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.problems import changed, problem_of
from worker.methods import PairProblem, get_method
from worker.methods.log_evidence import CONTRADICTION_ODDS
from worker.methods.reader_odds import ReaderOdds, odds_to_probability
from worker.solver.parameters import Parameters
from worker.solver.reader_odds_weights import DEFAULT_WEIGHTS as WEIGHTS
from worker.solver.seeds import SeedSide

TEXTS = ["web graph link analysis", "page rank crawl index", "web graph crawl", "noise words", "link noise"]
PHRASES = ["web graph", "link analysis", "crawl"]
NOT_COMMON = Parameters(lambda_=0.0, delta=0.0, kappa=1.0, threshold="log", cut=9.0)


@pytest.fixture
def problem() -> PairProblem:
    found = problem_of(TEXTS, PHRASES, parameters=NOT_COMMON)
    return changed(found, corpus_size=10_000, quality=np.full(len(PHRASES), 0.5))


def first(problem: PairProblem, **changes: Any) -> float:
    """The worth of "web graph" as a phrase that sets a apart."""
    size = len(problem.phrases)
    arrays = {name: np.full(size, value) if np.isscalar(value) else value for name, value in changes.items()}
    return float(ReaderOdds(changed(problem, **arrays)).rate_distinct_a()[0])


@pytest.mark.parametrize(
    ("figure", "less", "more"),
    [
        ("quality", 0.1, 0.9),
        ("count_a", 1, 4),
        ("document_frequency", 900, 9),
        ("bm25_a", 0.0, 12.0),
        ("topic_cosine_a", -0.2, 0.6),
        ("salience_a", 0.1, 1.0),
    ],
)
def test_a_phrase_is_worth_more_the_more_a_text_is_about_it(
    problem: PairProblem, figure: str, less: float, more: float
) -> None:
    assert first(problem, **{figure: less}) < first(problem, **{figure: more})


def test_several_words_are_worth_more_than_one(problem: PairProblem) -> None:
    same = changed(problem, count_a=np.ones(3), bm25_a=np.ones(3), salience_a=np.ones(3), document_frequency=np.ones(3))
    several, _, one = ReaderOdds(same).rate_distinct_a()
    assert one < several


def test_what_the_other_text_nearly_says_sets_nothing_apart_unless_that_holds_any_word(problem: PairProblem) -> None:
    usual, said = first(problem), first(problem, partial_match_b=0.7)
    assert said < usual - 1
    assert first(problem, partial_match_b=0.7, tokens_b=["word"] * (int(WEIGHTS.max_text_words) + 1)) == usual
    assert first(changed(problem, seed_b=SeedSide((1, 2))), partial_match_b=0.7) == usual, "a set"
    assert first(problem, partial_match_a=0.7) == usual, "its own side"


def test_an_implied_phrase_is_worth_what_speaks_for_it(problem: PairProblem) -> None:
    implied, margin = np.ones(3, dtype=bool), np.zeros(3)
    lacked = changed(
        problem, count_a=np.ones(3), count_b=np.zeros(3), topic_cosine_a=np.zeros(3), partial_match_a=np.ones(3)
    )
    usual = ReaderOdds(lacked).rate_common(implied, margin)
    assert ReaderOdds(lacked).rate_common(implied, margin + 1) == pytest.approx(usual + WEIGHTS.implied_margin)
    assert ReaderOdds(changed(lacked, topic_cosine_b=np.ones(3))).rate_common(implied, margin) == pytest.approx(
        usual + WEIGHTS.implied_topic_cosine
    )
    assert ReaderOdds(changed(lacked, topic_cosine_a=np.ones(3))).rate_common(implied, margin) == pytest.approx(
        usual
    ), "who holds it"
    held = changed(lacked, partial_match_b=np.ones(3))
    assert (ReaderOdds(held).rate_common(implied, margin) - usual)[0] == pytest.approx(
        WEIGHTS.implied_partial_match * (1 - problem.b.partial_match[0])
    )
    passing = changed(lacked, salience_a=lacked.a.salience / 10, salience_b=lacked.b.salience / 10)
    assert (ReaderOdds(passing).rate_common(implied, margin) < usual).all(), (
        "what one says in passing both are not about"
    )


def test_what_a_set_is_about_is_worth_more_than_what_a_few_of_its_documents_say(problem: PairProblem) -> None:
    sixteen = changed(problem, seed_a=SeedSide(tuple(range(16))))
    every, four, one = (first(sixteen, document_count_a=held, bm25_a=3.0 * held) for held in (16, 4, 1))
    assert every > four > one
    assert four == pytest.approx(first(problem, document_count_a=1, count_a=2, bm25_a=3.0)), (
        "as one text that says it twice"
    )
    assert first(sixteen, document_count_a=0, bm25_a=0.0) < one, "what is only a piece of other phrases"


def test_a_corpus_of_few_documents_says_little_of_what_is_rare(problem: PairProblem) -> None:
    large = first(problem, document_frequency=1) - first(problem, document_frequency=100)
    small = changed(problem, corpus_size=150)
    assert first(small, document_frequency=1) - first(small, document_frequency=100) == pytest.approx(large)
    assert first(small, document_frequency=100) > first(small, document_frequency=150)


def test_lists_begin_with_what_tells_something_and_end_with_what_stands_for_nothing(problem: PairProblem) -> None:
    assert (
        CONTRADICTION_ODDS < WEIGHTS.distinct_filler < WEIGHTS.distinct_informative
        and WEIGHTS.common_filler < WEIGHTS.common_informative
    )
    assert WEIGHTS.common_informative < WEIGHTS.distinct_informative, "two texts share few phrases"
    worth = ReaderOdds(problem).rate_distinct_a()
    raised = problem.quality * np.exp((WEIGHTS.distinct_informative + 0.1 - worth) / WEIGHTS.log_quality)
    rich = get_method("cda").sort_phrases(changed(problem, quality=raised)).distinct_a
    assert (len(rich), rich.informative, rich.fillers) == (2, 2, 2)
    poor = get_method("cda").sort_phrases(changed(problem, quality=raised * [1.0, 0.0, 1.0])).distinct_a
    assert (len(poor), poor.informative, poor.fillers) == (2, 1, 1)
    assert poor.scores == pytest.approx(sorted(poor.scores, reverse=True))


def test_a_phrase_that_repeats_a_word_of_its_list_loses_worth() -> None:
    told = problem_of(
        ["web graph web page", "noise", "web graph", "web page"], ["web graph", "web page"], parameters=NOT_COMMON
    )
    odds = ReaderOdds(told).rate_distinct_a()
    found = get_method("cda").sort_phrases(told).distinct_a
    best, other = np.argsort(-odds, kind="stable")
    assert found.indices.tolist() == [best, other]
    assert found.scores == pytest.approx(
        odds_to_probability(np.array([odds[best], odds[other] - WEIGHTS.repeated_word_penalty]))
    )


def test_odds_become_a_chance() -> None:
    assert odds_to_probability(np.array([0.0, 50.0, -1000.0])) == pytest.approx([0.5, 1.0, 0.0])


def test_what_two_texts_say_that_have_nothing_to_do_with_each_other_is_worth_less(problem: PairProblem) -> None:
    implied, margin = np.array([True, False, False]), np.zeros(3)

    def worth(nearness: float) -> list[float]:
        return ReaderOdds(changed(problem, topic_similarity=nearness)).rate_common(implied, margin).tolist()

    assert worth(1.0) == worth(WEIGHTS.min_similarity)
    assert worth(WEIGHTS.min_similarity - 0.2) == pytest.approx(
        [odds + 0.2 * WEIGHTS.dissimilarity for odds in worth(1.0)]
    )
    assert first(changed(problem, topic_similarity=-1.0)) == first(problem), "what sets one apart does not"


def test_a_pair_weighs_what_its_members_do(problem: PairProblem) -> None:
    paired = changed(problem, phrases=["web@@graph", *problem.phrases[1:]], bm25_a=2 * problem.a.bm25)
    assert ReaderOdds(paired).rate_distinct_a()[0] == pytest.approx(first(problem))


def test_words_that_bind_others_are_no_repetition() -> None:
    texts = ["bank of japan secretary of state", "noise", "bank of japan", "secretary of state"]
    told = problem_of(texts, ["bank of japan", "secretary of state"], parameters=NOT_COMMON)
    found = get_method("cda").sort_phrases(told).distinct_a
    assert found.scores == pytest.approx(odds_to_probability(ReaderOdds(told).rate_distinct_a()[found.indices]))


def test_what_is_implied_stands_behind_what_both_say_openly_and_only_fills_up(problem: PairProblem) -> None:
    all_common = changed(problem, parameters=replace(NOT_COMMON, cut=-9.0), quality=np.ones(3), topic_similarity=1.0)
    openly = changed(
        all_common,
        count_a=np.ones(3),
        count_b=np.array([0, 0, 1]),
        topic_cosine_b=np.ones(3),
        partial_match_b=np.ones(3),
    )
    odds = ReaderOdds(openly).rate_common(np.array([True, True, False]), get_method("cda").sort_phrases(openly).margin)
    assert odds[0] > odds[2] > WEIGHTS.common_informative, "though more speaks for it"
    found = get_method("cda").sort_phrases(openly).common
    assert found.indices[0] == 2 and (found.informative, found.fillers) == (1, 3)


def test_wording_says_nothing_of_what_a_long_text_or_a_set_implies(problem: PairProblem) -> None:
    implied, margin = np.ones(3, dtype=bool), np.zeros(3)
    lacked = changed(problem, count_a=np.ones(3), count_b=np.zeros(3), partial_match_b=np.full(3, 0.5))
    usual = ReaderOdds(changed(lacked, partial_match_b=np.zeros(3))).rate_common(implied, margin)
    assert (ReaderOdds(lacked).rate_common(implied, margin) > usual).all()
    for other in (
        changed(lacked, tokens_b=["word"] * (int(WEIGHTS.max_text_words) + 1)),
        changed(lacked, seed_b=SeedSide((1, 2))),
    ):
        assert ReaderOdds(other).rate_common(implied, margin) == pytest.approx(usual)
