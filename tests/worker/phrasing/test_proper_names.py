"""Proper names and hyphenated compounds that a phrase is part of."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.engines.base import Reader
from indexer.engines.search_types import Groups
from tests.support.analysed_documents import LEMMATIZER, make_analysed_document
from tests.support.phrase_models import make_phrase_model
from worker.explain.resolved_side import ResolvedSide
from worker.explain.side import Side
from worker.explain.text.spans import DocumentSpans
from worker.phrasing.full_form import make_proper_names
from worker.phrasing.proper_names import FullForm, ProperNames, find_shared_form

NAMES = {"mark", "hughes", "pnc"}


def make_names(text: str, title: str = "") -> ProperNames:
    spans = DocumentSpans(make_analysed_document(text, title=title), LEMMATIZER)
    return ProperNames(spans, lambda word: word.lower() in NAMES)


@pytest.mark.parametrize(
    ("text", "phrase", "full_form"),
    [
        ("Then Mark Hughes came. Hughes said so.", "hughes", "Mark Hughes"),
        ("Manager Mark Hughes came.", "hughes", "Mark Hughes"),
        ("Mark Hughes came.", "hughes", "Mark Hughes"),
        ("On Monday Hughes came. Hughes said so.", "hughes", None),
        ("It was Hughes March last.", "hughes", None),
        ("It is Hughes. Then Mark Hughes came.", "hughes", None),
        ("He left Hughes. Then he came.", "hughes", None),
        ("It is a bi-level problem; bi-level, we say.", "bi", "bi-level"),
        ("It is a bi-level problem and a bi-linear one.", "bi", None),
        ("The four-wheel car has a wheel.", "wheel", None),
        ("A bank like Provident National Bank's grows.", "national bank", "Provident National Bank"),
        ("We saw Honda Motor Co Ltd and Honda.", "honda", None),
        ("He works for PNC Financial, it says.", "pnc", "PNC Financial"),
        ("By policy learning-based planning.", "policy learn", None),
        ("From sim-to-real they go.", "sim to", "sim-to-real"),
        ("The Quick Brown Fox Jumps Over Dogs here.", "fox", None),
        ("BOLT BERANEK SAID SO", "bolt", None),
        ("Nothing of it here.", "hughes", None),
        ("The word stands in the\nMark\n\nHughes of a list.", "hughes", None),
    ],
)
def test_part_of_a_name_is_expanded(text: str, phrase: str, full_form: str | None) -> None:
    name = make_names(text).expand(phrase)
    assert (name and name.display) == full_form


def test_titles_are_not_searched_since_all_their_words_may_have_capitals() -> None:
    assert make_names("It grows.", title="Why Mark Hughes Left").expand("hughes") is None
    assert make_names("Hughes left.", title="Why Mark Hughes Left").expand("hughes") is None


def test_a_phrase_pair_is_not_expanded() -> None:
    assert make_names("Then Mark Hughes came.").expand("hughes@@mark") is None


def test_the_forms_of_two_texts_must_agree() -> None:
    one, other = FullForm("Mark Hughes", "mark hughes"), FullForm("Mark HUGHES", "mark hughes")
    assert find_shared_form([one, other]) == one
    assert find_shared_form([one, None]) is None
    assert find_shared_form([]) is None


@pytest.mark.parametrize(("groups", "full_form"), [(None, "Mark Hughes"), (frozenset({"staff"}), None)])
def test_capitals_of_the_corpus_are_known_only_to_unrestricted_callers(groups: Groups, full_form: str | None) -> None:
    model = replace(make_phrase_model(), phrases=["mark"], display_forms=["Mark"])
    reader = cast("Reader", SimpleNamespace(model=model))
    document = make_analysed_document("Mark Hughes came.", "mark hughes come")
    names = make_proper_names(ResolvedSide(Side.from_id("d"), (document,), reader, groups))
    name = names.expand("hughes")
    assert (name and name.display) == full_form


@given(st.text("aA'’-. \n̈中+#\u200d", max_size=40))
def test_a_full_form_occurs_in_the_text_and_contains_the_word(text: str) -> None:
    names = make_names(text)
    for word in make_analysed_document(text).tokens.split():
        full_form = names.expand(word)
        assert full_form is None or (
            full_form.display in " ".join(text.split()) and f" {word} " in f" {full_form.lemmas} "
        )
