"""The passage of a hit: a sentence of its own text that tells what the query asks for, if one stands out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from indexer.documents import Document
from indexer.engines import open_engine
from indexer.indexing.build import build_index
from tests.support.corpora.passage_corpus import (
    ABOUT_QUERY,
    ALL_WORDS,
    EMPTY,
    INDEX,
    ONLY_TITLE,
    OTHER_WORDS,
    PLANTED,
    QUERY,
    SENTENCES,
    SOME_WORDS,
    TOPICS,
    UNRELATED,
    make_documents,
)
from worker.answer.brief_reasons import HitReasons
from worker.comparer import Comparer
from worker.explain.passage import Passage
from worker.explain.side import Side
from worker.explain.spec import ComparisonSpec


@pytest.fixture(scope="module")
def comparer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Comparer]:
    with open_engine(str(tmp_path_factory.mktemp("passages"))) as engine:
        build_index(make_documents(), engine, INDEX, processes=1)
        yield Comparer(engine)


def make_spec(comparer: Comparer, hit: Side, query: str = QUERY) -> ComparisonSpec:
    return comparer.make_spec(INDEX, hit, Side.from_json({"query": query}))


def explain(comparer: Comparer, *hits: Document, query: str = QUERY) -> list[HitReasons]:
    specs = [make_spec(comparer, Side.from_id(hit.id), query) for hit in hits]
    return comparer.explain_query_page(specs).reasons


def find_in_text(comparer: Comparer, text: str, query: str = QUERY) -> Passage | None:
    return comparer.compare(make_spec(comparer, Side.from_json({"text": text}), query)).passage


def test_the_sentence_that_tells_it_in_other_words_is_the_passage(comparer: Comparer) -> None:
    (reasons,) = explain(comparer, OTHER_WORDS)
    assert reasons.match is not None
    assert not reasons.match.matched
    start = OTHER_WORDS.text.index(ABOUT_QUERY)
    assert reasons.passage == Passage("text", start, start + len(ABOUT_QUERY), ABOUT_QUERY)
    assert reasons.to_dict()["passage"] == {
        "field": "text", "start": start, "end": start + len(ABOUT_QUERY), "text": ABOUT_QUERY
    }  # fmt: skip


def test_a_hit_that_contains_every_word_of_the_query_needs_no_passage(comparer: Comparer) -> None:
    some, every = explain(comparer, SOME_WORDS, ALL_WORDS)
    assert some.passage is not None
    assert "physician" in some.passage.text
    assert every.passage is None
    assert "passage" not in every.to_dict()


def test_a_hit_about_something_else_has_no_passage_and_its_title_is_none(comparer: Comparer) -> None:
    assert [one.passage for one in explain(comparer, UNRELATED, ONLY_TITLE, EMPTY)] == [None] * 3


def test_a_page_and_the_comparisons_behind_it_tell_the_same_passage(comparer: Comparer) -> None:
    for hit, reasons in zip(PLANTED, explain(comparer, *PLANTED), strict=True):
        comparison = comparer.compare(make_spec(comparer, Side.from_id(hit.id)))
        assert comparison.passage == reasons.passage
        assert comparison.to_dict().get("passage") == reasons.to_dict().get("passage")
        swapped = comparer.make_spec(INDEX, Side.from_json({"query": QUERY}), Side.from_id(hit.id))
        assert comparer.compare(swapped).passage == reasons.passage


def test_a_set_and_two_documents_have_no_passage(comparer: Comparer) -> None:
    both = Side.from_json({"ids": [OTHER_WORDS.id, SOME_WORDS.id]})
    assert comparer.compare(make_spec(comparer, both)).passage is None
    pair = comparer.make_spec(INDEX, Side.from_id(OTHER_WORDS.id), Side.from_id(SOME_WORDS.id))
    assert comparer.compare(pair).passage is None


def test_a_query_of_unknown_words_has_no_passage(comparer: Comparer) -> None:
    assert [one.passage for one in explain(comparer, OTHER_WORDS, query="qwertyuiop asdfghjkl")] == [None]


def test_words_that_only_hidden_documents_have_count_as_unknown(tmp_path: Path) -> None:
    """A caller must not learn from a passage that hidden documents connect a guessed word to it."""
    hidden = [
        replace(one, acl=("staff",)) if one.title in TOPICS["medicine"] else one for one in make_documents()[:400]
    ]
    with open_engine(str(tmp_path)) as engine:
        build_index([*hidden, OTHER_WORDS], engine, INDEX, processes=1)
        comparer = Comparer(engine)
        spec = make_spec(comparer, Side.from_id(OTHER_WORDS.id))
        assert comparer.compare(spec).passage is not None
        guest_passage = comparer.compare(replace(spec, groups=frozenset({"guests"}))).passage
        build_index([one for one in [*hidden, OTHER_WORDS] if not one.acl], engine, "readable", processes=1)
        readable = comparer.make_spec("readable", Side.from_id(OTHER_WORDS.id), spec.b)
        assert guest_passage == comparer.compare(readable).passage


def test_the_offsets_are_those_of_the_original_text(comparer: Comparer) -> None:
    text = "\n\n  «Ünïcode — 字» 😀 stands here today.\n\n" + " ".join(SENTENCES) + "\x00\t"
    passage = find_in_text(comparer, text)
    assert passage is not None
    assert text[passage.start : passage.end] == passage.text == ABOUT_QUERY


@pytest.mark.parametrize(
    "text",
    [
        "... !!! ???",
        "doctor",
        ABOUT_QUERY,
        "the doctor saw each patient of the clinic without any end",
        "医生在医院里给病人做手术。他们明天再来。天气很好，我们去公园。",
        "def treat(doctor, patient):\n    if patient.ill:\n        return doctor.heal(patient)\n" * 20,
        "doctor " * 20_000,
        "A lone \ud800 surrogate. The doctor saw \udfff a patient.",
        "x" * 100_000,
    ],
    ids=["punctuation", "word", "sentence", "no end", "ideographs", "code", "one line", "surrogates", "data"],
)
def test_a_text_without_sentences_does_no_harm(comparer: Comparer, text: str) -> None:
    passage = find_in_text(comparer, text)
    assert passage is None or passage.text in text.replace("\ud800", "�").replace("\udfff", "�")


def test_a_text_in_capitals_has_a_passage(comparer: Comparer) -> None:
    passage = find_in_text(comparer, " ".join(SENTENCES).upper())
    assert passage is not None
    assert passage.text == ABOUT_QUERY.upper()


def test_an_answer_whose_only_reason_is_a_passage_is_not_empty(comparer: Comparer) -> None:
    answer = comparer.compare(make_spec(comparer, Side.from_id(OTHER_WORDS.id)))
    assert answer.no_evidence is None
