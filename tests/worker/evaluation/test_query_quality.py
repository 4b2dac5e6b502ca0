"""Measurements of the reasons for a query's hits that need no judgement: complete, word forms, unrelated documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from indexer.documents import AnalysedDocument
from indexer.progress import no_progress
from tests.support.comparisons import INDEX
from worker.comparer import Comparer
from worker.evaluation.query_answers import HitAnswer, QueryRunner, fold_words
from worker.evaluation.query_parts.unrelated_documents import UnrelatedDrawer, measure_unrelated
from worker.evaluation.query_quality import (
    MAX_QUERY_WORDS,
    QuerySample,
    draw_title_queries,
    evaluate_queries,
    find_untold_words,
    measure_completeness,
    measure_word_forms,
)
from worker.explain.text.partial_match import is_same_word_family

SAMPLE = QuerySample(title_queries=12, hits=5, unrelated=4, forms=40)


@pytest.fixture(scope="module")
def runner(embedded_comparer: Comparer) -> QueryRunner:
    return QueryRunner(embedded_comparer, INDEX)


@pytest.fixture(scope="module")
def pool(runner: QueryRunner) -> list[AnalysedDocument]:
    return list(runner.reader.scan())


def make_answer(matched: Sequence[str] = (), common: Sequence[str] = (), **entry: Any) -> HitAnswer:
    """Return an answer with matched words and common phrases."""
    matches = [{"word": word, "as": word.upper(), "field": "text", "start": 0, "end": 1} for word in matched]
    entries = [{"phrase": p, "display": p, "score": 0.4, "kind": "shared"} | entry for p in common]
    return HitAnswer("honey bees", "a1", matches, entries)


@pytest.mark.parametrize(
    ("answer", "untold"),
    [
        (make_answer(), {"honey", "bees"}),
        (make_answer(matched=["bees"]), {"honey"}),
        (make_answer(common=["honey bee"]), set()),
        (make_answer(common=["queen bee"]), {"honey"}),
        (make_answer(common=["bee@@wax"]), {"honey"}),
        (make_answer(common=["nectar"], display="HONEY"), {"bees"}),
        (make_answer(common=["nectar"], also=["honey bee"]), {"honey", "bees"}),
    ],
)
def test_a_word_is_told_by_a_match_or_by_a_phrase_that_is_shown(
    runner: QueryRunner, answer: HitAnswer, untold: set[str]
) -> None:
    assert find_untold_words(runner, answer, ["honey", "bees"]) == untold


def test_title_queries_are_up_to_three_content_words_of_one_title(
    runner: QueryRunner, pool: list[AnalysedDocument]
) -> None:
    titles = [fold_words(document.document.title) for document in pool]
    queries = draw_title_queries(runner, pool, 20, seed=1)
    assert len(set(queries)) == len(queries) > 10
    assert {len(query.split()) for query in queries} <= set(range(1, MAX_QUERY_WORDS + 1))
    for query in queries:
        assert any(set(query.split()) <= set(title) for title in titles)
        assert not {"on", "the"} & set(query.split())
    assert queries == draw_title_queries(runner, pool, 20, seed=1)


def test_completeness_counts_hits_that_hold_a_word_and_lists_the_untold_ones(
    runner: QueryRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tell_first_word(query: str, ids: list[str]) -> list[HitAnswer]:
        return [replace(make_answer(matched=[query.split()[0]]), query=query, hit=id) for id in ids]

    answers: list[HitAnswer] = []
    monkeypatch.setattr(runner, "explain", tell_first_word)
    result = measure_completeness(runner, ["waggle dance", "keel"], SAMPLE, answers, no_progress)
    assert result["queries"] == 2
    assert result["of"]["hits_told"] == len(answers) == 10
    assert result["figures"]["hits_told"] == 1
    assert result["figures"]["words_told"] == pytest.approx(10 / 15)
    assert {tuple(miss["untold"]) for miss in result["misses"]} == {("dance",)}
    assert len(result["misses"]) == 5


def test_a_word_form_meets_the_documents_that_have_its_lemma(runner: QueryRunner, pool: list[AnalysedDocument]) -> None:
    source = replace(pool[0].document, title="Waggle", text="dances")
    intact = replace(pool[0], document=source, tokens="waggle\ndance")
    broken = replace(pool[0], document=source, tokens="wag\ndance")
    result = measure_word_forms(runner, [intact, intact, broken], SAMPLE)
    assert result["forms"] == 2
    misses = [miss for miss in result["misses"] if miss["form"].lower() == "waggle"]
    assert {miss["form"] for miss in misses} == {"waggle", "WAGGLE", "Waggle"}
    assert all((miss["met"], miss["of"], miss["held_as"]) == (2, 3, ["wag", "waggle"]) for miss in misses)
    assert result["of"] == {"forms_met": 6, "documents_met": 18}
    assert result["figures"]["forms_met"] == (6 - len(result["misses"])) / 6


def test_unrelated_documents_share_no_word_and_no_family_with_the_query(
    runner: QueryRunner, pool: list[AnalysedDocument]
) -> None:
    drawer = UnrelatedDrawer(runner, pool)
    by_id = {document.document.id: document for document in pool}
    drawn = drawer.draw("the Honeys starring", 20, seed=1)
    assert len(set(drawn)) == 20
    for id in drawn:
        words = {*fold_words(by_id[id].document.title), *fold_words(by_id[id].document.text)}
        assert "the" in words
        assert not any(is_same_word_family(word, asked) for word in words for asked in ("honey", "starring"))
    assert drawn == drawer.draw("the Honeys starring", 20, seed=1)
    assert drawn != drawer.draw("the Honeys starring", 20, seed=2)


def test_an_unrelated_document_counts_as_told_by_common_alone(
    runner: QueryRunner, pool: list[AnalysedDocument], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = [make_answer(common=["hive"]), make_answer(matched=["hive"]), make_answer(), make_answer()]
    monkeypatch.setattr(runner, "explain", lambda query, ids: told)
    result = measure_unrelated(runner, ["honey", "keel"], pool, 4, 1, [], no_progress)
    assert (result["figures"], result["of"]) == ({"unrelated_told": 0.25}, {"unrelated_told": 8})
    assert result["intervals"] == {"unrelated_told": (0.25, 0.25)}


def test_the_same_seed_gives_the_same_figures_and_lists_what_was_told(comparer: Comparer) -> None:
    first, second = (evaluate_queries(comparer, INDEX, SAMPLE, with_answers=True) for _ in range(2))
    assert first == second
    assert first["complete"]["queries"] == first["unrelated"]["queries"] == SAMPLE.title_queries
    assert len(first["answers"]["unrelated"]) == first["unrelated"]["of"]["unrelated_told"]
    assert len(first["answers"]["complete"]) == first["complete"]["of"]["hits_told"] > SAMPLE.title_queries
    assert {"query", "hit", "matched", "common"} == set(first["answers"]["complete"][0])
    assert "judged" not in first
    asked = evaluate_queries(comparer, INDEX, SAMPLE, queries=["keel"], with_answers=True)
    assert {answer["query"] for answer in asked["answers"]["unrelated"]} == {"keel"}
