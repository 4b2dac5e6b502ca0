"""The display form of a phrase: as the compared texts write it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from indexer.engines.search_types import Groups
from tests.support.analysed_documents import LEMMATIZER, make_analysed_document
from tests.support.phrase_models import make_phrase_model
from worker.explain.text.spans import DocumentSpans
from worker.phrasing.display_form import DisplayForms


def find_display_form(
    usual_form: str, text: str, groups: Groups = None, *, copies: int = 1, phrase: str = "security firm"
) -> str:
    """Return the form of a phrase in a number of documents with one text, whose lemmas are "a security firm"."""
    spans = DocumentSpans(make_analysed_document(text, "a security firm"), LEMMATIZER)
    model = replace(make_phrase_model(), phrases=["security firm"], display_forms=[usual_form])
    return DisplayForms([spans] * copies, model, groups).find(phrase)


@pytest.mark.parametrize("groups", [None, frozenset({"staff"})])
def test_the_usual_form_is_shown_where_a_text_has_it(groups: Groups) -> None:
    assert find_display_form("security firms", "A security firms", groups) == "security firms"
    assert find_display_form("securities firms", "A security firm", groups) == "security firm"


def test_capitals_of_the_usual_form_are_shown_only_to_unrestricted_callers() -> None:
    assert find_display_form("Security Firm", "A security firm", None) == "Security Firm"
    assert find_display_form("Security Firm", "A security firm", frozenset()) == "security firm"


def test_the_texts_of_a_set_are_not_searched() -> None:
    assert find_display_form("securities firms", "A security firm", copies=3) == "securities firms"


def test_members_of_a_phrase_pair_are_displayed_one_by_one() -> None:
    form = find_display_form("securities firms", "A security firm", phrase="security firm@@deep")
    assert form == "security firm + deep"


def find_own_form(text: str, phrase: str, groups: Groups = None) -> str:
    """Return the form of a phrase that the index does not have, in a document with this text."""
    spans = DocumentSpans(make_analysed_document(text), LEMMATIZER)
    return DisplayForms([spans], make_phrase_model(), groups).find(phrase)


@pytest.mark.parametrize("text", ["Ann Hill's drum.", "Ann Hill’s drum.", "It is Ann  Hill's."])
def test_a_possessive_is_displayed_without_its_ending(text: str) -> None:
    assert find_own_form(text, "ann hill") == "Ann Hill"


def test_a_possessive_in_capitals_is_displayed_without_its_ending() -> None:
    assert find_own_form("ANN HILL'S DRUM.", "ann hill") == "ANN HILL"


def test_a_possessive_within_a_phrase_is_kept() -> None:
    assert find_own_form("The dog's bone fell.", "dog bone") == "dog's bone"


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Copper Whistle. A copper whistle rang.", "copper whistle"),
        ("COPPER WHISTLE Then Copper Whistle and so on.", "Copper Whistle"),
        ("Copper Whistle. Copper Whistle. A copper whistle rang.", "Copper Whistle"),
    ],
)
def test_of_spellings_as_frequent_that_with_the_fewest_capitals_is_displayed(text: str, form: str) -> None:
    for groups in (None, frozenset({"staff"})):
        assert find_own_form(text, "copper whistle", groups) == form


def test_a_possessive_confirms_the_usual_form() -> None:
    assert find_display_form("Security Firm", "A security firm's") == "Security Firm"
