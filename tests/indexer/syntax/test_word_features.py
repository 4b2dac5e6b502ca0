"""What words tell by themselves: unknown words, names of code, numbers, and groups of words."""

from __future__ import annotations

import numpy as np
import pytest

from indexer.syntax.tags import Tag
from indexer.syntax.word_features import get_tags, has_shape, load_word_feature_table, look_up_tokens
from indexer.syntax.word_groups import list_singulars
from indexer.syntax.word_shapes import Shape, find_shape
from indexer.text.tokenizer import FIELD_START_MARKS

TABLE = load_word_feature_table()


def find_word_tags(word: str) -> list[str]:
    """Return the tags of a word in the middle of a sentence and at its beginning."""
    return [Tag(tag).name for tag in get_tags(TABLE.get_features([word]))[0]]


@pytest.mark.parametrize(
    ("word", "tag"),
    [
        ("flurbness", "NN"),
        ("flurbization", "NN"),
        ("flurbable", "JJ"),
        ("flurbly", "RB"),
        ("flurbed", "VBN"),
        ("flurbing", "VBG"),
        ("flurbs", "NNS"),
        ("flurbize", "VB"),
        ("flurb", "NN"),
        ("maizes", "NNS"),
        ("Flurb", "NNP"),
        ("propagates", "VBZ"),
        ("preprocess", "NN"),
        ("subgraph", "NN"),
    ],
)
def test_an_unknown_word_is_tagged_by_its_parts(word: str, tag: str) -> None:
    assert find_word_tags(word)[0] == tag


@pytest.mark.parametrize("word", ["score_mode", "scipy.linalg.eigh", "camelCase", "GPT2", "x86", "PyTorch", "__init__"])
def test_names_of_code_are_names_wherever_they_are(word: str) -> None:
    assert find_shape(word) & Shape.IDENTIFIER
    assert find_word_tags(word) == ["NNP", "NNP"]


@pytest.mark.parametrize("word", ["U.S.", "house", "House", "IBM", "13", "3.5", "1980s", "3rd", "10GB", "5km", "naïve"])
def test_other_words_are_no_names_of_code(word: str) -> None:
    assert not find_shape(word) & Shape.IDENTIFIER


@pytest.mark.parametrize(("word", "tag"), [("13", "CD"), ("3.5", "CD"), ("1980s", "NNS"), ("3rd", "CD"), ("mln", "CD")])
def test_numbers_are_told_by_their_spelling(word: str, tag: str) -> None:
    assert find_word_tags(word)[0] == tag


def test_a_possessive_is_tagged_as_its_noun() -> None:
    for apostrophe in "'’":
        assert find_word_tags(f"company{apostrophe}s")[0] == "NN"
        assert find_shape(f"Apple{apostrophe}s") & Shape.POSSESSIVE
    assert not find_shape("we've") & Shape.POSSESSIVE
    assert not find_shape("s") & Shape.POSSESSIVE


def test_a_capital_at_the_beginning_is_no_sign_of_a_name() -> None:
    assert find_word_tags("Networks") == ["NNP", "NNS"]
    assert find_word_tags("Toyota") == ["NNP", "NNP"]
    assert find_word_tags("The") == ["DT", "DT"]
    assert find_word_tags("US") == ["NNP", "NNP"]


def test_shapes_of_words() -> None:
    assert find_shape("Japan") == Shape.CAPITALISED
    assert find_shape("IBM") == Shape.CAPITALISED | Shape.ALL_CAPITALS
    assert find_shape("1987") == Shape.YEAR
    assert find_shape("2187") == 0
    assert find_shape("several") == Shape.QUANTIFIER
    assert find_shape("x") == Shape.LETTER


def test_words_are_packed_so_that_nothing_overlaps() -> None:
    words = ["General", "the", "using", "is", "score_mode", "1987", "of", "several", "such", "yen", "x"]
    features = TABLE.get_features(words)
    assert features.dtype == np.uint32
    assert features.shape == (len(words), 2)
    for shape in Shape:
        expected = [bool(find_shape(word) & shape) for word in words]
        assert has_shape(features[:, 0], shape).tolist() == expected


def test_no_words_give_an_empty_table() -> None:
    assert TABLE.get_features([]).shape == (0, 2)
    marks = np.array([FIELD_START_MARKS], dtype=np.uint8)
    assert look_up_tokens(TABLE.get_features([]), np.zeros(0, dtype=np.int32), marks).shape == (0,)


def test_a_token_is_looked_up_for_its_place() -> None:
    features = TABLE.get_features(["Networks"])
    marks = np.array([FIELD_START_MARKS, 0, FIELD_START_MARKS], dtype=np.uint8)
    tokens = look_up_tokens(features, np.array([0, 0], dtype=np.int32), marks)
    assert [Tag(tag).name for tag in get_tags(tokens)] == ["NNS", "NNP"]


def test_singulars() -> None:
    assert list_singulars("studies") == ["studie", "study"]
    assert list_singulars("boxes") == ["boxe", "box"]
    assert list_singulars("loss") == list_singulars("gas") == []
