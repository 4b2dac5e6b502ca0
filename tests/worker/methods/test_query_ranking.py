"""A query as a side: the other side's phrases, ranked by relevance to it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from indexer.documents import Document
from indexer.model.evidence_spaces import PhraseEvidence
from tests.support.answer_shape import check_answer
from tests.support.comparisons import INDEX, compare_sides
from tests.support.corpora.planted_pairs import IMPLIED, ONLY_B, SHARED
from worker.comparer import Comparer
from worker.explain.query_side import analyse_query
from worker.methods.base import PairProblem, RankedList, SideFeatures
from worker.methods.query_ranking import QueryRanker, rank_for_query


def test_a_phrase_of_both_is_common_with_a_chance_as_its_score(comparer: Comparer) -> None:
    answer = compare_sides(comparer, "b1", f"query:{SHARED}", cap=0)
    assert answer.common[0].phrase == SHARED
    assert answer.common[0].kind == "shared" and answer.common[0].noise is None
    assert all(0 < entry.score < 1 for entry in answer.common)


def test_in_a_small_index_nothing_is_implied_by_a_query(comparer: Comparer) -> None:
    """Of a few dozen random documents some are related to any query."""
    answer = compare_sides(comparer, "b1", f"query:{IMPLIED}", cap=0)
    assert {entry.kind for entry in answer.common} <= {"shared"}
    assert ONLY_B in {entry.phrase for entry in answer.distinct_a}


def test_phrases_of_the_query_alone_are_distinct(comparer: Comparer) -> None:
    answer = compare_sides(comparer, "b1", f"query:{SHARED} rye flour", cap=0)
    assert "rye flour" in {entry.phrase for entry in answer.distinct_b}
    assert SHARED in {entry.phrase for entry in answer.common}


def test_the_query_may_be_either_side(comparer: Comparer) -> None:
    one, other = (
        compare_sides(comparer, "b1", f"query:{IMPLIED}", cap=0),
        compare_sides(comparer, f"query:{IMPLIED}", "b1", cap=0),
    )
    assert [entry.phrase for entry in one.common] == [entry.phrase for entry in other.common]
    assert [entry.phrase for entry in one.distinct_a] == [entry.phrase for entry in other.distinct_b]
    assert [entry.phrase for entry in one.distinct_b] == [entry.phrase for entry in other.distinct_a]


def test_single_words_and_nested_phrases_of_the_query_are_candidates(comparer: Comparer) -> None:
    answer = compare_sides(comparer, "b1", f"query:the {SHARED} tells", candidates=True, cap=0)
    assert answer.candidates
    assert {SHARED, *SHARED.split()} == {c.phrase for c in answer.candidates["b"]}
    assert set(SHARED.split()) <= {phrase for entry in answer.common for phrase in (entry.phrase, *entry.also)}


@pytest.mark.parametrize("word", ["dance", "Dances", "DANCE"])
def test_a_query_of_one_word_finds_it(comparer: Comparer, word: str) -> None:
    answer = compare_sides(comparer, "b1", f"query:{word}", cap=0)
    assert "dance" in {phrase for entry in answer.common for phrase in (entry.phrase, *entry.also)}


@pytest.mark.parametrize("words", ["zzyzx", "the of it", "?"])
def test_all_phrases_of_the_hit_are_distinct_from_a_query_without_phrases(
    comparer: Comparer, documents: dict[str, Document], words: str
) -> None:
    answer = compare_sides(comparer, "b1", f"query:{words}", cap=0)
    check_answer(answer, documents)
    assert not answer.common and not answer.distinct_b
    assert SHARED in {entry.phrase for entry in answer.distinct_a}
    assert "B contains no phrase of the index" in answer.stats.notes


def make_problem(
    *, partial_match: float = 0.0, words: tuple[str, ...] = (), lacking: tuple[str, ...] = ()
) -> PairProblem:
    """Return three phrases of a hit, the first of which the query has, too.

    ``words`` are those of both texts, ``lacking`` those of the query alone.
    """
    return PairProblem(
        phrases=["oven stone", "stone wall", "rye flour"],
        a=SideFeatures(
            is_salient=np.ones(3, dtype=bool), salience=np.array([0.3, 0.2, 0.9]), count=np.ones(3, int), tokens=words
        ),
        b=SideFeatures(
            tokens=(*words, *lacking),
            is_salient=np.array([True, False, False]),
            salience=np.array([1.0, 0.0, 0.0]),
            count=np.array([1, 0, 0]),
            partial_match=np.array([1.0, 0.0, partial_match]),
        ),
    )


def list_phrases(ranked: RankedList) -> list[str]:
    return [make_problem().phrases[i] for i in ranked.indices.tolist()]


def test_a_longer_phrase_of_both_texts_comes_before_its_parts(comparer: Comparer) -> None:
    answer = compare_sides(comparer, "b1", f"query:{SHARED.split()[-1]} {SHARED}", cap=0)
    assert answer.common[0].phrase == SHARED


def test_phrases_of_the_hit_are_common_if_random_documents_have_none_as_good() -> None:
    ranking = rank_for_query(make_problem(), "b", PhraseEvidence(np.array([0.5, 0.0, 2.2]), np.array([0.9, 0.9, 0.01])))
    assert list_phrases(ranking.common) == ["oven stone", "rye flour"]
    assert ranking.common.scores[0] >= 0.95 > ranking.common.scores[1] > 0.7


def test_a_shared_word_of_a_query_of_several_is_as_likely_as_its_evidence() -> None:
    problem = replace(make_problem(), phrases=["stone", "stone wall", "rye flour"])
    ranking = rank_for_query(problem, "b", PhraseEvidence(np.array([0.5, 0.0, 2.2]), np.array([0.9, 0.9, 0.01])))
    assert ranking.common.indices.tolist() == [2, 0]
    assert ranking.common.scores[0] > 0.7 > 0.5 > ranking.common.scores[1]


def test_a_whole_query_is_as_likely_as_a_run() -> None:
    problem = make_problem()
    problem = replace(
        problem, phrases=["stone", *problem.phrases[1:]], b=replace(problem.b, text_length=np.ones(3, int))
    )
    ranking = rank_for_query(problem, "b", PhraseEvidence(np.zeros(3), np.ones(3)))
    assert ranking.common.indices.tolist() == [0] and ranking.common.scores[0] >= 0.95


def test_a_weak_phrase_is_no_reason_for_a_hit_that_has_a_word_of_the_query() -> None:
    problem = make_problem(words=("stone", "oven"), lacking=("bread",))
    ranking = rank_for_query(problem, "b", PhraseEvidence(np.array([0.5, 0.0, 1.3]), np.array([0.9, 0.9, 0.01])))
    assert list_phrases(ranking.common) == ["oven stone"]


def test_only_a_hit_that_lacks_a_word_of_the_query_needs_other_phrases() -> None:
    evidence = PhraseEvidence(np.array([0.5, 0.0, 2.2]), np.array([0.9, 0.9, 0.01]))
    some = rank_for_query(make_problem(words=("stone", "oven"), lacking=("bread",)), "b", evidence)
    assert list_phrases(some.common) == ["oven stone", "rye flour"]
    every = rank_for_query(make_problem(words=("the", "stone", "oven")), "b", evidence)
    assert list_phrases(every.common) == ["oven stone"]
    assert "rye flour" in list_phrases(every.distinct_hit)


def test_phrases_below_the_floor_are_distinct_unless_they_repeat_a_common_word() -> None:
    ranking = rank_for_query(make_problem(), "b", PhraseEvidence(np.array([0.5, 0.0, 0.9]), np.array([0.9, 0.9, 0.06])))
    assert list_phrases(ranking.common) == ["oven stone"]
    assert list_phrases(ranking.distinct_hit) == ["rye flour"]


def test_other_words_for_a_phrase_of_the_query_need_no_floor() -> None:
    ranking = rank_for_query(make_problem(partial_match=1.0), "b", None)
    assert set(list_phrases(ranking.common)) == {"oven stone", "rye flour"}


def test_a_phrase_of_other_hits_does_not_set_a_hit_apart() -> None:
    ranking = QueryRanker(make_problem(), "b", None).rank(slice(0, 3), (), (), np.array([False, False, True]))
    assert not len(ranking.distinct_hit)


def test_every_phrase_of_a_query_has_a_weight_and_spans(embedded_comparer: Comparer) -> None:
    model = embedded_comparer.engine.open_reader(INDEX).model
    text = "Rye flour, a waggle  dance; dance"
    analysed = analyse_query(Document("", "", text), model)
    spans = {s.phrase: [text[start:end] for _, start, end in s.spans] for s in analysed.salient}
    assert spans["waggle dance"] == ["waggle  dance"]
    assert spans["dance"] == ["dance", "dance"]
    assert spans["rye flour"] == ["Rye flour"]
    assert "flour waggle" not in spans
    assert analysed.degree == pytest.approx(sum(analysed.weights))
    assert max(s.salience for s in analysed.salient) == 1
