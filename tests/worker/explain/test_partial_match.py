"""Where phrases stand in a text, how often, and how much of one a text holds in other words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.documents import AnalysedDocument, Document
from indexer.model.phrase_model import PhraseModel
from indexer.text.phrase_search import PAIR_WINDOW, find_occurrences, find_phrase, find_phrase_pair
from worker.answer.near_duplicates import NearDuplicates
from worker.answer.snippets import SnippetFinder, cut_snippet
from worker.explain.text.encoded_text import EncodedText
from worker.explain.text.ngram_counts import (
    MIN_WORDS_FOR_ID_SEARCH,
    SubstringCounter,
    WordIdCounter,
    make_ngram_counter,
)
from worker.explain.text.partial_match import FAMILY_WEIGHT, SideText, is_same_family
from worker.explain.text.spans import DocumentSpans

WORDS = "web graph meta learn metalearn reinforcement rl deep personalise e mail email".split()
words = st.sampled_from(["a", "b", "ab", "ba"])
texts = st.lists(st.lists(words, min_size=1, max_size=8), max_size=5).map(
    lambda ls: "\n".join(" ".join(line) for line in ls)
)
phrases = st.lists(words, min_size=1, max_size=3).map(" ".join)


def model(acronyms: Mapping[str, list[str]] | None = None) -> PhraseModel:
    nothing = np.zeros(0)
    return PhraseModel(
        settings={}, document_count=100, average_length=10.0, phrases=[], display_forms=[],
        document_frequency=nothing.astype(np.int32), quality=nothing.astype(np.float32),
        degree=nothing, background=nothing,
        words=WORDS, word_document_frequency=np.full(len(WORDS), 5, dtype=np.int32),
        acronyms=acronyms or {},
    )  # fmt: skip


def worded(tokens: list[str], known: PhraseModel) -> SideText:
    return SideText(EncodedText(tokens, known), known)


def naive_positions(phrase: str, tokens: str) -> list[int]:
    """Every position whose next words are the phrase's; of a pair, those with the other member near."""
    if "@@" in phrase:
        first, second = (naive_positions(member, tokens) for member in phrase.split("@@"))
        close = [(i, j) for i in first for j in second if abs(i - j) <= PAIR_WINDOW]
        return sorted({position for both in close for position in both})
    wanted, lines = phrase.split(), [line.split() for line in tokens.split("\n")]
    starts = accumulate(map(len, lines), initial=0)
    return [
        start + i
        for start, line in zip(starts, lines, strict=False)
        for i in range(len(line))
        if line[i : i + len(wanted)] == wanted
    ]


@given(phrases, texts)
def test_a_phrase_is_found_and_counted_where_its_words_follow_each_other(phrase: str, tokens: str) -> None:
    expected = naive_positions(phrase, tokens)
    assert find_phrase(phrase, tokens) == find_occurrences(phrase, tokens) == expected
    assert find_phrase(phrase, tokens, 2) == expected[:2]
    assert worded([tokens, tokens], model()).count(phrase) == 2 * len(expected)


@settings(deadline=None)  # the first one loads scipy
@given(st.lists(words | st.sampled_from(["web", "graph"]), min_size=2, max_size=3), st.lists(texts, max_size=4))
def test_words_in_a_row_are_counted_alike_in_a_few_texts_and_in_very_many(phrase: list[str], tokens: list[str]) -> None:
    coded = EncodedText([*tokens, " ".join(phrase)], model())
    expected = sum(len(naive_positions(" ".join(phrase), text)) for text in coded.tokens)
    assert WordIdCounter(coded).count(phrase) == SubstringCounter(coded.tokens).count(phrase) == expected
    assert WordIdCounter(coded).contains(phrase) and SubstringCounter(coded.tokens).contains(phrase)


@pytest.mark.parametrize("tokens", ["web\tgraph deep", "web  graph deep", "web\u2009graph deep"])
def test_numbers_are_not_used_where_words_are_not_parted_as_they_should_be(tokens: str) -> None:
    coded = EncodedText([tokens] * MIN_WORDS_FOR_ID_SEARCH, model())
    assert len(coded.words) == 3 * MIN_WORDS_FOR_ID_SEARCH and coded.line_ends is None
    assert isinstance(make_ngram_counter(coded), SubstringCounter)
    assert isinstance(
        make_ngram_counter(EncodedText(["web\ngraph deep"] * MIN_WORDS_FOR_ID_SEARCH, model())), WordIdCounter
    )


def test_the_words_of_very_many_texts_are_counted_as_those_of_a_few() -> None:
    texts = ["web unheard graph", "", "unheard\nof"]
    few, many = EncodedText(texts, model()), EncodedText(texts * MIN_WORDS_FOR_ID_SEARCH, model())
    assert {word: MIN_WORDS_FOR_ID_SEARCH * count for word, count in few.word_counts.items()} == many.word_counts
    assert [many.get_word_id(word) for word in ("web", "graph", "unheard", "of")] == [0, 1, len(WORDS), len(WORDS) + 1]
    assert many.lengths.tolist() == [3, 0, 2] * MIN_WORDS_FOR_ID_SEARCH


