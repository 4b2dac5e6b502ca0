"""Topics: words used in the same kind of documents stand close together."""

from __future__ import annotations

import random

import numpy as np
import pytest
from numpy.typing import NDArray

from indexer.model.topic_space import (
    MAX_DIMENSIONS,
    PhraseVectorMeans,
    TopicSpace,
    learn_topic_space,
    sum_phrase_vectors,
)

Ints = NDArray[np.int64]
FIELDS = 4
WORDS = 40
"""Words of a field; word n belongs to field n // WORDS. More in all than there are dimensions."""


def coded(texts: list[list[int]], vocabulary: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Words, offsets, document frequencies and the document of each word."""
    words = np.array([word for text in texts for word in text], dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int64)
    frequency = np.array([sum(word in text for text in texts) for word in range(vocabulary)], dtype=np.int64)
    return words, offsets, frequency, np.repeat(np.arange(len(texts)), np.diff(offsets))


def learnt(texts: list[list[int]], vocabulary: int = FIELDS * WORDS, seed: int = 0) -> TopicSpace:
    words, offsets, frequency, _ = coded(texts, vocabulary)
    average = len(words) / max(len(texts), 1)
    return learn_topic_space(words, offsets, frequency, document_count=len(texts), average_length=average, seed=seed)


def places(topics: TopicSpace, texts: list[list[int]]) -> NDArray[np.float32]:
    words, offsets, _, document = coded(texts, 0)
    return topics.embed_texts(words, document, np.diff(offsets))


def fields(count: int = 80) -> list[list[int]]:
    """Texts of the fields in turn, each with ten of its field's words."""
    dice = random.Random(3)
    return [[WORDS * (n % FIELDS) + word for word in dice.sample(range(WORDS), 10)] for n in range(count)]


def test_texts_of_one_field_stand_together_even_without_a_common_word() -> None:
    topics = learnt(fields(800))
    first, second = list(range(20)), list(range(20, 40))
    bees, more_bees, boats = places(topics, [first, second, [WORDS + word for word in first]])
    assert bees @ more_bees > 0.15
    assert bees @ boats < 0


def test_places_have_length_one_or_none() -> None:
    topics = learnt(fields())
    unseen = FIELDS * WORDS
    found = places(topics, [*fields(20), [], [unseen, unseen]])
    lengths = np.linalg.norm(found, axis=1)
    assert lengths[:20] == pytest.approx(np.ones(20), abs=1e-6)
    assert lengths[20:].tolist() == [0.0, 0.0]
    assert found.dtype == np.float32


def test_a_batch_stands_where_its_texts_stand_alone() -> None:
    topics = learnt(fields())
    texts = fields(30)
    alone = np.concatenate([places(topics, [text]) for text in texts])
    assert np.allclose(places(topics, texts), alone, atol=1e-6)


def test_directions_are_of_length_one_square_to_each_other_and_point_one_way() -> None:
    vectors = learnt(fields()).vectors
    assert np.allclose(vectors.T @ vectors, np.eye(vectors.shape[1]), atol=5e-3)  # kept in half precision
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    assert (largest > 0).all()


def test_the_same_corpus_gives_the_same_bytes() -> None:
    one, other = learnt(fields()), learnt(fields())
    assert one.vectors.tobytes() == other.vectors.tobytes()
    assert one.centroid.tobytes() == other.centroid.tobytes()
    assert places(one, fields(9)).tobytes() == places(other, fields(9)).tobytes()


def test_there_are_never_more_directions_than_the_corpus_has() -> None:
    assert learnt(fields()).dimensions == MAX_DIMENSIONS
    two_kinds = [[0, 1, 2], [3, 4, 5]] * 3
    assert learnt(two_kinds, 6).dimensions == 2


@pytest.mark.parametrize("texts", [[], [[]], [[], []], [[0, 1, 2]], [[0, 1, 2]] * 40])
def test_a_corpus_without_topics_has_none(texts: list[list[int]]) -> None:
    topics = learnt(texts, 3)
    assert topics.dimensions == 0
    assert places(topics, [[0, 1], []]).shape == (2, 0)


def test_texts_that_are_all_the_same_stand_nowhere() -> None:
    topics = learnt([[0, 1, 2]] * 3, 3)
    assert np.abs(places(topics, [[0, 1, 2]])).max(initial=0.0) == 0 or topics.dimensions == 1
    assert np.isfinite(places(topics, [[0], [2, 2]])).all()


def test_words_of_nearly_every_document_or_of_hardly_any_have_no_place() -> None:
    often = FIELDS * WORDS
    texts = [[*text, often] for text in fields(160)]
    texts[0].append(often + 1)
    topics = learnt(texts, often + 2)
    assert topics.vector_rows[often:].tolist() == [-1, -1, -1]
    assert (topics.vector_rows[:often] >= 0).all()


def test_a_phrase_stands_in_the_middle_of_its_documents() -> None:
    topics = learnt(fields())
    texts = fields(8)
    words, offsets, _, document = coded(texts, 0)
    held = PhraseVectorMeans(topics, 3)
    half = int(offsets[4])
    edges = np.array([0, 0, 2]), np.array([1, 2, 3])
    none = np.zeros(0, dtype=np.int64)
    held.add(sum_phrase_vectors(topics, words[:half], document[:half], np.diff(offsets)[:4], edges[1], edges[0]))
    held.add(
        sum_phrase_vectors(
            topics, words[half:], document[half:] - 4, np.diff(offsets)[4:], np.array([0]), np.array([0])
        )
    )
    held.add(sum_phrase_vectors(topics, words[:0], document[:0], none, none, none))
    means = held.compute_means(np.array([3, 0, 1]))
    stands = places(topics, texts)
    assert np.allclose(means[0], stands[[1, 2, 4]].mean(axis=0), atol=1e-3)
    assert np.allclose(means[2], stands[3], atol=1e-3)
    assert (means[1] == 0).all()
    assert means.dtype == np.float16
