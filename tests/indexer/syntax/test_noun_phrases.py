"""Noun phrases of sentences: where they begin and end, names in them, and what is left out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.syntax.noun_phrases import MAX_PHRASE_WORDS, find_noun_phrases
from indexer.text.tokenizer import Mark
from tests.support.tagged_texts import tag_text


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        (
            "The board declared a regular quarterly dividend.",
            {"board", "regular quarterly dividend", "quarterly dividend"},
        ),
        ("We train deep neural networks.", {"deep neural networks", "neural networks"}),
        ("It paid for the operating costs.", {"operating costs"}),
        ("They sell three-year bonds.", {"three year bonds"}),
        ("It was a machine learning method.", {"machine learning method"}),
        ("It is about machine learning.", {"machine learning"}),
    ],
)
def test_a_phrase_is_a_run_that_ends_in_a_noun(text: str, phrases: set[str]) -> None:
    assert set(tag_text(text).phrases) == phrases


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("It has several new offices.", "offices"),
        ("It bought 13 ships.", "ships"),
        ("They want more money.", "money"),
        ("It works by using neural networks.", "neural networks"),
        ("It has a plan, including partial pension indexation.", "partial pension indexation"),
        ("The firm has recently proposed rules.", "rules"),
        ("The method using neural networks is new.", "neural networks"),
        ("The firm reported earnings.", "earnings"),
        ("It last paid six cents.", "cents"),
        ("A subsidiary called Irving Trust grew.", "Irving Trust"),
        ("It was signed by Hutton acting for it.", "Hutton"),
        ("Add 4 stalks celery.", "celery"),
        ("Add 300 g flour.", "flour"),
        ("Add ½ tablespoons sugar.", "sugar"),
    ],
)
def test_what_is_no_part_of_the_thing_is_left_out(text: str, phrase: str) -> None:
    assert phrase in tag_text(text).phrases
    assert not [other for other in tag_text(text).phrases if other.endswith(f" {phrase}")]


@pytest.mark.parametrize(
    ("text", "phrase", "is_phrase"),
    [
        ("Your thermometer shows the temperature.", "thermometer shows", False),
        ("The bank cuts its rates.", "bank cuts", False),
        ("The bank cuts are large.", "bank cuts", True),
        ("The exchange rate the bank set is low.", "exchange rate", True),
    ],
)
def test_what_looks_like_a_plural_is_a_verb_before_an_object(text: str, phrase: str, is_phrase: bool) -> None:
    assert (phrase in tag_text(text).phrases) == is_phrase


def test_no_part_of_a_name_is_a_phrase() -> None:
    found = tag_text("It is the Embedded Configurable Operating System.").phrases
    assert "Embedded Configurable Operating System" in found
    assert not [phrase for phrase in found if phrase.startswith("Configurable")]


def test_a_year_is_kept_and_a_quantifier_in_a_name() -> None:
    assert "1987 budget" in tag_text("It passed the 1987 budget.").phrases
    assert "General Motors" in tag_text("Shares of General Motors fell.").phrases
    assert "New York" in tag_text("It opened in New York.").phrases
    assert "offices" in tag_text("New offices opened.").phrases


def test_a_possessive_ends_a_phrase() -> None:
    assert tag_text("It sold Apple's subsidiary.").phrases == ["Apple's", "subsidiary"]


def test_a_chain_of_hyphens_is_one_modifier() -> None:
    assert "option adjusted spread" in tag_text("It has an option-adjusted spread.").phrases
    assert "over the counter drug" in tag_text("It is an over-the-counter drug.").phrases
    assert "option adjusted spread" in tag_text("The Fannie Mae option-adjusted spread grew.").phrases


def test_punctuation_ends_a_phrase() -> None:
    assert tag_text("the bank, company and state (trade) deficit").phrases == [
        "bank",
        "company",
        "state",
        "trade",
        "deficit",
    ]


@pytest.mark.parametrize(
    "name",
    [
        "Bank of Japan",
        "Centers for Disease Control",
        "Food and Drug Administration",
        "Department of Health and Human Services",
        "Bank of the West",
        "Ludwig van Beethoven",
        "Museo del Prado",
    ],
)
def test_names_may_have_small_words_in_them(name: str) -> None:
    phrases = tag_text(f"It was written by the {name} today.").phrases
    assert name in phrases
    assert name.split()[-1] in " ".join(phrases)


def test_two_names_with_and_between_are_two_phrases() -> None:
    assert tag_text("It left Japan and Korea.").phrases == ["Japan", "Korea"]


def test_capitals_of_a_title_make_no_names() -> None:
    assert "Analysis of Networks" not in tag_text("", "An Analysis of Networks for Search").phrases


def test_a_name_within_a_phrase_is_a_phrase() -> None:
    phrases = tag_text("It praised president Brad Smith.").phrases
    assert {"president Brad Smith", "Brad Smith"} <= set(phrases)


def test_identifiers_are_phrases_by_themselves() -> None:
    phrases = tag_text("Set the score_mode parameter before scipy.linalg.eigh is called.").phrases
    assert {"score_mode", "score_mode parameter", "scipy.linalg.eigh"} <= set(phrases)


def test_the_end_of_a_long_run_is_kept() -> None:
    text = "It is a large red metal garden house door knob."
    assert tag_text(text).phrases[0] == "metal garden house door knob"


def test_no_chain_of_hyphens_is_cut() -> None:
    phrases = tag_text("It is a large state-of-the-art garden house door knob.").phrases
    assert "garden house door knob" in phrases
    assert not [phrase for phrase in phrases if phrase.startswith(("art", "the", "of"))]


_WORDS = st.sampled_from(
    "the bank can new New other state-of-the-art Bank of Japan and Drug 13 1987 using proposed methods' firm's"
    " score_mode learning is has x , . ( ) large garden GPT-4 over it 東".split()
)


@given(st.lists(_WORDS, max_size=40).map(" ".join))
def test_phrases_are_short_in_order_and_cross_no_boundary(text: str) -> None:
    tagged = tag_text(text)
    starts, lengths = tagged.phrase_starts, tagged.phrase_lengths
    assert ((lengths >= 1) & (lengths <= MAX_PHRASE_WORDS)).all()
    ranges = list(zip(starts.tolist(), lengths.tolist(), strict=True))
    assert ranges == sorted(set(ranges))
    for start, length in ranges:
        assert start + length <= len(tagged.words)
        assert not (tagged.marks[start + 1 : start + length] & Mark.BOUNDARY).any()


@pytest.mark.parametrize("text", ["", "...", "the", "x", "の", "- -", "a-b-c-d-e-f-g-h-i"])
def test_any_text_has_phrases_or_none(text: str) -> None:
    assert len(tag_text(text).phrases) <= 1


def test_arrays_without_tokens_give_none() -> None:
    empty = np.zeros(0, dtype=np.uint8)
    starts, lengths = find_noun_phrases(empty, np.zeros(0, dtype=np.uint32), np.ones(1, dtype=np.uint8))
    assert len(starts) == len(lengths) == 0