@given(phrases, phrases, texts)
def test_a_pair_is_found_where_its_members_are_near(one: str, other: str, tokens: str) -> None:
    found = find_phrase_pair(f"{one}@@{other}", tokens)
    assert [start for start, _ in found] == naive_positions(f"{one}@@{other}", tokens)
    assert [start for start, _ in found] == find_occurrences(f"{one}@@{other}", tokens)
    lines = tokens.split()
    assert all(" ".join(lines[start : start + size]) in (one, other) for start, size in found)
    assert worded([tokens], model()).count(f"{one}@@{other}") == len(found)


def test_a_long_text_is_searched_for_pairs_without_comparing_every_two_places() -> None:
    tokens = " ".join(["web", "graph", *["x"] * 20] * 20_000)
    assert len(find_phrase_pair("web@@graph", tokens)) == 40_000


def test_a_phrase_does_not_cross_a_boundary_or_a_document() -> None:
    assert worded(["web\ngraph", "web", "graph"], model()).count("web graph") == 0


@pytest.mark.parametrize(
    ("phrase", "text", "worth"),
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
def test_a_text_may_hold_a_phrase_in_other_words(phrase: str, text: str, worth: float) -> None:
    wording = worded([text], model({"rl": ["reinforcement learn"]}))
    assert wording.match_partially([phrase])[0] == pytest.approx(worth)


def test_partial_weights_are_those_of_the_words_that_are_there() -> None:
    wording = worded(["web web graph", "deep"], model())
    both, web, none = wording.compute_word_bm25(["web graph", "web", "rl"])
    assert both > web > none == 0
    assert worded([], model()).compute_word_bm25(["web"]).tolist() == [0.0]


def analysed(text: str, tokens: str) -> AnalysedDocument:
    return AnalysedDocument(Document("d", "", text), tokens, (), (), (), 0.0, "")


def test_the_places_of_a_pair_are_those_of_its_members() -> None:
    text = "Web graphs here; the random walk there."
    finder = SnippetFinder.__new__(SnippetFinder)
    document = analysed(text, "web graph here\nthe random walk there")
    side = type("Side", (), {"spans": (DocumentSpans(document),)})()
    SnippetFinder.__init__(finder, side, "a")
    found = finder.find("web graph@@random walk")
    assert [text[place.start : place.end] for place in found] == ["Web graphs", "random walk"]


@given(st.text(alphabet="ab \n", max_size=300), st.integers(0, 300), st.integers(1, 30))
def test_a_snippet_holds_what_it_is_about(text: str, start: int, size: int) -> None:
    start = min(start, len(text))
    end = min(start + size, len(text))
    shown = cut_snippet(text, start, end)
    assert " ".join(text[start:end].split()) in shown
    assert len(shown) <= (end - start) + 122


def test_near_duplicates_stand_beside_the_first_of_them() -> None:
    acronyms = model({"rl": ["reinforcement learn"]})
    ranked = [
        "deep web graph",
        "rl",
        "web graph",
        "reinforcement learn",
        "graph",
        "deep web graphs",
        "mail",
        "x@@y",
        "y@@x",
        "x",
    ]
    assert NearDuplicates(acronyms).merge(ranked) == [
        ("deep web graph", ("web graph", "graph", "deep web graphs")),
        ("rl", ("reinforcement learn",)),
        ("mail", ()),
        ("x@@y", ("y@@x", "x")),
    ]


def test_a_phrase_with_an_acronym_says_what_that_stands_for() -> None:
    acronyms = model({"smt": ["statistical machine translation"]})
    ranked = ["machine translation", "smt system", "machine", "smt"]
    assert NearDuplicates(acronyms).merge(ranked) == [("machine translation", ("smt system", "machine", "smt"))]
    assert len(NearDuplicates(model()).merge(ranked)) == 2
    ambiguous = model({"ml": ["machine learn", "maximum likelihood"]})
    assert len(NearDuplicates(ambiguous).merge(["machine likelihood", "ml model"])) == 2, (
        "no mixture of what it may stand for"
    )


def test_initials_of_three_words_stand_for_them() -> None:
    ranked = ["hdt", "hierarchical document transformer", "meta learn", "ml", "war", "weak acid reaction"]
    known = replace(model(), phrases=["hdt", "ml", "war"], display_forms=["HDT", "ML", "war"])
    assert NearDuplicates(known).merge(ranked)[0] == ("hdt", (ranked[1],))
    assert [leader for leader, _ in NearDuplicates(known).merge(ranked)] == ["hdt", *ranked[2:]]


@given(st.lists(phrases, unique=True, max_size=8), st.integers(0, 8))
def test_cutting_a_ranked_list_changes_nothing_of_what_stays(ranked: list[str], size: int) -> None:
    whole, part = NearDuplicates(model()).merge(ranked), NearDuplicates(model()).merge(ranked[:size])
    assert [leader for leader, _ in part] == [leader for leader, _ in whole][: len(part)]


def test_words_that_only_begin_alike_are_no_family() -> None:
    assert is_same_family("bank", "banker") and is_same_family("personalise", "personalisation")
    assert not is_same_family("bread", "break") and not is_same_family("train", "trait")
