"""Directions in a space of words: what a query and a document are both about, against random documents."""

from __future__ import annotations

import random

import numpy as np
import pytest

from indexer.model.evidence_spaces import LocatedQuery, Reservoir, SpaceHit, SpaceQuery
from indexer.model.phrase_directions import PhraseDirections
from indexer.model.topic_space import CountedWords, TopicSpace, WeighedText, learn_topic_space

FIELDS, WORDS, TEXT_WORDS, DOCUMENTS = 8, 30, 12, 600
RARE = FIELDS * WORDS
"""A word of three documents of different fields."""


def make_texts() -> list[list[int]]:
    """Return texts of the fields in turn; word n belongs to field n // WORDS. The first three have the rare word."""
    rng = random.Random(5)
    texts = [[WORDS * (n % FIELDS) + w for w in rng.sample(range(WORDS), TEXT_WORDS)] for n in range(DOCUMENTS)]
    return [[*text, RARE] if n < 3 else text for n, text in enumerate(texts)]


@pytest.fixture(scope="module")
def space() -> TopicSpace:
    texts = make_texts()
    words = np.array([word for text in texts for word in text])
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts])])
    frequency = np.array([sum(word in text for text in texts) for word in range(RARE + 1)])
    return learn_topic_space(words, offsets, frequency, document_count=len(texts), average_length=float(TEXT_WORDS))


def weigh(space: TopicSpace, texts: list[list[int]]) -> list[WeighedText]:
    return space.weigh_texts([CountedWords(*np.unique(text, return_counts=True), len(text)) for text in texts])


def embed(space: TopicSpace, texts: list[list[int]]) -> np.ndarray:
    return np.stack([text.vector for text in weigh(space, texts)])


@pytest.fixture(scope="module")
def directions(space: TopicSpace) -> PhraseDirections:
    """Every word is a phrase, and every document of the reservoir has its own words as salient phrases."""
    texts = make_texts()[3:]
    starts = np.concatenate([[0], np.cumsum([len(text) for text in texts])])
    reservoir = Reservoir(starts, np.array([word for text in texts for word in text]))
    return PhraseDirections(
        "topics", space, np.arange(RARE + 2), np.arange(RARE + 1), reservoir, embed(space, texts), sampled_share=1.0
    )


def locate(directions: PhraseDirections, *words: int) -> LocatedQuery:
    located = directions.locate_query(SpaceQuery(np.array(words)))
    assert located is not None
    return located


def test_directions_have_length_one_and_random_documents_spread_along_them(
    directions: PhraseDirections, space: TopicSpace
) -> None:
    found = directions.look_up_phrases(np.arange(RARE + 1))
    assert np.linalg.norm(found.directions, axis=1) == pytest.approx(np.ones(RARE + 1), abs=1e-4)
    along = found.directions @ embed(space, make_texts()[3:]).T
    assert found.spread == pytest.approx(along.std(axis=1), abs=1e-3)


def test_a_query_and_a_document_of_one_field_are_about_its_phrases_without_a_common_word(
    directions: PhraseDirections, space: TopicSpace
) -> None:
    ids = np.array([10, 11, WORDS + 10])
    hit = SpaceHit(ids, {"topics": embed(space, [[10, 11, 12, 13, 14, 15]])[0]})
    evidence = directions.measure_hit(locate(directions, 0, 1), directions.look_up_phrases(ids), hit)
    assert evidence is not None and min(evidence[:2]) > 1 > 0 > evidence[2]


def test_a_text_without_a_known_word_has_no_place(directions: PhraseDirections, space: TopicSpace) -> None:
    ids = np.array([10])
    hit = SpaceHit(ids, {"topics": np.zeros(space.dimensions, np.float32)})
    assert directions.measure_hit(locate(directions, 0), directions.look_up_phrases(ids), hit) is None


def test_random_documents_are_measured_like_hits(directions: PhraseDirections, space: TopicSpace) -> None:
    query, text = locate(directions, 0, 1), make_texts()[3:][8]
    ids = np.array(text)
    hit = SpaceHit(ids, {"topics": embed(space, [text])[0]})
    evidence = directions.measure_hit(query, directions.look_up_phrases(ids), hit)
    assert evidence == pytest.approx(directions.measure_reservoir(query)[8 * TEXT_WORDS : 9 * TEXT_WORDS], abs=1e-3)


def test_a_rare_word_says_nothing_about_a_document_that_is_left_out(
    directions: PhraseDirections, space: TopicSpace
) -> None:
    """Its vector is the sum of three documents; without one of them it no longer points there."""
    texts = make_texts()
    document = weigh(space, texts[:1])[0]
    whole = directions.compute_query_direction(np.array([RARE]))
    without = directions.compute_query_direction(np.array([RARE]), without=document)
    assert whole @ document.vector > 0.3 > without @ document.vector
    assert without @ embed(space, texts[1:2])[0] > 0.3


def test_unknown_words_have_no_direction(directions: PhraseDirections) -> None:
    assert directions.locate_query(SpaceQuery(np.zeros(0, dtype=np.int64))) is None
    assert directions.locate_query(SpaceQuery(np.array([RARE + 1]))) is None
