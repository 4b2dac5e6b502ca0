"""Directions in topic space: what a query and a document are both about, against random documents."""

from __future__ import annotations

import random

import numpy as np
import pytest

from indexer.model.phrase_directions import MIN_RESERVOIR, PhraseDirections, Reservoir, compute_share_at_least
from indexer.model.topic_space import TopicSpace, WeighedText, learn_topic_space

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
    return space.weigh_texts(np.concatenate(texts), np.array(list(map(len, texts))))


def embed(space: TopicSpace, texts: list[list[int]]) -> np.ndarray:
    return np.stack([text.vector for text in weigh(space, texts)])


@pytest.fixture(scope="module")
def directions(space: TopicSpace) -> PhraseDirections:
    """Every word is a phrase, and every document of the reservoir has its own words as salient phrases."""
    texts = make_texts()[3:]
    starts = np.concatenate([[0], np.cumsum([len(text) for text in texts])])
    reservoir = Reservoir(embed(space, texts), starts, np.array([word for text in texts for word in text]))
    return PhraseDirections(space, np.arange(RARE + 2), np.arange(RARE + 1), reservoir, sampled_share=1.0)


def test_directions_have_length_one_and_random_documents_spread_along_them(
    directions: PhraseDirections, space: TopicSpace
) -> None:
    found = directions.compute_phrase_directions(np.arange(RARE + 1))
    assert np.linalg.norm(found.directions, axis=1) == pytest.approx(np.ones(RARE + 1), abs=1e-4)
    along = found.directions @ embed(space, make_texts()[3:]).T
    assert found.spread == pytest.approx(along.std(axis=1), abs=1e-3)


def test_a_query_and_a_document_of_one_field_are_about_its_phrases_without_a_common_word(
    directions: PhraseDirections, space: TopicSpace
) -> None:
    query = directions.compute_query_directions(np.array([0, 1]))[0]
    phrases = directions.compute_phrase_directions(np.array([10, 11, WORDS + 10]))
    hit = embed(space, [[10, 11, 12, 13, 14, 15]])[0]
    strength = directions.measure_evidence(phrases, query, hit)
    assert min(strength[:2]) > 1 > 0 > strength[2]
    noise = compute_share_at_least(directions.measure_random_documents(query), strength)
    assert max(noise[:2]) < 0.2 and noise[2] > 0.5


def test_noise_falls_from_1_to_0_with_the_evidence(directions: PhraseDirections) -> None:
    query = directions.compute_query_directions(np.array([0]))[0]
    random_evidence = directions.measure_random_documents(query)
    noise = compute_share_at_least(random_evidence, np.array([-np.inf, -1.0, 0.0, 1.0, 3.0, np.inf]))
    assert noise[0] == 1 and noise[-1] == 0
    assert (np.diff(noise) <= 0).all()


def test_a_rare_word_says_nothing_about_a_document_that_is_left_out(
    directions: PhraseDirections, space: TopicSpace
) -> None:
    """Its vector is the sum of three documents; without one of them it no longer points there."""
    texts = make_texts()
    document = weigh(space, texts[:1])[0]
    whole = directions.compute_query_directions(np.array([RARE]))[0]
    without = directions.compute_query_directions(np.array([RARE]), without=[document])[0]
    assert whole @ document.vector > 0.3 > without @ document.vector
    assert without @ embed(space, texts[1:2])[0] > 0.3


def test_unknown_words_have_no_direction(directions: PhraseDirections) -> None:
    assert not directions.compute_query_directions(np.zeros(0, dtype=np.int64)).any()
    assert not directions.compute_query_directions(np.array([RARE + 1])).any()


@pytest.mark.parametrize(("count", "is_available"), [(MIN_RESERVOIR - 1, False), (MIN_RESERVOIR, True)])
def test_evidence_needs_a_reservoir(space: TopicSpace, count: int, is_available: bool) -> None:
    vectors = np.zeros((count, space.dimensions), np.float32)
    reservoir = Reservoir(vectors, np.zeros(count + 1, int), np.zeros(0, int))
    directions = PhraseDirections(space, np.arange(2), np.arange(1), reservoir, sampled_share=1.0)
    assert directions.is_available is is_available
