"""A results page explained by its query: the same reasons as the comparisons behind it, without their cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from indexer.analysis.reservoir import RESERVOIR_SIZE
from indexer.documents import Document
from indexer.engines import open_engine
from indexer.indexing.build import build_index
from indexer.model.bm25 import split_phrase_words
from indexer.model.phrase_model import PhraseModel
from indexer.text.stopwords import ENGLISH_STOPWORDS
from tests.support.corpora.query_corpus import INDEX, QueryCorpus
from worker.answer.brief_reasons import HitReasons
from worker.comparer import Comparer
from worker.explain.side import Side
from worker.explain.spec import ComparisonSpec

HIT_COUNT = 10


@pytest.fixture(scope="module")
def corpus() -> QueryCorpus:
    return QueryCorpus()


@pytest.fixture(scope="module")
def comparer(corpus: QueryCorpus, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Comparer]:
    with corpus.index_in(tmp_path_factory.mktemp("page")) as comparer:
        yield comparer


def make_specs(comparer: Comparer, query: str, hits: Sequence[str]) -> list[ComparisonSpec]:
    asked = Side.from_json({"query": query})
    return [comparer.make_spec(INDEX, Side.from_id(hit), asked) for hit in hits]


def explain(comparer: Comparer, query: str, hits: Sequence[str]) -> list[HitReasons]:
    return comparer.explain_query_page(make_specs(comparer, query, hits)).reasons


@pytest.fixture(scope="module")
def query_and_hits(corpus: QueryCorpus) -> tuple[str, list[str]]:
    """A word of a topic and one of another, with documents of the first topic and of others."""
    related = [id for id, topic in corpus.topic_by_id.items() if topic == 0][: HIT_COUNT // 2]
    query = f"{corpus.topics[0][0].split()[0]} {corpus.topics[1][0].split()[0]}"
    return query, related + corpus.draw_unrelated(0, HIT_COUNT - len(related))


def test_the_common_phrases_are_those_of_the_comparison(
    comparer: Comparer, query_and_hits: tuple[str, list[str]]
) -> None:
    query, hits = query_and_hits
    told = 0
    for spec, reasons in zip(make_specs(comparer, query, hits), explain(comparer, query, hits), strict=True):
        comparison = comparer.compare(spec)
        assert [(one.phrase, one.display, one.score, one.kind, one.noise) for one in reasons.common] == [
            (one.phrase, one.display, one.score, one.kind, one.noise) for one in comparison.common
        ]
        assert reasons.match == comparison.match
        displays = [one.display.casefold() for one in reasons.common]
        assert len(displays) == len(set(displays))
        told += any(one.kind == "meaning" for one in reasons.common)
    assert told, "the page says something that is not simply a word of both"


def test_a_page_costs_one_request(comparer: Comparer, query_and_hits: tuple[str, list[str]]) -> None:
    query, hits = query_and_hits
    explain(comparer, query, hits)
    before = comparer.engine.request_count
    explain(comparer, query, hits)
    assert comparer.engine.request_count - before == 1


def test_what_sets_a_hit_apart_is_in_no_other_hit_and_repeats_no_common_word(
    comparer: Comparer, query_and_hits: tuple[str, list[str]]
) -> None:
    query, hits = query_and_hits
    page = explain(comparer, query, hits)
    tokens = [document.tokens for document in comparer.engine.open_reader(INDEX).fetch(hits) if document]
    assert any(reasons.distinct for reasons in page)
    for position, reasons in enumerate(page):
        others = [f" {text} ".replace("\n", " ") for n, text in enumerate(tokens) if n != position]
        common = {word for one in reasons.common for word in split_phrase_words(one.phrase)} - ENGLISH_STOPWORDS
        for one in reasons.distinct:
            assert not any(f" {one.phrase} " in text for text in others), one
            assert common.isdisjoint(split_phrase_words(one.phrase))


def test_a_phrase_that_another_hit_has_in_another_segmentation_does_not_set_a_hit_apart(
    comparer: Comparer, query_and_hits: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.answer.query_page.Counter", lambda _: Counter())  # as if no segment were shared
    test_what_sets_a_hit_apart_is_in_no_other_hit_and_repeats_no_common_word(comparer, query_and_hits)


def test_an_index_without_a_reservoir_tells_what_both_contain(
    comparer: Comparer, query_and_hits: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one of a former version."""
    query, hits = query_and_hits
    reader = comparer.engine.open_reader(INDEX)
    empty = PhraseModel.from_bytes(reader.model.to_bytes())
    former = replace(empty, reservoir_vectors=empty.reservoir_vectors[:0], topic_scales=empty.topic_scales[:0])
    monkeypatch.setattr(type(reader), "model", former)
    monkeypatch.setattr(comparer, "_readers", {INDEX: reader})
    page = explain(comparer, query, hits)
    assert {one.kind for reasons in page for one in reasons.common} == {"shared"}
    assert {one.noise for reasons in page for one in reasons.common} == {None}


def test_the_reservoir_has_the_salient_phrases_of_documents_drawn_by_a_seed(
    comparer: Comparer, corpus: QueryCorpus
) -> None:
    model = comparer.engine.open_reader(INDEX).model
    assert len(model.reservoir_vectors) == min(RESERVOIR_SIZE, len(corpus.documents))
    assert len(model.reservoir_starts) == len(model.reservoir_vectors) + 1
    assert model.reservoir_starts[-1] == len(model.reservoir_phrase_ids) > 0
    assert model.reservoir_phrase_ids.max() < len(model.phrases)


def test_a_phrase_that_only_one_text_shows_sets_a_hit_apart_unless_another_hit_has_it(tmp_path: Path) -> None:
    pages = [Document(f"p{n}", f"The oven number {n} was warm. It baked bread in the morning.") for n in range(40)]
    shared = "The oven was hot. A copper whistle rang, the copper whistle fell."
    hits = [Document("a", f"{shared} A waggle dance began."), Document("b", f"{shared} A brass trumpet rang.")]
    with open_engine(str(tmp_path)) as engine:
        build_index([*pages, *hits], engine, INDEX, processes=1)
        first, second = explain(Comparer(engine), "oven", ["a", "b"])
    assert "waggle dance" in {one.phrase for one in first.distinct}
    assert "brass trumpet" in {one.phrase for one in second.distinct}
    assert "copper whistle" not in {one.phrase for hit in (first, second) for one in hit.distinct}
