"""Where phrases stand in a text, how often, and how much of one a text holds in other words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.documents import AnalysedDocument, Document
from indexer.mining.acronyms import as_lines
from indexer.model.phrase_model import PhraseModel
from indexer.packed import pack
from indexer.text.tokenizer import occurrences
from worker.answer.near_duplicates import Folder
from worker.answer.snippets import Finder, snippet
from worker.explain.text.encoded_text import Coded
from worker.explain.text.ngram_counts import MANY, InNumbers, InText, sequences
from worker.explain.text.partial_match import FAMILY, Wording, pair_positions, positions, related
from worker.explain.text.spans import Spans

WORDS = "web graph meta learn metalearn reinforcement rl deep personalise e mail email".split()
words = st.sampled_from(["a", "b", "ab", "ba"])
texts = st.lists(st.lists(words, min_size=1, max_size=8), max_size=5).map(
    lambda ls: "\n".join(" ".join(line) for line in ls)
)
phrases = st.lists(words, min_size=1, max_size=3).map(" ".join)


def model(acronyms: Mapping[str, list[str]] | None = None) -> PhraseModel:
    nothing = np.zeros(0)
    return PhraseModel(
        settings={}, documents=100, average_length=10.0, phrases=[], displays=[],
        frequency=nothing.astype(np.int32), quality=nothing.astype(np.float32), degree=nothing, background=nothing,
        words=WORDS, word_frequency=np.full(len(WORDS), 5, dtype=np.int32),
        extra={"acronyms": pack(as_lines(acronyms or {}))},
    )  # fmt: skip


def worded(tokens: list[str], known: PhraseModel) -> Wording:
    return Wording(Coded(tokens, known), known)


@given(phrases, texts)
def test_a_phrase_is_found_and_counted_where_its_words_follow_each_other(phrase: str, tokens: str) -> None:
    expected = occurrences(phrase, tokens)
    assert positions(phrase, tokens) == expected
    assert positions(phrase, tokens, 2) == expected[:2]
    assert worded([tokens, tokens], model()).count(phrase) == 2 * len(expected)


@settings(deadline=None)  # the first one loads scipy
@given(st.lists(words | st.sampled_from(["web", "graph"]), min_size=2, max_size=3), st.lists(texts, max_size=4))
def test_words_in_a_row_are_counted_alike_in_a_few_texts_and_in_very_many(phrase: list[str], tokens: list[str]) -> None:
    coded = Coded([*tokens, " ".join(phrase)], model())
    expected = sum(len(occurrences(" ".join(phrase), text)) for text in coded.tokens)
    assert InNumbers(coded).count(phrase) == InText(coded.tokens).count(phrase) == expected
    assert InNumbers(coded).holds(phrase) and InText(coded.tokens).holds(phrase)


@pytest.mark.parametrize("tokens", ["web\tgraph deep", "web  graph deep", "web\u2009graph deep"])
def test_numbers_are_not_used_where_words_are_not_parted_as_they_should_be(tokens: str) -> None:
    coded = Coded([tokens] * MANY, model())
    assert len(coded.words) == 3 * MANY and coded.gaps is None
    assert isinstance(sequences(coded), InText)
    assert isinstance(sequences(Coded(["web\ngraph deep"] * MANY, model())), InNumbers)


def test_the_words_of_very_many_texts_are_counted_as_those_of_a_few() -> None:
    texts = ["web unheard graph", "", "unheard\nof"]
    few, many = Coded(texts, model()), Coded(texts * MANY, model())
    assert {word: MANY * count for word, count in few.counts.items()} == many.counts
    assert [many.number(word) for word in ("web", "graph", "unheard", "of")] == [0, 1, len(WORDS), len(WORDS) + 1]
    assert many.lengths.tolist() == [3, 0, 2] * MANY


@given(phrases, phrases, texts)
def test_a_pair_is_found_where_its_members_are_near(one: str, other: str, tokens: str) -> None:
    found = pair_positions(f"{one}@@{other}", tokens)
    assert [start for start, _ in found] == occurrences(f"{one}@@{other}", tokens)
    lines = tokens.split()
    assert all(" ".join(lines[start : start + size]) in (one, other) for start, size in found)
    assert worded([tokens], model()).count(f"{one}@@{other}") == len(found)


def test_a_long_text_is_searched_for_pairs_without_comparing_every_two_places() -> None:
    tokens = " ".join(["web", "graph", *["x"] * 20] * 20_000)
    assert len(pair_positions("web@@graph", tokens)) == 40_000


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
        ("personalise", "personalisation", FAMILY),
        ("personalise", "person", 0.0),
        ("deep personalise", "deep personalised", (1 + FAMILY) / 2),
        ("rl", "reinforcement learn", 1.0),
        ("reinforcement learn", "rl", 1.0),
        ("deep reinforcement learn", "rl deep", 1.0),
        ("deep reinforcement learn", "rl", 2 / 3),
        ("deep rl", "reinforcement learn", 0.5),
    ],
)  # fmt: skip
def test_a_text_may_hold_a_phrase_in_other_words(phrase: str, text: str, worth: float) -> None:
    wording = worded([text], model({"rl": ["reinforcement learn"]}))
    assert wording.partial([phrase])[0] == pytest.approx(worth)


def test_partial_weights_are_those_of_the_words_that_are_there() -> None:
    wording = worded(["web web graph", "deep"], model())
    both, web, none = wording.weights(["web graph", "web", "rl"])
    assert both > web > none == 0
    assert worded([], model()).weights(["web"]).tolist() == [0.0]


def analysed(text: str, tokens: str) -> AnalysedDocument:
    return AnalysedDocument(Document("d", "", text), tokens, (), (), (), 0.0, "")


def test_the_places_of_a_pair_are_those_of_its_members() -> None:
    text = "Web graphs here; the random walk there."
    finder = Finder.__new__(Finder)
    document = analysed(text, "web graph here\nthe random walk there")
    side = type("Side", (), {"spans": (Spans(document),)})()
    Finder.__init__(finder, side, "a")
    found = finder.places("web graph@@random walk")
    assert [text[place.start : place.end] for place in found] == ["Web graphs", "random walk"]


@given(st.text(alphabet="ab \n", max_size=300), st.integers(0, 300), st.integers(1, 30))
def test_a_snippet_holds_what_it_is_about(text: str, start: int, size: int) -> None:
    start = min(start, len(text))
    end = min(start + size, len(text))
    shown = snippet(text, start, end)
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
    assert Folder(acronyms).fold(ranked) == [
        ("deep web graph", ("web graph", "graph", "deep web graphs")),
        ("rl", ("reinforcement learn",)),
        ("mail", ()),
        ("x@@y", ("y@@x", "x")),
    ]


def test_a_phrase_with_an_acronym_says_what_that_stands_for() -> None:
    acronyms = model({"smt": ["statistical machine translation"]})
    ranked = ["machine translation", "smt system", "machine", "smt"]
    assert Folder(acronyms).fold(ranked) == [("machine translation", ("smt system", "machine", "smt"))]
    assert len(Folder(model()).fold(ranked)) == 2
    ambiguous = model({"ml": ["machine learn", "maximum likelihood"]})
    assert len(Folder(ambiguous).fold(["machine likelihood", "ml model"])) == 2, "no mixture of what it may stand for"


def test_initials_of_three_words_stand_for_them() -> None:
    ranked = ["hdt", "hierarchical document transformer", "meta learn", "ml", "war", "weak acid reaction"]
    known = replace(model(), phrases=["hdt", "ml", "war"], displays=["HDT", "ML", "war"])
    assert Folder(known).fold(ranked)[0] == ("hdt", (ranked[1],))
    assert [leader for leader, _ in Folder(known).fold(ranked)] == ["hdt", *ranked[2:]]


@given(st.lists(phrases, unique=True, max_size=8), st.integers(0, 8))
def test_cutting_a_ranked_list_changes_nothing_of_what_stays(ranked: list[str], size: int) -> None:
    whole, part = Folder(model()).fold(ranked), Folder(model()).fold(ranked[:size])
    assert [leader for leader, _ in part] == [leader for leader, _ in whole][: len(part)]


def test_words_that_only_begin_alike_are_no_family() -> None:
    assert related("bank", "banker") and related("personalise", "personalisation")
    assert not related("bread", "break") and not related("train", "trait")
