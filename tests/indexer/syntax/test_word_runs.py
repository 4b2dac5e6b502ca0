"""Phrases of texts in languages without a tagger: runs between boundaries and frequent words."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.documents import Document
from indexer.syntax.word_features import load_word_feature_table, look_up_tokens
from indexer.syntax.word_runs import CAPITALISED_NOUN_LANGUAGES, MAX_RUN_WORDS, find_word_runs
from indexer.text.tokenizer import Mark, TokenizedDocument, tokenize_document

GERMAN = frozenset("der die das den dem ein eine ist und im in von wir haben es".split())
FRENCH = frozenset("le la les un une des et est de du en dans nous avons il l".split())
WORDS = ["die", "Bahn", "alte", "Das", "x", "Nacht", "und", "ruhig", ". ", "\n\n", ", ", "-", "Ärzte", "2011"]


def tokenize(text: str) -> TokenizedDocument:
    return tokenize_document(Document("d", text=text))


def find_runs(tokenized: TokenizedDocument, frequent: Collection[str], language: str) -> list[tuple[int, int]]:
    words, marks = tokenized.words, np.array(tokenized.marks, dtype=np.uint8)
    features = look_up_tokens(load_word_feature_table().get_features(words), np.arange(len(words)), marks)
    is_frequent = np.array([word.lower() in frequent for word in words], dtype=bool)
    starts, lengths, _ = find_word_runs(features, marks, is_frequent, language)
    return list(zip(starts.tolist(), lengths.tolist(), strict=True))


def list_runs(text: str, frequent: Collection[str], language: str) -> list[str]:
    tokenized = tokenize(text)
    return [" ".join(tokenized.words[at : at + n]) for at, n in find_runs(tokenized, frequent, language)]


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("Das Haus von Anna Schmidt ist es.", ["Haus", "Anna Schmidt"]),
        ("Wir haben ein großes Unternehmen.", ["großes Unternehmen"]),
        ("Es ist die Deutsche Bahn, und im Garten.", ["Deutsche Bahn", "Garten"]),
        ("Die Eisenbahn ist fertig gebaut.", ["Eisenbahn"]),
        ("Die Eisenbahn ist gebaut, ruhig und alt.", ["Eisenbahn"]),
        ("Das Nachtzug-Angebot der Bahn", ["Nachtzug Angebot", "Bahn"]),
    ],
)
def test_a_german_run_ends_in_its_last_noun(text: str, runs: list[str]) -> None:
    assert list_runs(text, GERMAN, "de") == runs


def test_of_a_long_german_run_the_words_before_its_last_noun_are_kept() -> None:
    assert list_runs("Wir haben lange neue sehr schnelle alte Eisenbahnen.", GERMAN, "de") == [
        "sehr schnelle alte Eisenbahnen"
    ]


def test_a_frequent_german_noun_is_part_of_a_phrase_but_no_frequent_word_that_begins_a_sentence() -> None:
    frequent = GERMAN | {"bahn"}
    assert list_runs("Die Deutsche Bahn ist es. Bahn und Haus.", frequent, "de") == ["Deutsche Bahn", "Haus"]


def test_luxembourgish_has_capitals_like_german() -> None:
    assert {"de", "lb"} == CAPITALISED_NOUN_LANGUAGES
    assert list_runs("Dat ass eng grouss Stad am Land.", {"dat", "ass", "eng", "am"}, "lb") == ["grouss Stad", "Land"]


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("Nous avons une intelligence artificielle.", ["intelligence artificielle"]),
        ("Le chemin de la mer Méditerranée", ["chemin", "mer Méditerranée"]),
        ("La ville, le port.", ["ville", "port"]),
        ("La ville\n\nport", ["ville", "port"]),
        ("Il est à l", []),
        ("Le la les", []),
    ],
)
def test_a_french_run_is_between_boundaries_and_frequent_words(text: str, runs: list[str]) -> None:
    assert list_runs(text, FRENCH, "fr") == runs


def test_a_long_french_run_is_no_phrase() -> None:
    four, five = "le petit train touristique jaune", "le petit train touristique jaune moderne"
    assert list_runs(four, FRENCH, "fr") == ["petit train touristique jaune"]
    assert list_runs(five, FRENCH, "fr") == []


@pytest.mark.parametrize("language", ["de", "fr", "es", "zh"])
def test_an_empty_text_has_no_runs(language: str) -> None:
    assert find_runs(tokenize(""), GERMAN, language) == []


@given(st.lists(st.sampled_from(WORDS), max_size=40), st.sampled_from(["de", "fr"]))
def test_runs_are_ascending_and_cross_no_boundary(pieces: list[str], language: str) -> None:
    tokenized = tokenize(" ".join(pieces))
    runs = find_runs(tokenized, {"die", "das", "und"}, language)
    assert all(first[0] + first[1] <= second[0] for first, second in pairwise(runs)), "nor overlap"
    for start, length in runs:
        words = tokenized.words[start : start + length]
        assert 0 < length <= MAX_RUN_WORDS
        assert not any(mark & Mark.BOUNDARY for mark in tokenized.marks[start + 1 : start + length])
        assert not {"die", "und", "x"} & set(words), "no frequent word, and no letter"
        assert language != "de" or words[-1][0].isupper()


@pytest.mark.parametrize(("language", "certain"), [("de", [True, True]), ("fr", [False, True])])
def test_what_is_no_name_must_be_repeated_unless_nouns_have_capitals(language: str, certain: list[bool]) -> None:
    tokenized = tokenize(
        "Il vit la grande Vache, puis Victor Hugo." if language == "fr" else "Die alte Bahn, die Nacht."
    )
    marks = np.array(tokenized.marks, dtype=np.uint8)
    words = tokenized.words
    features = look_up_tokens(load_word_feature_table().get_features(words), np.arange(len(words)), marks)
    is_frequent = np.array([word.lower() in {*GERMAN, *FRENCH, "vit", "puis"} for word in words], dtype=bool)
    assert find_word_runs(features, marks, is_frequent, language)[2].tolist() == certain
