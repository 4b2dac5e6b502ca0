"""From text to tokens: words, boundaries, lemmas and their offsets."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from indexer.documents import Document
from indexer.errors import BadSetting
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.phrase_search import find_occurrences, locate_token_sequences
from indexer.text.tokenizer import (
    Mark,
    join_tokens,
    lemmatize_text,
    locate_tokens,
    split_words_and_separators,
    tokenize_document,
)

LEMMAS = Lemmatizer("en")
ANY_TEXT = st.text(
    alphabet=st.one_of(
        st.sampled_from("ab AB'’.-–\n\t(),\"_+#9\u00ad\u0301é深のน\ud800\x00"),
        st.characters(),
    ),
    max_size=60,
)


def extract_words(text: str) -> list[str]:
    return split_words_and_separators(text)[0]


def lemmatize(text: str) -> str:
    return lemmatize_text(text, LEMMAS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("os.path.join(3.5)", ["os.path.join", "3.5"]),
        ("C++ and C#, g++.", ["C++", "and", "C#", "g++"]),
        ("snake_case x2", ["snake_case", "x2"]),
        ("the U.S. economy", ["the", "U.S.", "economy"]),
        ("multi-task learning", ["multi", "task", "learning"]),
        ("深度学习 works", ["深", "度", "学", "习", "works"]),
        ("naïve café", ["naïve", "café"]),
        ("nai\u0308ve", ["nai\u0308ve"]),
        ("don’t", ["don’t"]),
        ("", []),
        ("?!", []),
    ],
)
def test_words_are_what_people_call_words(text: str, expected: list[str]) -> None:
    assert extract_words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Alzheimer's disease", "alzheimer disease"),
        ("wifi WiFi WIFI", "wifi wifi wifi"),
        ("AIDS aids", "aid aid"),
        ("embeddings, embedding", "embed\nembed"),
        ("ResNets", "resnet"),
        ("autoencoders", "autoencoder"),
        ("Reuters", "reuter"),
        ("multi-task learning", "multi task learn"),
        ("BAHIA COCOA PRICES", "bahia cocoa price"),
        ("one. two; three (four) five", "one\ntwo\nthree\nfour\nfive"),
        ("a line\nbroken", "a line\nbreak"),
        ("a line\n\nbroken", "a line\nbreak"),
    ],
)
def test_lemmas_and_boundaries(text: str, expected: str) -> None:
    assert lemmatize(text) == expected


def test_a_hyphen_is_remembered_but_is_no_boundary() -> None:
    assert tokenize_document(Document("x", text="semi-supervised")).marks[1] == Mark.HYPHEN
    assert lemmatize("state – of") == "state\nof"


def test_title_and_text_are_separated_by_a_boundary() -> None:
    parsed = tokenize_document(Document("x", title="Deep nets (a", text="b) learn"))
    assert [bool(mark & Mark.BOUNDARY) for mark in parsed.marks] == [True, False, True, True, True, True]
    assert [bool(mark & Mark.TITLE) for mark in parsed.marks[:3]] == [True, True, True]


def test_a_language_without_lemmatiser_says_so_and_lower_cases() -> None:
    plain = Lemmatizer("ja")
    assert "lower-cased" in plain.note
    assert plain["Houses"] == "houses"


def test_a_wrong_language_code_is_reported() -> None:
    with pytest.raises(BadSetting, match="give a code like"):
        Lemmatizer("English!")


@pytest.mark.slow
def test_a_language_with_a_lemmatiser_is_used() -> None:
    assert Lemmatizer("de")["Häuser"] == "haus"


@settings(deadline=None)
@given(ANY_TEXT, ANY_TEXT)
@example("", "\ud800\x00a")
def test_offsets_slice_back_to_the_word(title: str, text: str) -> None:
    document = Document("x", title=title, text=text)
    parsed = tokenize_document(document)
    surfaces = split_words_and_separators(title)[0] + split_words_and_separators(text)[0]
    assert len(parsed.words) == len(surfaces)
    for (field, start, end), surface in zip(locate_tokens(document, LEMMAS), surfaces, strict=True):
        assert getattr(document, field)[start:end] == surface


@settings(deadline=None)
@given(ANY_TEXT)
def test_words_and_separators_make_up_the_field(text: str) -> None:
    found, separators = split_words_and_separators(text)
    assert len(separators) == len(found) + 1
    pieces = [separators[0]] + [piece for pair in zip(found, separators[1:], strict=True) for piece in pair]
    assert "".join(pieces) == text


@settings(deadline=None)
@given(ANY_TEXT)
def test_a_tokens_string_can_be_stored_and_split(text: str) -> None:
    document = Document("x", text=text)
    parsed = tokenize_document(document)
    words = [LEMMAS[word] for word in parsed.words]
    joined = join_tokens(words, parsed.marks)
    joined.encode("utf-8")
    assert joined.split() == words


@settings(deadline=None)
@given(st.text(alphabet="abAB9'._+# -\n(", max_size=40))
def test_plain_text_is_split_the_same_with_other_letters_around(text: str) -> None:
    plain, _ = split_words_and_separators(text)
    assert split_words_and_separators(text + " é")[0][:-1] == plain
    assert split_words_and_separators(text + " e\u0301")[0][:-1] == plain


def test_occurrences_are_token_sequences_within_a_boundary() -> None:
    assert find_occurrences("a b", "a b a b\na\nb a b") == [0, 2, 6]
    assert find_occurrences("a a", "a a a") == [0, 1]
    assert find_occurrences("a", "ab a") == [1]
    assert find_occurrences("", "a b") == []
    assert find_occurrences("a", "") == []


def test_a_pair_occurs_where_its_members_are_near() -> None:
    near = "x y q x y"
    far = "x " + "q " * 20 + "y"
    assert find_occurrences("x@@y", near) == [0, 1, 3, 4]
    assert find_occurrences("x@@y", far) == []


def test_positions_lead_back_to_the_original_text() -> None:
    document = Document("x", title="Graph-Neural Networks", text="On graph neural networks.")
    tokens = lemmatize(document.title) + "\n" + lemmatize(document.text)
    at = find_occurrences("graph neural network", tokens)
    assert locate_token_sequences(document, at, 3, LEMMAS) == [("title", 0, 21), ("text", 3, 24)]


@pytest.mark.slow
def test_a_huge_document_is_read() -> None:
    document = Document("x", text="word, " * 1_000_000)
    assert len(tokenize_document(document).words) == 1_000_000


WRAPPED = """The random walk on a graph of pages is followed until it has reached most of the
web graph, and the pages are ranked by how often the walk has come to them;
link analysis needs no more than this. Short line.
The next one begins a new item of a list, and is long enough to end at the width
of the text."""


def test_a_line_that_was_broken_at_the_width_of_the_text_goes_on() -> None:
    tokens = lemmatize(WRAPPED)
    assert "of the web graph" in tokens and "width of the text" in tokens


def test_a_line_that_was_broken_before_the_width_of_the_text_ends() -> None:
    items = WRAPPED + "\nrye flour\noak bark\nhoney bees\n"
    assert "text\nrye flour\noak bark\nhoney bee" in lemmatize(items)


def test_every_line_of_narrow_text_ends() -> None:
    assert lemmatize("2 ribs celery\nonion\n500 g rye flour\n") == "2 rib celery\nonion\n500 g rye flour"


@pytest.mark.parametrize("text", ["\n", "\n\n\n", " \n ", "a\n", "\na", "a-\nb", "a\r\nb", "a" * 300 + "\nb"])
def test_odd_line_breaks_are_read(text: str) -> None:
    assert lemmatize(text).split() == lemmatize(text.replace("\n", " \n ")).split() or "-" in text
