"""What a phrase of a comparison is called."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from indexer.documents import AnalysedDocument, Document
from indexer.engines.base import Reader
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.tokenizer import lemmatize_document
from tests.worker.explain.test_partial_match import model
from worker.explain.resolved_side import ResolvedSide
from worker.explain.side import Side
from worker.phrasing.full_form import FullForms
from worker.phrasing.proper_names import FullForm

EVERYDAY = {"say": 0.1, "network": 0.6}
"""Words of half the documents, with their quality."""
KNOWN = replace(
    model(),
    phrases=list(EVERYDAY),
    quality=np.array(list(EVERYDAY.values()), dtype=np.float32),
    words=list(EVERYDAY),
    word_document_frequency=np.full(len(EVERYDAY), 50, dtype=np.int32),
)
HAIR = "Hair cells differ. The hair cells of mice, hair cells of men."


def side(*texts: str, title: str = "") -> ResolvedSide:
    documents, lemmas = [], Lemmatizer("en")
    for number, text in enumerate(texts):
        document = Document(str(number), title, text)
        tokens = lemmatize_document(document, lemmas)
        documents.append(AnalysedDocument(document, tokens, (), (), (), 0.0, ""))
    return ResolvedSide(
        Side.from_json({"ids": [d.document.id for d in documents]}),
        tuple(documents),
        cast("Reader", SimpleNamespace(model=KNOWN)),
    )


def called(phrase: str, *sides: ResolvedSide) -> FullForm | None:
    return FullForms(sides).find(phrase)


def test_half_of_a_compound_is_called_by_the_whole_with_few_capitals() -> None:
    assert called("hair", side(HAIR), side("Nothing of it.")) == FullForm("hair cells", "hair cell")
    assert called("mouse", side(HAIR), side("Nothing of it.")) is None


def test_two_texts_that_hold_it_must_both_hold_the_whole() -> None:
    assert called("hair", side(HAIR), side("A hair cell.")) == FullForm("hair cell", "hair cell")
    assert called("hair", side(HAIR), side("Her hair is long.")) is None


def test_of_a_set_nothing_is_asked() -> None:
    assert called("hair", side(HAIR, HAIR), side("Nothing of it.")) is None


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("Neural networks learn. A neural network.", "neural network"),
        ("Apple says so. Apple says nothing.", None),  # an everyday word of no quality
        ("On the hill. The hill.", None),
        ("Route 66 is long. We drove Route 66.", None),
        ("Vitamin K helps. Take vitamin K.", None),
    ],
)
def test_not_every_neighbour_is_a_part(text: str, whole: str | None) -> None:
    phrase = Lemmatizer("en")[text.split()[0] if text[0] != "O" else "hill"]
    found = called(phrase, side(text))
    assert (found and found.lemmas) == whole


def test_a_title_that_the_text_begins_with_counts_once() -> None:
    text = "Merge sorted arrays. They stay."
    assert called("sort", side(text, title="Merge sorted arrays")) is None
    assert called("sort", side("They stay, sorted arrays.", title="Merge sorted arrays")) is not None


def test_a_name_comes_first() -> None:
    namer = FullForms([side("Then Mark Hughes came. Hughes won the cup final, a cup final.")])
    assert namer.find("hughes") == FullForm("Mark Hughes", "mark hughes")
    assert namer.find("cup") == FullForm("cup final", "cup final")
    assert namer.find("cup@@final") is None


def test_a_compound_is_written_as_it_is_and_no_further() -> None:
    text = "The pre-trained model and the self-trained model."
    assert called("model", side(text)) == FullForm("trained model", "train model")
    assert called("descent", side("GRADIENT DESCENT IS SLOW. THE GRADIENT DESCENT METHOD.")) == FullForm(
        "GRADIENT DESCENT", "gradient descent"
    )


def test_a_sentence_read_twice_says_it_once() -> None:
    once = side("Yesterday Honda quietly raised prices of cars.")
    assert called("price", once, once) is called("price", once) is None
    one, other = (side(f"{start} Shares of Acme fell sharply on Friday.") for start in ("Oil rose.", "Gold fell."))
    assert called("share", one, other) is None


def test_swapping_the_sides_changes_no_name() -> None:
    one, other = side("Hair cells differ. The hair cells."), side("A hair cell is. One hair cell.")
    assert called("hair", one, other) == called("hair", other, one) == FullForm("hair cell", "hair cell")


def test_of_a_language_without_a_list_only_phrases_are_parts() -> None:
    german = replace(KNOWN, settings={"language": "de"})
    found = side("Der Hund bellt. Der Hund, der Hund.")
    object.__setattr__(found, "reader", SimpleNamespace(model=german))
    assert called("hund", found) is None
