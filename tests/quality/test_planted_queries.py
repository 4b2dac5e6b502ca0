"""Reasons for the hits of queries on a corpus with planted words: complete, in any case, and none where none is due."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from indexer.progress import no_progress
from tests.support.corpora.query_corpus import CAPITALS, INDEX, PLANTED, TOPIC_COUNT, QueryCorpus
from worker.comparer import Comparer
from worker.evaluation.query_answers import QueryRunner
from worker.evaluation.query_quality import (
    QuerySample,
    draw_title_queries,
    measure_completeness,
    measure_word_forms,
)
from worker.explain.side import Side

MAX_NOISE = 0.05
"""Noise up to which an entry that does not stand in both is shown."""


@pytest.fixture(scope="module")
def corpus() -> QueryCorpus:
    return QueryCorpus()


@pytest.fixture(scope="module")
def comparer(corpus: QueryCorpus, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Comparer]:
    with corpus.index_in(tmp_path_factory.mktemp("planted")) as comparer:
        yield comparer


@pytest.fixture(scope="module")
def runner(comparer: Comparer) -> QueryRunner:
    return QueryRunner(comparer, INDEX)


def explain_hit(comparer: Comparer, hit: str, query: str) -> dict[str, Any]:
    """Return the JSON of the answer for one hit."""
    return comparer.compare(comparer.make_spec(INDEX, Side.from_id(hit), Side.from_json({"query": query}))).to_dict()


@pytest.mark.parametrize("word", PLANTED)
def test_a_planted_word_is_matched_where_it_stands(comparer: Comparer, corpus: QueryCorpus, word: str) -> None:
    (document,) = (document for document in corpus.documents if document.id == f"planted-{word}")
    (match,) = explain_hit(comparer, document.id, word.lower())["matched"]
    assert match["word"] == word.lower()
    assert match["as"] == document.text[match["start"] : match["end"]] == word
    assert match["field"] == "text"


def test_words_that_the_hit_lacks_are_told_apart_from_those_it_holds(comparer: Comparer) -> None:
    answer = explain_hit(comparer, "planted-mgetty", "mgetty zeppelin")
    assert [match["word"] for match in answer["matched"]] == ["mgetty"]
    assert answer["lacks"] == ["zeppelin"]


def test_a_function_word_is_matched_only_where_the_query_has_nothing_else(comparer: Comparer) -> None:
    answer = explain_hit(comparer, "planted-mgetty", "the mgetty on")
    assert [match["word"] for match in answer["matched"]] == ["mgetty"]
    assert [match["word"] for match in explain_hit(comparer, "planted-mgetty", "on")["matched"]] == ["on"]


def test_hits_of_title_words_are_explained_by_the_words_they_hold(runner: QueryRunner) -> None:
    queries = draw_title_queries(runner, runner.reader.scan(), 40, seed=1)
    sample = QuerySample(title_queries=40)
    result = measure_completeness(runner, [*map(str.lower, PLANTED), *queries], sample, [], no_progress)
    assert result["misses"] == []
    assert result["of"]["hits_told"] > 200


@pytest.mark.parametrize("word", PLANTED)
def test_a_planted_word_is_found_in_any_case(runner: QueryRunner, word: str) -> None:
    expected = {f"planted-{word}"} | ({"capitals"} if word in CAPITALS.split() else set())
    for query in list_case_variants(word):
        assert expected <= {hit.id for hit in runner.search(query, 10)}, query


@pytest.mark.parametrize("word", PLANTED)
def test_a_planted_word_is_matched_in_any_case(runner: QueryRunner, word: str) -> None:
    for query in list_case_variants(word):
        (answer,) = runner.explain(query, [f"planted-{word}"])
        assert [match["as"] for match in answer.matched] == [word], query


def list_case_variants(word: str) -> list[str]:
    return [word, word.lower(), word.upper(), word.capitalize()]


@pytest.mark.parametrize("acronym", ["DVD", "GPU"])
def test_the_plural_of_an_acronym_is_found_by_its_singular_in_any_case(runner: QueryRunner, acronym: str) -> None:
    for query in list_case_variants(acronym):
        assert f"planted-{acronym}s" in [hit.id for hit in runner.search(query, 10)], query


def test_every_word_form_meets_its_documents_in_any_case(runner: QueryRunner) -> None:
    result = measure_word_forms(runner, runner.reader.scan(), QuerySample(forms=0))
    assert result["misses"] == []
    assert result["forms"] > TOPIC_COUNT


def test_documents_of_other_topics_get_no_reason(runner: QueryRunner, corpus: QueryCorpus) -> None:
    told = [
        answer.common
        for topic, phrases in enumerate(corpus.topics)
        for answer in runner.explain(phrases[0], corpus.draw_unrelated(topic, 10))
    ]
    assert sum(map(bool, told)) <= MAX_NOISE * len(told)


def test_documents_that_hold_the_phrase_are_told_it(runner: QueryRunner, corpus: QueryCorpus) -> None:
    for phrases in corpus.topics[:10]:
        hits = [hit.id for hit in runner.search(phrases[0], 3)]
        for answer in runner.explain(phrases[0], hits):
            assert phrases[0] in [entry["phrase"] for entry in answer.common]


def test_what_does_not_stand_in_both_is_above_the_noise_and_every_score_is_a_chance(
    runner: QueryRunner, corpus: QueryCorpus
) -> None:
    ids = [document.id for document in corpus.documents[:TOPIC_COUNT:4]]
    entries = [
        entry for phrases in corpus.topics[:8] for answer in runner.explain(phrases[0], ids) for entry in answer.common
    ]
    assert entries
    assert all(0 <= entry["score"] <= 1 for entry in entries)
    assert all(entry["noise"] <= MAX_NOISE for entry in entries if entry["kind"] != "shared")
