"""How a phrase is written: as the texts at hand write it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from indexer.documents import AnalysedDocument, Document
from indexer.engines.search_types import Groups
from tests.support.phrase_models import make_phrase_model
from worker.explain.text.spans import DocumentSpans
from worker.phrasing.display_form import DisplayForms


def make_display_forms(usual_form: str, text: str, groups: Groups, times: int = 1) -> DisplayForms:
    """Of documents with one text, whose lemmas are "security firm"."""
    document = AnalysedDocument(Document("d", "", text), "a security firm", (), (), (), 0.0, "")
    model = replace(make_phrase_model(), phrases=["security firm"], display_forms=[usual_form])
    return DisplayForms([DocumentSpans(document)] * times, model, groups)


@pytest.mark.parametrize("groups", [None, frozenset({"staff"})])
def test_the_usual_form_is_shown_where_a_text_has_it(groups: Groups) -> None:
    assert make_display_forms("security firms", "A security firms", groups).find("security firm") == "security firms"
    assert make_display_forms("securities firms", "A security firm", groups).find("security firm") == "security firm"


def test_capitals_of_the_usual_form_are_shown_only_to_unrestricted_callers() -> None:
    assert make_display_forms("Security Firm", "A security firm", None).find("security firm") == "Security Firm"
    assert make_display_forms("Security Firm", "A security firm", frozenset()).find("security firm") == "security firm"


def test_the_texts_of_a_set_are_not_searched() -> None:
    assert (
        make_display_forms("securities firms", "A security firm", None, 3).find("security firm") == "securities firms"
    )


def test_members_of_a_phrase_pair_are_displayed_one_by_one() -> None:
    assert (
        make_display_forms("securities firms", "A security firm", None).find("security firm@@deep")
        == "security firm + deep"
    )
