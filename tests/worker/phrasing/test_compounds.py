"""The compound that a phrase is part of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.phrasing.compounds import find_compound, pad_tokens_for_compounds


def expand_phrase(phrase: str, *texts: str) -> str | None:
    return find_compound(
        phrase, list(map(pad_tokens_for_compounds, texts)), lambda word: word not in ("the", "of", "say")
    )


@pytest.mark.parametrize(
    ("text", "compound"),
    [
        ("gradient descent be slow\nthe gradient descent", "gradient descent"),
        ("gradient descent be slow\nthe descent", None),  # once could be any word
        ("gradient descent\ngradient descent\nthe descent of man", "gradient descent"),  # mostly
        ("gradient descent\ngradient descent\nthe descent\nthe descent", None),
        ("the descent\nthe descent", None),
        ("gradient\ndescent\ngradient\ndescent", None),  # no phrase crosses a boundary
        ("the gradient descent method work\nthe gradient descent method fail", "gradient descent method"),
        ("descent\ndescent", None),
        ("man say", None),
    ],
)
def test_a_phrase_that_mostly_has_one_neighbour_is_part_of_a_compound(text: str, compound: str | None) -> None:
    assert expand_phrase("descent", text) == compound


def test_a_compound_grows_on_both_sides() -> None:
    text = "the stochastic gradient descent method of man"
    assert expand_phrase("gradient", f"{text}\n{text}") == "stochastic gradient descent method"


def test_a_repeated_sentence_is_no_compound() -> None:
    text = "we find very slow stochastic gradient descent method here"
    assert expand_phrase("gradient", f"{text}\n{text}") is None


def test_a_compound_occurs_in_every_text() -> None:
    assert expand_phrase("sleep", "sleep apnea", "the sleep apnea") == "sleep apnea"
    assert expand_phrase("sleep", "sleep apnea\nsleep apnea\nsleep apnea", "sleep well") is None


@given(st.lists(st.sampled_from(["a", "b", "the", "\n", "|"]), max_size=30), st.sampled_from(["a", "a b", "b b"]))
def test_a_compound_contains_the_phrase_and_occurs_in_the_text(words: list[str], phrase: str) -> None:
    tokens = " ".join(words).replace(" \n ", "\n").strip()
    compound = expand_phrase(phrase, tokens)
    assert compound is None or (
        f" {phrase} " in f" {compound} " and f" {compound} " in f" {tokens} ".replace("\n", " \n ")
    )
