"""The odds that a reader finds a phrase useful, by which lists are ranked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.problems import make_problem, replace_features
from worker.methods.base import PairProblem
from worker.methods.log_evidence import CONTRADICTION_ODDS
from worker.methods.phrase_ranking import ReaderOdds, odds_to_probability
from worker.methods.registry import get_method
from worker.solver.parameters import MIN_DOCUMENTS_FOR_GRAPH, Parameters
from worker.solver.ranking_weights import DEFAULT_WEIGHTS as WEIGHTS
from worker.solver.seeds import SeedSide

TEXTS = ["web graph link analysis", "page rank crawl index", "web graph crawl", "noise words", "link noise"]
PHRASES = ["web graph", "link analysis", "crawl"]
ALL_DISTINCT = Parameters(lambda_=0.0, delta=0.0, kappa=1.0, threshold="log", cut=9.0)


@pytest.fixture
def problem() -> PairProblem:
    problem = make_problem(TEXTS, PHRASES, parameters=ALL_DISTINCT)
    return replace_features(problem, corpus_size=10_000, quality=np.full(len(PHRASES), 0.5))


def rate_first_phrase(problem: PairProblem, **changes: Any) -> float:
    """Return the odds of "web graph" as a phrase distinct of side a."""
    size = len(problem.phrases)
    arrays = {name: np.full(size, value) if np.isscalar(value) else value for name, value in changes.items()}
    return float(ReaderOdds(replace_features(problem, **arrays)).compute_distinct_odds_a()[0])


@pytest.mark.parametrize(
    ("feature", "less", "more"),
    [
        ("specificity", -0.2, 0.1),
        ("count_a", 1, 4),
        ("word_count_a", 1, 4),
        ("document_frequency", 900, 9),
        ("bm25_a", 0.0, 12.0),
        ("topic_cosine_a", -0.2, 0.6),
        ("whole_share_a", 0.0, 1.0),
        ("never_whole_a", 1.0, 0.0),
        ("title_share_a", 0.0, 1.0),
        ("earliness_a", 0.1, 1.0),
    ],
)
def test_each_feature_raises_the_odds(problem: PairProblem, feature: str, less: float, more: float) -> None:
    assert rate_first_phrase(problem, **{feature: less}) < rate_first_phrase(problem, **{feature: more})


def test_phrases_of_several_words_have_higher_odds(problem: PairProblem) -> None:
    same = replace_features(problem, count_a=np.ones(3), bm25_a=np.ones(3), document_frequency=np.ones(3))
    several, _, one = ReaderOdds(same).compute_distinct_odds_a()
    assert one < several


def test_a_phrase_that_no_document_of_the_index_has_has_lower_odds(problem: PairProblem) -> None:
    """Such a phrase was not mined: only the text shows it, and that no other has it is not said to its credit."""
    none, one = (rate_first_phrase(problem, document_frequency=n) for n in (0, 1))
    rarity = -WEIGHTS.log_document_share * np.log(2)
    assert none == pytest.approx(one - WEIGHTS.known_phrase + rarity)


def test_a_place_that_is_not_known_neither_raises_nor_lowers_the_odds(problem: PairProblem) -> None:
    assert rate_first_phrase(problem, earliness_a=0.0) == rate_first_phrase(problem, earliness_a=1.0)


def test_a_word_counts_by_its_weight_not_by_the_length_of_its_phrase(problem: PairProblem) -> None:
    longer = replace_features(
        problem, phrases=["web graph link", *problem.phrases[1:]], bm25_a=problem.a.bm25 * [1.5, 1, 1]
    )
    assert ReaderOdds(longer).compute_distinct_odds_a()[0] == pytest.approx(rate_first_phrase(problem))


def test_a_partial_match_in_the_other_text_lowers_the_odds_unless_it_is_long_or_a_set(problem: PairProblem) -> None:
    usual, matched = rate_first_phrase(problem), rate_first_phrase(problem, partial_match_b=0.7)
    assert matched == pytest.approx(usual + WEIGHTS.other_side_match * 0.7)
    assert rate_first_phrase(problem, partial_match_b=0.7, text_length_b=int(WEIGHTS.max_text_words) + 1) == usual
    assert rate_first_phrase(replace_features(problem, seed_b=SeedSide((1, 2))), partial_match_b=0.7) == usual, "a set"
    assert rate_first_phrase(problem, partial_match_a=0.7) == usual, "its own side"


def test_the_odds_of_an_implied_phrase_follow_its_evidence(problem: PairProblem) -> None:
    implied, margin = np.ones(3, dtype=bool), np.zeros(3)
    lacked = replace_features(
        problem, count_a=np.ones(3), count_b=np.zeros(3), topic_cosine_a=np.zeros(3), partial_match_a=np.ones(3)
    )
    usual = ReaderOdds(lacked).compute_common_odds(implied, margin)
    assert ReaderOdds(lacked).compute_common_odds(implied, margin + 1) == pytest.approx(usual + WEIGHTS.implied_margin)
    assert ReaderOdds(replace_features(lacked, topic_cosine_b=np.ones(3))).compute_common_odds(
        implied, margin
    ) == pytest.approx(usual + WEIGHTS.implied_topic_cosine)
    assert ReaderOdds(replace_features(lacked, topic_cosine_a=np.ones(3))).compute_common_odds(
        implied, margin
    ) == pytest.approx(usual), "the side that contains it"
    matched_fully = replace_features(lacked, partial_match_b=np.ones(3))
    assert (ReaderOdds(matched_fully).compute_common_odds(implied, margin) - usual)[0] == pytest.approx(
        WEIGHTS.implied_partial_match * (1 - problem.b.partial_match[0])
    )


def test_the_odds_of_a_shared_phrase_are_those_of_both_texts(problem: PairProblem) -> None:
    none, margin = np.zeros(3, dtype=bool), np.zeros(3)
    usual = ReaderOdds(problem).compute_common_odds(none, margin)
    for side in "ab":
        early = replace_features(problem, **{f"topic_cosine_{side}": np.ones(3)})
        expected = usual + WEIGHTS.common_slope * WEIGHTS.topic_cosine / 2
        assert ReaderOdds(early).compute_common_odds(none, margin) == pytest.approx(expected)
    assert ReaderOdds(problem).compute_common_odds(none, margin + 1) == pytest.approx(usual), "its margin says nothing"


def test_phrases_of_more_documents_of_a_set_have_higher_odds(problem: PairProblem) -> None:
    sixteen = replace_features(problem, seed_a=SeedSide(tuple(range(16))))
    every, four, one = (rate_first_phrase(sixteen, document_count_a=count, bm25_a=3.0 * count) for count in (16, 4, 1))
    assert every > four > one
    assert four == pytest.approx(
        rate_first_phrase(problem, document_count_a=1, count_a=2, word_count_a=2, bm25_a=3.0)
    ), "like one text that contains it twice"
    assert rate_first_phrase(sixteen, document_count_a=0, bm25_a=0.0) < one, "only part of other phrases"


@pytest.mark.parametrize(("corpus_size", "is_lowered"), [(10_000, True), (MIN_DOCUMENTS_FOR_GRAPH, True), (20, False)])
def test_what_most_documents_have_is_hardly_common(problem: PairProblem, corpus_size: int, is_lowered: bool) -> None:
    """A salutation of all tickets says nothing about two of them. In a very small index, half of it is a few texts."""
    none, margin = np.zeros(3, dtype=bool), np.zeros(3)
    half, less = (
        ReaderOdds(replace_features(problem, corpus_size=corpus_size, document_frequency=np.full(3, count)))
        for count in (corpus_size // 2, corpus_size // 2 - 1)
    )
    fall = (less.compute_common_odds(none, margin) - half.compute_common_odds(none, margin))[0]
    by_rarity = less.compute_distinct_odds_a()[0] - half.compute_distinct_odds_a()[0]
    assert fall - WEIGHTS.common_slope * by_rarity == pytest.approx(-WEIGHTS.ubiquitous if is_lowered else 0.0)


def test_lists_count_their_informative_phrases_and_fillers(problem: PairProblem) -> None:
    assert CONTRADICTION_ODDS < WEIGHTS.distinct_filler < WEIGHTS.distinct_informative
    assert WEIGHTS.common_informative < WEIGHTS.distinct_informative, "two texts share few phrases"
    odds = ReaderOdds(problem).compute_distinct_odds_a()
    raised = (WEIGHTS.distinct_informative + 0.1 - odds) / WEIGHTS.specificity
    rich = get_method("cda").sort_phrases(replace_features(problem, specificity=raised)).distinct_a
    assert (len(rich), rich.informative, rich.fillers) == (2, 2, 2)
    poor = get_method("cda").sort_phrases(replace_features(problem, specificity=raised - [0.0, 1.0, 0.0])).distinct_a
    assert (len(poor), poor.informative, poor.fillers) == (2, 1, 1)
    assert poor.scores == pytest.approx(sorted(poor.scores, reverse=True))


def test_a_phrase_that_repeats_a_word_of_its_list_is_penalised() -> None:
    problem = make_problem(
        ["web graph web page", "noise", "web graph", "web page"], ["web graph", "web page"], parameters=ALL_DISTINCT
    )
    odds = ReaderOdds(problem).compute_distinct_odds_a()
    ranked = get_method("cda").sort_phrases(problem).distinct_a
    best, other = np.argsort(-odds, kind="stable")
    assert ranked.indices.tolist() == [best, other]
    assert ranked.scores == pytest.approx(
        odds_to_probability(np.array([odds[best], odds[other] - WEIGHTS.repeated_word_penalty]))
    )


def test_odds_become_probabilities() -> None:
    assert odds_to_probability(np.array([0.0, 50.0, -1000.0])) == pytest.approx([0.5, 1.0, 0.0])


def test_a_phrase_pair_is_rated_like_its_members(problem: PairProblem) -> None:
    paired = replace_features(problem, phrases=["web@@graph", *problem.phrases[1:]], count_a=2 * problem.a.count)
    assert ReaderOdds(paired).compute_distinct_odds_a()[0] == pytest.approx(rate_first_phrase(problem))


def test_function_words_are_not_penalised_as_repeated() -> None:
    texts = ["bank of japan secretary of state", "noise", "bank of japan", "secretary of state"]
    problem = make_problem(texts, ["bank of japan", "secretary of state"], parameters=ALL_DISTINCT)
    ranked = get_method("cda").sort_phrases(problem).distinct_a
    assert ranked.scores == pytest.approx(
        odds_to_probability(ReaderOdds(problem).compute_distinct_odds_a()[ranked.indices])
    )


def test_implied_phrases_are_listed_where_a_reader_rather_keeps_them(problem: PairProblem) -> None:
    """A doubtful one is left out even of a short list."""
    all_common = replace_features(problem, parameters=replace(ALL_DISTINCT, cut=-9.0), quality=np.ones(3))
    one_shared = replace_features(
        all_common,
        count_a=np.ones(3),
        count_b=np.array([0, 0, 1]),
        topic_cosine_b=np.ones(3),
        partial_match_b=np.ones(3),
        specificity=np.ones(3),
    )
    ranked = get_method("cda").sort_phrases(one_shared).common
    assert len(ranked) == ranked.informative == ranked.fillers == 3
    strict = replace(all_common.parameters, reader_odds=replace(WEIGHTS, implied_intercept=-20.0))
    ranked = get_method("cda").sort_phrases(replace_features(one_shared, parameters=strict)).common
    assert len(ranked) == 3 and ranked.indices[0] == 2
    assert ranked.informative == ranked.fillers == 1


def test_a_partial_match_in_a_long_text_or_a_set_does_not_count(problem: PairProblem) -> None:
    implied, margin = np.ones(3, dtype=bool), np.zeros(3)
    lacked = replace_features(problem, count_a=np.ones(3), count_b=np.zeros(3), partial_match_b=np.full(3, 0.5))
    usual = ReaderOdds(replace_features(lacked, partial_match_b=np.zeros(3))).compute_common_odds(implied, margin)
    assert (ReaderOdds(lacked).compute_common_odds(implied, margin) > usual).all()
    for other in (
        replace_features(lacked, text_length_b=np.full(len(lacked.phrases), int(WEIGHTS.max_text_words) + 1)),
        replace_features(lacked, seed_b=SeedSide((1, 2))),
    ):
        assert ReaderOdds(other).compute_common_odds(implied, margin) == pytest.approx(usual)
