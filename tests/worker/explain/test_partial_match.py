"""Occurrences of phrases in the texts of a side, exact and partial."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.model.phrase_model import PhraseModel
from indexer.text.phrase_search import PAIR_WINDOW, find_occurrences, find_pair_starts_and_lengths, find_phrase
from tests.support.phrase_models import WORDS, make_phrase_model
from worker.explain.text.encoded_text import MIN_WORDS_FOR_ID_SEARCH, EncodedText
from worker.explain.text.ngram_counts import SubstringCounter, WordIdCounter, make_ngram_counter
from worker.explain.text.partial_match import FAMILY_WEIGHT, SideText, is_same_word_family

words = st.sampled_from(["a", "b", "ab", "ba"])
texts = st.lists(st.lists(words, min_size=1, max_size=8), max_size=5).map(
    lambda ls: "\n".join(" ".join(line) for line in ls)
)
phrases = st.lists(words, min_size=1, max_size=3).map(" ".join)
MODEL = make_phrase_model()


def make_side_text(tokens: list[str], model: PhraseModel = MODEL) -> SideText:
    return SideText(EncodedText(tokens, model), model)


def find_naively(phrase: str, tokens: str) -> list[int]:
    """Return every position where the phrase begins; of a phrase pair, those of members with the other one near."""
    if "@@" in phrase:
        first, second = (find_naively(member, tokens) for member in phrase.split("@@"))
        return sorted({position for i in first for j in second if abs(i - j) <= PAIR_WINDOW for position in (i, j)})
    phrase_words, lines = phrase.split(), [line.split() for line in tokens.split("\n")]
    starts = accumulate(map(len, lines), initial=0)
    return [
        start + i
        for start, line in zip(starts, lines, strict=False)
        for i in range(len(line))
        if line[i : i + len(phrase_words)] == phrase_words
    ]


@given(phrases, texts)
def test_a_phrase_is_found_and_counted_where_its_words_follow_each_other(phrase: str, tokens: str) -> None:
    expected = find_naively(phrase, tokens)
    assert find_phrase(phrase, tokens) == find_occurrences(phrase, tokens) == expected
    assert find_phrase(phrase, tokens, 2) == expected[:2]
    assert make_side_text([tokens, tokens]).count(phrase) == 2 * len(expected)


@settings(deadline=None)  # the first one loads scipy
@given(st.lists(words | st.sampled_from(["web", "graph"]), min_size=2, max_size=3), st.lists(texts, max_size=4))
def test_both_ngram_counters_count_alike(phrase: list[str], tokens: list[str]) -> None:
    encoded = EncodedText([*tokens, " ".join(phrase)], MODEL)
    expected = sum(len(find_naively(" ".join(phrase), text)) for text in encoded.tokens)
    assert WordIdCounter(encoded).count(phrase) == SubstringCounter(encoded.tokens).count(phrase) == expected
    assert WordIdCounter(encoded).contains(phrase) and SubstringCounter(encoded.tokens).contains(phrase)


@pytest.mark.parametrize("tokens", ["web\tgraph deep", "web  graph deep", "web\u2009graph deep"])
def test_word_ids_are_not_used_where_words_are_separated_by_other_whitespace(tokens: str) -> None:
    encoded = EncodedText([tokens] * MIN_WORDS_FOR_ID_SEARCH, MODEL)
    assert len(encoded.words) == 3 * MIN_WORDS_FOR_ID_SEARCH and encoded.line_ends is None
    assert isinstance(make_ngram_counter(encoded), SubstringCounter)
    assert isinstance(
        make_ngram_counter(EncodedText(["web\ngraph deep"] * MIN_WORDS_FOR_ID_SEARCH, MODEL)), WordIdCounter
    )


def test_words_of_many_texts_are_counted_like_those_of_few() -> None:
    texts = ["web unheard graph", "", "unheard\nof"]
    few, many = EncodedText(texts, MODEL), EncodedText(texts * MIN_WORDS_FOR_ID_SEARCH, MODEL)
    assert {word: MIN_WORDS_FOR_ID_SEARCH * count for word, count in few.word_counts.items()} == many.word_counts
    assert [many.get_word_id(word) for word in ("web", "graph", "unheard", "of")] == [0, 1, len(WORDS), len(WORDS) + 1]
    assert many.lengths.tolist() == [3, 0, 2] * MIN_WORDS_FOR_ID_SEARCH


@given(phrases, phrases, texts)
def test_a_phrase_pair_is_found_where_its_members_are_near(one: str, other: str, tokens: str) -> None:
    spans = find_pair_starts_and_lengths(f"{one}@@{other}", tokens)
    assert [start for start, _ in spans] == find_naively(f"{one}@@{other}", tokens)
    assert [start for start, _ in spans] == find_occurrences(f"{one}@@{other}", tokens)
    lines = tokens.split()
    assert all(" ".join(lines[start : start + size]) in (one, other) for start, size in spans)
    assert make_side_text([tokens]).count(f"{one}@@{other}") == len(spans)


def test_a_long_text_is_searched_for_phrase_pairs_in_linear_time() -> None:
    tokens = " ".join(["web", "graph", *["x"] * 20] * 20_000)
    assert len(find_pair_starts_and_lengths("web@@graph", tokens)) == 40_000


def test_a_phrase_does_not_cross_a_boundary_or_a_document() -> None:
    assert make_side_text(["web\ngraph", "web", "graph"]).count("web graph") == 0


@pytest.mark.parametrize(
    ("phrase", "text", "share"),
    [
        ("web graph", "graph of web", 1.0),
        ("web graph", "web", 0.5),
        ("web graph", "nothing", 0.0),
        ("meta learn", "metalearn", 1.0),
        ("metalearn", "meta learn", 1.0),
        ("metalearn", "meta\nlearn", 0.0),
        ("metalearn", "learn meta", 0.0),
        ("e mail", "email", 1.0),
        ("personalise", "personalisation", FAMILY_WEIGHT),
        ("personalise", "person", 0.0),
        ("deep personalise", "deep personalised", (1 + FAMILY_WEIGHT) / 2),
        ("rl", "reinforcement learn", 1.0),
        ("reinforcement learn", "rl", 1.0),
        ("deep reinforcement learn", "rl deep", 1.0),
        ("deep reinforcement learn", "rl", 2 / 3),
        ("deep rl", "reinforcement learn", 0.5),
    ],
)  # fmt: skip
def test_a_phrase_partially_matches_other_words_for_it(phrase: str, text: str, share: float) -> None:
    side_text = make_side_text([text], make_phrase_model({"rl": ["reinforcement learn"]}))
    assert side_text.compute_partial_matches([phrase])[0] == pytest.approx(share)


def test_word_bm25_counts_the_words_that_occur() -> None:
    side_text = make_side_text(["web web graph", "deep"], MODEL)
    both, web, none = side_text.compute_word_bm25(["web graph", "web", "rl"])
    assert both > web > none == 0
    assert make_side_text([]).compute_word_bm25(["web"]).tolist() == [0.0]


def test_words_that_only_begin_alike_are_of_different_families() -> None:
    assert is_same_word_family("bank", "banker") and is_same_word_family("personalise", "personalisation")
    assert not is_same_word_family("bread", "break") and not is_same_word_family("train", "trait")
