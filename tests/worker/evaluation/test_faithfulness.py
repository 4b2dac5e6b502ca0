"""Texts cut by their reasons, and the similarity that they lose."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from indexer.documents import AnalysedDocument, Document
from indexer.progress import no_progress
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.tokenizer import lemmatize_document
from tests.support.comparisons import INDEX
from tests.support.word_encoder import FieldEncoder
from worker.comparer import Comparer
from worker.evaluation.query_answers import HitAnswer, QueryRunner
from worker.evaluation.query_parts.faithfulness import (
    CutTexts,
    LeftOut,
    cut_text,
    measure_faithfulness,
    split_sentences,
)
from worker.evaluation.query_quality import make_query_encoder

LEMMATIZER = Lemmatizer("en")
TEXT = "A honey bee flies. It rains! The hives are full? Nobody came. "


def analyse(title: str, text: str) -> AnalysedDocument:
    document = Document("d1", title, text)
    return AnalysedDocument(document, lemmatize_document(document, LEMMATIZER), (), (), (), 0.0, "")


def cut(document: AnalysedDocument, phrases: Sequence[str], read_characters: int = 10_000) -> CutTexts:
    return cut_text(document, phrases, LEMMATIZER, FieldEncoder([], read_characters), random.Random(1))


def test_sentences_of_the_text_make_up_its_read_part() -> None:
    document = analyse("Bees. And more", TEXT).document
    sentences = split_sentences(document, LEMMATIZER, len(TEXT))
    assert [sentence.text for sentence in sentences] == [
        "A honey bee flies. ",
        "It rains! ",
        "The hives are full? ",
        "Nobody came. ",
    ]
    assert sentences[0].tokens == range(3, 7)
    assert [sentence.text for sentence in split_sentences(document, LEMMATIZER, 24)] == ["A honey bee flies. ", "It ra"]


def test_sentences_with_a_reason_are_cut_and_as_many_others() -> None:
    texts = cut(analyse("Honey bee", TEXT), ["honey bee", "hive"])
    assert texts == CutTexts(TEXT.strip(), "It rains! Nobody came.", "A honey bee flies. The hives are full?")


def test_where_most_sentences_have_a_reason_the_first_reasons_are_cut() -> None:
    texts = cut(analyse("", TEXT), ["hive", "rain", "honey bee"])
    assert texts.without_reasons == "A honey bee flies. It rains! Nobody came."
    assert texts.without_others == "A honey bee flies. It rains! The hives are full?"


@pytest.mark.parametrize(
    ("phrases", "read_characters", "cause"),
    [
        ([], 10_000, "no reason"),
        (["wax"], 10_000, "reasons in the title only"),
        (["hive"], 24, "reasons in the title only"),
        (["honey bee", "rain", "hive", "nobody"], 10_000, "reasons in every sentence"),
    ],
)
def test_a_hit_that_cannot_be_tested_is_left_out(phrases: list[str], read_characters: int, cause: str) -> None:
    with pytest.raises(LeftOut, match=cause):
        cut(analyse("Wax", TEXT), phrases, read_characters)


def test_reasons_are_faithful_if_the_hit_loses_more_without_them_than_without_others(
    embedded_comparer: Comparer, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = FieldEncoder(["honey bee hives"])
    runner = QueryRunner(embedded_comparer, INDEX, make_query_encoder(encoder))
    monkeypatch.setattr(runner.reader, "fetch", lambda ids: [analyse("", TEXT) for _ in ids])

    def answer(query: str, *phrases: str) -> HitAnswer:
        return HitAnswer(query, "d1", [], [{"phrase": phrase, "display": phrase} for phrase in phrases])

    answers = [answer("bee", "honey bee", "hive"), answer("bee", "rain", "nobody"), answer("hives")]
    result = measure_faithfulness(runner, encoder, answers, 1, no_progress)
    assert result["figures"]["faithful"] == 0.5
    assert result["figures"]["reason_loss"] == pytest.approx(result["figures"]["other_loss"], abs=1e-6)
    assert (result["queries"], result["of"]["faithful"], result["left_out"]) == (2, 2, {"no reason": 1})
    (miss,) = result["misses"]
    assert miss["reasons"] == ["rain", "nobody"]
    assert miss["losses"][0] < miss["losses"][1]
