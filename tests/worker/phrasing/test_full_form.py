"""The full form of a phrase: the name or compound that it is part of in the texts."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from indexer.engines.base import Reader
from indexer.model.phrase_model import PhraseModel
from indexer.text.lemmatizer import Lemmatizer
from tests.support.analysed_documents import make_analysed_document
from tests.support.phrase_models import make_phrase_model
from worker.explain.resolved_side import ResolvedSide
from worker.explain.side import Side
from worker.phrasing.full_form import FullForms
from worker.phrasing.proper_names import FullForm

FREQUENT_WORDS = {"say": 0.1, "network": 0.6}
"""Words of half the documents, with their quality."""
MODEL = replace(
    make_phrase_model(),
    phrases=list(FREQUENT_WORDS),
    quality=np.array(list(FREQUENT_WORDS.values()), dtype=np.float32),
    words=list(FREQUENT_WORDS),
    word_document_frequency=np.full(len(FREQUENT_WORDS), 50, dtype=np.int32),
)
HAIR = "Hair cells differ. The hair cells of mice, hair cells of men."


def make_side(*texts: str, title: str = "", model: PhraseModel = MODEL) -> ResolvedSide:
    documents = [make_analysed_document(text, id=str(number), title=title) for number, text in enumerate(texts)]
    side = Side.from_json({"ids": [analysed.document.id for analysed in documents]})
    return ResolvedSide(side, tuple(documents), cast("Reader", SimpleNamespace(model=model)))


def find_full_form(phrase: str, *sides: ResolvedSide) -> FullForm | None:
    return FullForms(sides).find(phrase)


def test_half_of_a_compound_is_expanded_with_few_capitals() -> None:
    assert find_full_form("hair", make_side(HAIR), make_side("Nothing of it.")) == FullForm("hair cells", "hair cell")
    assert find_full_form("mouse", make_side(HAIR), make_side("Nothing of it.")) is None


def test_both_texts_with_the_phrase_must_have_the_full_form() -> None:
    assert find_full_form("hair", make_side(HAIR), make_side("A hair cell.")) == FullForm("hair cell", "hair cell")
    assert find_full_form("hair", make_side(HAIR), make_side("Her hair is long.")) is None


def test_phrases_of_a_set_are_not_expanded() -> None:
    assert find_full_form("hair", make_side(HAIR, HAIR), make_side("Nothing of it.")) is None


@pytest.mark.parametrize(
    ("text", "full_form"),
    [
        ("Neural networks learn. A neural network.", "neural network"),
        ("Apple says so. Apple says nothing.", None),  # a frequent word of low quality
        ("On the hill. The hill.", None),
        ("Route 66 is long. We drove Route 66.", None),
        ("Vitamin K helps. Take vitamin K.", None),
    ],
)
def test_not_every_neighbour_is_part_of_a_compound(text: str, full_form: str | None) -> None:
    phrase = Lemmatizer("en")[text.split()[0] if text[0] != "O" else "hill"]
    expanded = find_full_form(phrase, make_side(text))
    assert (expanded and expanded.lemmas) == full_form


def test_a_title_that_the_text_begins_with_counts_once() -> None:
    text = "Merge sorted arrays. They stay."
    assert find_full_form("sort", make_side(text, title="Merge sorted arrays")) is None
    assert find_full_form("sort", make_side("They stay, sorted arrays.", title="Merge sorted arrays")) is not None


def test_a_proper_name_takes_precedence_over_a_compound() -> None:
    full_forms = FullForms([make_side("Then Mark Hughes came. Hughes won the cup final, a cup final.")])
    assert full_forms.find("hughes") == FullForm("Mark Hughes", "mark hughes")
    assert full_forms.find("cup") == FullForm("cup final", "cup final")
    assert full_forms.find("cup@@final") is None


def test_a_compound_is_written_as_in_the_text() -> None:
    text = "The pre-trained model and the self-trained model."
    assert find_full_form("model", make_side(text)) == FullForm("trained model", "train model")
    assert find_full_form("descent", make_side("GRADIENT DESCENT IS SLOW. THE GRADIENT DESCENT METHOD.")) == FullForm(
        "GRADIENT DESCENT", "gradient descent"
    )


def test_a_sentence_in_both_texts_counts_once() -> None:
    side = make_side("Yesterday Honda quietly raised prices of cars.")
    assert find_full_form("price", side, side) is find_full_form("price", side) is None
    one, other = (make_side(f"{start} Shares of Acme fell sharply on Friday.") for start in ("Oil rose.", "Gold fell."))
    assert find_full_form("share", one, other) is None


def test_swapping_the_sides_changes_no_full_form() -> None:
    one, other = make_side("Hair cells differ. The hair cells."), make_side("A hair cell is. One hair cell.")
    assert (
        find_full_form("hair", one, other) == find_full_form("hair", other, one) == FullForm("hair cell", "hair cell")
    )


def test_without_a_word_list_of_the_language_only_phrases_are_parts() -> None:
    german = replace(MODEL, settings={"language": "de"})
    assert find_full_form("hund", make_side("Der Hund bellt. Der Hund, der Hund.", model=german)) is None
