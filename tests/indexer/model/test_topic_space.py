"""Topic space: texts about the same subject have similar vectors."""

from __future__ import annotations

import random

import numpy as np
import pytest
from numpy.typing import NDArray

from indexer.model.topic_space import (
    PAIR_DIMENSIONS,
    PhraseVectorMeans,
    TopicSpace,
    learn_topic_space,
    sum_phrase_vectors,
)

Ints = NDArray[np.int64]
FIELDS = 4
WORDS = 40
"""Words of a field; word n belongs to field n // WORDS. More in all than there are dimensions."""


def encode_texts(texts: list[list[int]], vocabulary: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Return words, offsets of the texts, document frequencies and the document of each word."""
    words = np.array([word for text in texts for word in text], dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int64)
    frequency = np.array([sum(word in text for text in texts) for word in range(vocabulary)], dtype=np.int64)
    return words, offsets, frequency, np.repeat(np.arange(len(texts)), np.diff(offsets))


def learn_topics(texts: list[list[int]], vocabulary: int = FIELDS * WORDS, seed: int = 0) -> TopicSpace:
    words, offsets, frequency, _ = encode_texts(texts, vocabulary)
    average = len(words) / max(len(texts), 1)
    return learn_topic_space(words, offsets, frequency, document_count=len(texts), average_length=average, seed=seed)


def embed_texts(topics: TopicSpace, texts: list[list[int]]) -> NDArray[np.float32]:
    words, offsets, _, document = encode_texts(texts, 0)
    return topics.embed_texts(words, document, np.diff(offsets))


def make_field_texts(count: int = 80) -> list[list[int]]:
    """Return texts of the fields in turn, each with ten words of its field."""
    rng = random.Random(3)
    return [[WORDS * (n % FIELDS) + word for word in rng.sample(range(WORDS), 10)] for n in range(count)]


def test_texts_of_one_field_have_similar_vectors_even_without_a_common_word() -> None:
    topics = learn_topics(make_field_texts(800))
    first, second = list(range(20)), list(range(20, 40))
    bees, more_bees, boats = embed_texts(topics, [first, second, [WORDS + word for word in first]])
    assert bees @ more_bees > 0.15
    assert bees @ boats < 0


def test_text_vectors_have_length_one_or_zero() -> None:
    topics = learn_topics(make_field_texts())
    unseen = FIELDS * WORDS
    found = embed_texts(topics, [*make_field_texts(20), [], [unseen, unseen]])
    lengths = np.linalg.norm(found, axis=1)
    assert lengths[:20] == pytest.approx(np.ones(20), abs=1e-6)
    assert lengths[20:].tolist() == [0.0, 0.0]
    assert found.dtype == np.float32


def test_a_text_has_the_same_vector_alone_and_in_a_batch() -> None:
    topics = learn_topics(make_field_texts())
    texts = make_field_texts(30)
    alone = np.concatenate([embed_texts(topics, [text]) for text in texts])
    assert np.allclose(embed_texts(topics, texts), alone, atol=1e-6)


def test_topic_directions_are_orthonormal_with_a_fixed_sign() -> None:
    vectors = learn_topics(make_field_texts()).vectors
    assert np.allclose(vectors.T @ vectors, np.eye(vectors.shape[1]), atol=5e-3)  # kept in half precision
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    assert (largest > 0).all()


def test_the_same_corpus_gives_the_same_bytes() -> None:
    one, other = learn_topics(make_field_texts()), learn_topics(make_field_texts())
    assert one.vectors.tobytes() == other.vectors.tobytes()
    assert one.centroid.tobytes() == other.centroid.tobytes()
    assert embed_texts(one, make_field_texts(9)).tobytes() == embed_texts(other, make_field_texts(9)).tobytes()


def test_there_are_no_more_dimensions_than_the_corpus_supports() -> None:
    assert learn_topics(make_field_texts()).dimensions == PAIR_DIMENSIONS
    two_kinds = [[0, 1, 2], [3, 4, 5]] * 3
    assert learn_topics(two_kinds, 6).dimensions == 2


@pytest.mark.parametrize("texts", [[], [[]], [[], []], [[0, 1, 2]], [[0, 1, 2]] * 40])
def test_a_corpus_without_topics_has_none(texts: list[list[int]]) -> None:
    topics = learn_topics(texts, 3)
    assert topics.dimensions == 0
    assert embed_texts(topics, [[0, 1], []]).shape == (2, 0)


def test_identical_texts_have_zero_vectors() -> None:
    topics = learn_topics([[0, 1, 2]] * 3, 3)
    assert np.abs(embed_texts(topics, [[0, 1, 2]])).max(initial=0.0) == 0 or topics.dimensions == 1
    assert np.isfinite(embed_texts(topics, [[0], [2, 2]])).all()


def test_very_frequent_and_very_rare_words_have_no_vector() -> None:
    often = FIELDS * WORDS
    texts = [[*text, often] for text in make_field_texts(160)]
    texts[0].append(often + 1)
    topics = learn_topics(texts, often + 2)
    assert topics.vector_rows[often:].tolist() == [-1, -1, -1]
    assert (topics.vector_rows[:often] >= 0).all()


def test_a_phrase_vector_is_the_mean_of_its_documents() -> None:
    topics = learn_topics(make_field_texts())
    texts = make_field_texts(8)
    words, offsets, _, document = encode_texts(texts, 0)
    phrase_means = PhraseVectorMeans(topics, 3)
    half = int(offsets[4])
    edges = np.array([0, 0, 2]), np.array([1, 2, 3])
    none = np.zeros(0, dtype=np.int64)
    phrase_means.add(
        sum_phrase_vectors(topics, words[:half], document[:half], np.diff(offsets)[:4], edges[1], edges[0])
    )
    phrase_means.add(
        sum_phrase_vectors(
            topics, words[half:], document[half:] - 4, np.diff(offsets)[4:], np.array([0]), np.array([0])
        )
    )
    phrase_means.add(sum_phrase_vectors(topics, words[:0], document[:0], none, none, none))
    means = phrase_means.compute_means(np.array([3, 0, 1]))
    vectors = embed_texts(topics, texts)
    assert np.allclose(means[0], vectors[[1, 2, 4]].mean(axis=0), atol=1e-3)
    assert np.allclose(means[2], vectors[3], atol=1e-3)
    assert (means[1] == 0).all()
    assert means.dtype == np.float16
