"""A query as a side: the other side's phrases, ranked by relevance to it."""

from __future__ import annotations

import numpy as np
import pytest

from indexer.analysis.analyzer import Analyzer
from indexer.documents import Document
from tests.support.answer_shape import check_answer
from tests.support.comparisons import INDEX, compare_sides
from tests.support.corpora.planted_pairs import IMPLIED, ONLY_B, PHRASES, SHARED
from worker.comparer import Comparer
from worker.explain.query_side import add_every_phrase
from worker.methods.base import MethodResult, PairProblem, RankedList, SideFeatures
from worker.methods.query_ranking import rank_for_query

BEES = set(PHRASES["bees"])


def test_phrases_of_the_hit_are_ranked_by_relevance_to_the_query(comparer: Comparer) -> None:
    answer = compare_sides(comparer, "b1", f"query:{SHARED}", cap=0)
    assert answer.common[0].phrase == SHARED
    assert answer.common[0].kind == "shared"
    relevance = [entry.relevance_b for entry in answer.common]
    assert relevance == sorted(relevance, reverse=True)
    assert [entry.score for entry in answer.common] == relevance


def test_phrases_of_other_hits_of_the_query_are_implied(comparer: Comparer) -> None:
    answer = compare_sides(comparer, "b1", f"query:{IMPLIED}", cap=0)
    implied = [entry.phrase for entry in answer.common if entry.kind == "implied"]
    assert implied and set(implied) <= BEES
    assert ONLY_B in {entry.phrase for entry in answer.distinct_a}
    assert all(entry.reasons and entry.reasons.bridges for entry in answer.common if entry.kind == "implied")


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


def test_query_words_that_are_no_phrases_rank_the_phrases_that_contain_them() -> None:
    phrases = ["oven stone", "stone wall", "rye flour"]
    yes, no = np.ones(3, dtype=bool), np.zeros(3, dtype=bool)
    problem = PairProblem(
        phrases=phrases,
        a=SideFeatures(is_salient=yes, salience=np.array([0.3, 0.2, 0.9]), count=np.ones(3, dtype=np.int64)),
        b=SideFeatures(is_salient=no, word_bm25=np.array([1.0, 2.0, 0.0])),
    )
    nothing = RankedList(np.zeros(0, dtype=np.int64), np.zeros(0))
    before = MethodResult(
        phrases=phrases, common=nothing, distinct_a=nothing, distinct_b=nothing,
        relevance_a=np.ones(3), relevance_b=np.zeros(3), margin=np.full(3, -50.0),
    )  # fmt: skip
    result = rank_for_query(problem, before, "b")
    assert [phrases[i] for i in result.common.indices] == ["stone wall", "oven stone"]
    assert [phrases[i] for i in result.distinct_a.indices] == ["rye flour"]


def test_every_phrase_of_a_query_has_a_weight_and_spans(embedded_comparer: Comparer) -> None:
    model = embedded_comparer.engine.open_reader(INDEX).model
    text = "Rye flour, a waggle  dance; dance"
    analysed = add_every_phrase(Analyzer(model).analyse(Document("", "", text)), model)
    spans = {s.phrase: [text[start:end] for _, start, end in s.spans] for s in analysed.salient}
    assert spans["waggle dance"] == ["waggle  dance"]
    assert spans["dance"] == ["dance", "dance"]
    assert spans["rye flour"] == ["Rye flour"]
    assert "flour waggle" not in spans
    assert analysed.degree == pytest.approx(sum(analysed.weights))
    assert max(s.salience for s in analysed.salient) == 1
