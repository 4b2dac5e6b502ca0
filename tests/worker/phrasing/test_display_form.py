"""How a phrase is written: as the texts at hand write it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from indexer.documents import AnalysedDocument, Document
from indexer.engines.search_types import Groups
from tests.worker.explain.test_partial_match import model
from worker.explain.text.spans import DocumentSpans
from worker.phrasing.display_form import DisplayForms


def speller(usual: str, text: str, groups: Groups, times: int = 1) -> DisplayForms:
    """Of documents with one text, whose lemmas are "security firm"."""
    document = AnalysedDocument(Document("d", "", text), "a security firm", (), (), (), 0.0, "")
    known = replace(model(), phrases=["security firm"], display_forms=[usual])
    return DisplayForms([DocumentSpans(document)] * times, known, groups)


@pytest.mark.parametrize("groups", [None, frozenset({"staff"})])
def test_the_usual_spelling_is_shown_where_a_text_has_it(groups: Groups) -> None:
    assert speller("security firms", "A security firms", groups).find("security firm") == "security firms"
    assert speller("securities firms", "A security firm", groups).find("security firm") == "security firm"


def test_only_who_reads_everything_is_shown_its_capitals() -> None:
    assert speller("Security Firm", "A security firm", None).find("security firm") == "Security Firm"
    assert speller("Security Firm", "A security firm", frozenset()).find("security firm") == "security firm"


def test_the_texts_of_a_set_are_not_gone_through() -> None:
    assert speller("securities firms", "A security firm", None, 3).find("security firm") == "securities firms"


def test_members_of_a_pair_are_written_one_by_one() -> None:
    assert speller("securities firms", "A security firm", None).find("security firm@@deep") == "security firm + deep"
