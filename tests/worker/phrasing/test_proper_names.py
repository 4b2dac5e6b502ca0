"""The whole name or compound that a phrase is a piece of."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.documents import AnalysedDocument, Document
from indexer.engines.base import Reader
from indexer.engines.search_types import Groups
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.tokenizer import lemmatize_document
from tests.worker.explain.test_partial_match import model
from worker.answer.near_duplicates import NearDuplicates
from worker.explain.resolved_side import ResolvedSide
from worker.explain.side import Side
from worker.explain.text.spans import DocumentSpans
from worker.phrasing.full_form import make_proper_names
from worker.phrasing.proper_names import FullForm, ProperNames, find_shared_form

NAMES = {"mark", "hughes", "pnc"}


def names(text: str, title: str = "") -> ProperNames:
    document, lemmas = Document("d", title, text), Lemmatizer("en")
    tokens = lemmatize_document(document, lemmas)
    return ProperNames(
        DocumentSpans(AnalysedDocument(document, tokens, (), (), (), 0.0, "")), lambda word: word.lower() in NAMES
    )


@pytest.mark.parametrize(
    ("text", "phrase", "whole"),
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
def test_a_piece_of_a_name_or_a_compound_is_shown_whole(text: str, phrase: str, whole: str | None) -> None:
    found = names(text).expand(phrase)
    assert (found and found.display) == whole


def test_a_title_is_not_asked_as_all_its_words_may_have_capitals() -> None:
    assert names("It grows.", title="Why Mark Hughes Left").expand("hughes") is None
    assert names("Hughes left.", title="Why Mark Hughes Left").expand("hughes") is None


def test_a_pair_is_no_piece_of_anything() -> None:
    assert names("Then Mark Hughes came.").expand("hughes@@mark") is None


def test_two_texts_must_agree() -> None:
    one, other = FullForm("Mark Hughes", "mark hughes"), FullForm("Mark HUGHES", "mark hughes")
    assert find_shared_form([one, other]) == one
    assert find_shared_form([one, None]) is None
    assert find_shared_form([]) is None


@pytest.mark.parametrize(("groups", "whole"), [(None, "Mark Hughes"), (frozenset({"staff"}), None)])
def test_how_the_corpus_writes_a_word_is_only_for_who_reads_it_all(groups: Groups, whole: str | None) -> None:
    known = replace(model(), phrases=["mark"], display_forms=["Mark"])
    reader = cast("Reader", SimpleNamespace(model=known))
    document = AnalysedDocument(Document("d", "", "Mark Hughes came."), "mark hughes come", (), (), (), 0.0, "")
    found = make_proper_names(ResolvedSide(Side.from_id("d"), (document,), reader, groups))
    name = found.expand("hughes")
    assert (name and name.display) == whole


def test_pieces_of_one_name_are_one_entry() -> None:
    called = dict.fromkeys(["shapiro", "wilk"], FullForm("Shapiro-Wilk", "shapiro wilk")).get
    ranked = ["shapiro", "test", "wilk", "sample"]
    assert NearDuplicates(model()).merge(ranked, lambda place: 3, called) == [
        ("shapiro", ("wilk",)),
        ("test", ()),
        ("sample", ()),
    ]
    assert NearDuplicates(model()).merge(ranked, lambda place: 1, called) == [("shapiro", ("wilk",))]
    assert [leader for leader, _ in NearDuplicates(model()).merge(ranked)] == ranked


@given(st.text("aA'’-. \n̈中+#\u200d", max_size=40))
def test_of_any_text_a_whole_is_a_part(text: str) -> None:
    found, lemmas = names(text), Lemmatizer("en")
    for word in lemmatize_document(Document("d", "", text), lemmas).split():
        whole = found.expand(word)
        assert whole is None or (whole.display in " ".join(text.split()) and f" {word} " in f" {whole.lemmas} ")
