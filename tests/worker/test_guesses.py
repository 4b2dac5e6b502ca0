"""A caller's own text confirms no guess: hidden words in it get the answer that invented words get."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from indexer.documents import Document
from indexer.engines.base import Engine
from indexer.indexing.build import build_index
from tests.support.comparisons import compare_sides
from tests.support.corpora.acl_corpus import SHARED_PHRASES, AclCorpus, make_acl_corpus
from worker.comparer import Comparer
from worker.explain.side import Side
from worker.methods.registry import METHODS

pytestmark = pytest.mark.slow
READER = frozenset({"red"})
HIDDEN_ACRONYM, LONG_FORM = "rwx", "random walk"
"""Only hidden documents say that the one stands for the other."""


def make_documents(corpus: AclCorpus) -> list[Document]:
    texts = [f"The {LONG_FORM} ({HIDDEN_ACRONYM.upper()}) ranks. A {HIDDEN_ACRONYM.upper()} is slow. " * 3] * 4
    hidden = [Document(f"h{n}", f"Walks {n}", text, acl=("nobody",)) for n, text in enumerate(texts)]
    return [*corpus.documents.values(), *hidden]


@pytest.fixture
def corpus() -> AclCorpus:
    return make_acl_corpus(7)


@pytest.fixture
def comparer(engine: Engine, corpus: AclCorpus) -> Iterator[Comparer]:
    build_index(make_documents(corpus), engine, "papers", processes=1)
    yield Comparer(engine)


def list_hidden_words(corpus: AclCorpus) -> list[str]:
    return [word for word in sorted(corpus.find_forbidden(READER)) if "-" not in word]


def guess_texts(corpus: AclCorpus) -> str:
    """Return the sentences of all hidden documents, as if somebody had guessed every phrase in them."""
    hidden = [document for id, document in corpus.documents.items() if not corpus.is_readable(id, READER)]
    sentences = [sentence for document in hidden for sentence in re.split(r"(?<=\.) ", document.text)]
    titles = [f"{document.title}." for document in hidden]
    own = [f"The {phrase} explains it." for phrase in SHARED_PHRASES]
    return " ".join([*titles, *own, *(s for s in sentences if "-" not in s), f"The {HIDDEN_ACRONYM} is slow."])


def invent_words(text: str, words: list[str]) -> str:
    """Return the text with words in place of these that no document contains; they sort like them."""
    for word in (*words, HIDDEN_ACRONYM):
        text = text.replace(word, f"{word[:-1]}w")
    return text


def answer(comparer: Comparer, a: Side | str, b: Side, groups: frozenset[str] | None, method: str) -> dict[str, Any]:
    options = {"cap": 0, "candidates": True, "graph": True}
    out = compare_sides(comparer, a, b, index="papers", groups=groups, method=method, **options).to_dict()
    del out["id"], out["stats"]["ms"]
    return out


@pytest.mark.parametrize("form", ["text", "query"])
def test_hidden_words_get_the_answer_of_invented_words(comparer: Comparer, corpus: AclCorpus, form: str) -> None:
    words = list_hidden_words(corpus)
    guessed = guess_texts(corpus)
    invented = invent_words(guessed, words)
    readable = next(id for id in corpus.documents if corpus.is_readable(id, READER))
    differs = []
    for method in METHODS:
        for a in (readable, Side("text", words=f"A {SHARED_PHRASES[2]} and a {SHARED_PHRASES[1]}.")):
            sides = Side(form, words=guessed), Side(form, words=invented)
            seen, expected = (answer(comparer, a, b, READER, method) for b in sides)
            assert invent_words(json.dumps(seen), words) == json.dumps(expected), method
            seen, expected = (answer(comparer, a, b, None, method) for b in sides)
            differs.append(invent_words(json.dumps(seen), words) != json.dumps(expected))
    assert all(differs), "a caller who may read everything is told the phrases"


def test_guessed_phrases_of_hidden_documents_are_not_shown(comparer: Comparer, corpus: AclCorpus) -> None:
    words = list_hidden_words(corpus)
    guesses = [Side("text", words=guess_texts(corpus)), Side("query", words=guess_texts(corpus))]
    shown = {
        groups: {
            phrase["phrase"]
            for b in guesses
            for phrase in answer(comparer, next(iter(corpus.documents)), b, groups, "cda")["candidates"]["b"]
        }
        for groups in (None, READER)
    }
    assert not [phrase for phrase in shown[READER] if any(word in phrase for word in words)]
    assert [phrase for phrase in shown[None] if any(word in phrase for word in words)]
    assert shown[READER] & set(SHARED_PHRASES)


READABLE_TEXT = "The random kernel is quick here. An engine of some size runs. " * 2
"""What readable documents say: the long form of an acronym that only hidden documents explain."""
HIDDEN_TEXT = "The random kernel (RK) ranks it. The RK is slow. An RK engine is fast. " * 3


@pytest.fixture
def readable_comparer(engine: Engine, corpus: AclCorpus) -> Iterator[Comparer]:
    """A comparer of an index in which the long form of a hidden acronym is readable."""
    readable = [Document(f"r{n}", f"Size {n}", READABLE_TEXT, acl=tuple(READER)) for n in range(6)]
    hidden = [Document(f"k{n}", f"Kernel {n}", HIDDEN_TEXT, acl=("nobody",)) for n in range(6)]
    build_index([*make_documents(corpus), *readable, *hidden], engine, "papers", processes=1)
    assert engine.open_reader("papers").model.acronyms["rk"] == ["random kernel"]
    yield Comparer(engine)


@pytest.mark.parametrize(
    "guess",
    [
        "The rk is slow.",
        "The rk engine is slow.",
        "The slow engine rk is here.",
        "The random kernel is slow. The rk is slow.",
        "The rk engine. An rk engine. The rk of rk engines.",
    ],
)
@pytest.mark.parametrize("other", ["document", "set", "text", "query", "another field"])
def test_a_guess_is_not_confirmed_by_what_it_matches_in_a_readable_text(
    readable_comparer: Comparer, guess: str, other: str
) -> None:
    a = {
        "document": Side.from_id("r0"),
        "set": Side.from_text("ids:r0,r1"),
        "text": Side("text", words=READABLE_TEXT),
        "query": Side("query", words="random kernel engine"),
        "another field": Side("text", words=f"A {SHARED_PHRASES[0]} and a {SHARED_PHRASES[1]}."),
    }[other]
    for method in METHODS:
        for is_exchanged in (False, True):
            seen, expected = (
                answer(readable_comparer, *((b, a) if is_exchanged else (a, b)), READER, method)
                for b in (Side("text", words=guess), Side("text", words=guess.replace("rk", "rl")))
            )
            assert json.dumps(seen).replace("rk", "rl") == json.dumps(expected).replace("rk", "rl"), method
