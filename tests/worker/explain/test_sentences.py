"""Sentences of a text: where they begin and end, whatever the text is."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.text.lemmatizer import Lemmatizer
from indexer.text.tokenizer import find_piece_ends
from tests.support.analysed_documents import make_analysed_document
from worker.explain.text.sentences import MAX_SENTENCES, MAX_WORDS, MIN_WORDS, WINDOW_WORDS, split_sentences
from worker.explain.text.spans import DocumentSpans

LEMMATIZER = Lemmatizer("en")


def split(text: str) -> list[str]:
    return [text[one.start : one.end] for one in split_sentences(text, find_piece_ends(text, LEMMATIZER))]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("The first one ends here. The second one follows!", ["The first one ends here.", "The second one follows!"]),
        ("It has brackets (they close.) Then it goes on.", ["It has brackets (they close.)", "Then it goes on."]),
        ('He said so today. "This is a quote." So it ended there.',
         ["He said so today.", '"This is a quote."', "So it ended there."]),
        ("Some things, e.g. this one, do not end a sentence.", ["Some things, e.g. this one, do not end a sentence."]),
        ("As Fig. 2 and Mr. Smith show it does.", ["As Fig. 2 and Mr. Smith show it does."]),
        ("Version 3.5 of os.path.join was used here.", ["Version 3.5 of os.path.join was used here."]),
        ("a text in lower case. it has two sentences.", ["a text in lower case.", "it has two sentences."]),
        ("ALL IS IN CAPITALS HERE. IT HAS TWO SENTENCES.", ["ALL IS IN CAPITALS HERE.", "IT HAS TWO SENTENCES."]),
        ("a paragraph without an end\n\nand one more of them", ["a paragraph without an end", "and one more of them"]),
        ("It has these two items:\n- one item is this\n- the other is that",
         ["It has these two items", "one item is this", "the other is that"]),
        ("这是第一个句子。这是第二个句子。", ["这是第一个句子。", "这是第二个句子。"]),
        ("Heading. The text begins after it. Yes!", ["The text begins after it."]),
        ("one sentence that has no end", ["one sentence that has no end"]),
        ("A lone \ud800 surrogate is here. It does no harm.", ["A lone \ud800 surrogate is here.", "It does no harm."]),
        ("", []),
        ("...!? -- ;;; \n\n ***", []),
        ("one two", []),
    ],
)  # fmt: skip
def test_a_text_is_split_at_the_ends_of_its_sentences(text: str, sentences: list[str]) -> None:
    assert split(text) == sentences


def test_a_sentence_that_is_too_long_is_cut_into_windows_at_punctuation() -> None:
    plain = split_sentences(text := "word " * 200, find_piece_ends(text, LEMMATIZER))
    assert [one.last - one.first for one in plain] == [WINDOW_WORDS] * 4 + [WINDOW_WORDS]
    table = "one two three four five six seven | " * 20
    assert all(one.endswith("seven") for one in split(table))


def test_words_of_data_are_no_sentence() -> None:
    assert split(f"{'x' * 100_000} and more words here. A sentence follows the data.") == [
        "A sentence follows the data."
    ]


@given(st.text(alphabet="aB .!?\n-(\"'。字\ud800", max_size=400))
def test_sentences_are_in_order_and_bounded_in_any_text(text: str) -> None:
    sentences = split_sentences(text, find_piece_ends(text, LEMMATIZER))
    assert all(MIN_WORDS <= one.last - one.first <= MAX_WORDS for one in sentences)
    assert all(0 <= one.start < one.end <= len(text) for one in sentences)
    assert all(one.last <= other.first for one, other in pairwise(sentences))


@pytest.mark.parametrize("part", ["word ", "A short sentence is here. ", "字", "{x: 1}, ", "x", ". ", "\n", "A\n\n"])
def test_of_a_long_text_only_the_beginning_is_read(part: str) -> None:
    text = part * (5_000_000 // len(part))
    spans = DocumentSpans(make_analysed_document(text, tokens=""), LEMMATIZER)
    started = time.perf_counter()
    sentences = split_sentences(text, spans.find_text_ends(200_000))
    assert len(sentences) <= MAX_SENTENCES
    assert time.perf_counter() - started < 2
    assert all(text[one.start : one.end].strip() for one in sentences)
