"""Evidence from topic space that a query and a hit, or two texts, are both about a phrase."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from indexer.model.phrase_directions import PhraseVectors, Scores, Vectors, compute_share_at_least
from indexer.model.topic_space import WeighedText
from indexer.text.stopwords import ENGLISH_STOPWORDS
from worker.explain.resolved_side import ResolvedSide
from worker.methods.base import TopicEvidence


class QueryTopic:
    """A query in the topic space of an index, and the phrases to measure: those of all hits of a page at once."""

    def __init__(self, query: ResolvedSide, phrase_ids: NDArray[np.int64]) -> None:
        """``phrase_ids``: of the phrases to measure in the model; -1 for a phrase that it does not have."""
        self._model = query.reader.model
        left_out = query.unreadable_words | ENGLISH_STOPWORDS
        words = dict.fromkeys(word for word in query.documents[0].tokens.split() if word not in left_out)
        ids = map(self._model.word_ids.get, words)
        self._word_ids = np.array([id for id in ids if id is not None], dtype=np.int64)
        self._phrase_ids = np.unique(phrase_ids[phrase_ids >= 0])

    @cached_property
    def _direction(self) -> Vectors:
        return self._model.directions.compute_query_direction(self._word_ids)

    @cached_property
    def _phrases(self) -> PhraseVectors:
        return self._model.directions.compute_phrase_directions(self._phrase_ids)

    @cached_property
    def _random_evidence(self) -> Scores:
        return self._model.directions.measure_random_documents(self._direction)

    def measure_evidence(self, hit: ResolvedSide, phrase_ids: NDArray[np.int64]) -> TopicEvidence | None:
        """Measure some of the phrases by id; -1 for a phrase that the model does not have.

        None if the index is too small or of a former version, or the query has no word with a vector.
        """
        directions, known = self._model.directions, np.flatnonzero(phrase_ids >= 0)
        if not directions.is_available or not len(known) or not self._direction.any():
            return None
        strength, noise = np.zeros(len(phrase_ids)), np.ones(len(phrase_ids))
        text = weigh_single_text(hit)
        if text is None:
            query, document = self._direction, _compute_mean_vector(hit)
        else:
            query, document = directions.compute_query_direction(self._word_ids, without=text), text.vector
        rows = np.searchsorted(self._phrase_ids, phrase_ids[known])
        phrases = PhraseVectors(self._phrases.directions[rows], self._phrases.spread[rows])
        strength[known] = directions.measure_evidence(phrases, query, document)
        noise[known] = compute_share_at_least(self._random_evidence, strength[known])
        return TopicEvidence(strength, noise)


def weigh_single_text(side: ResolvedSide) -> WeighedText | None:
    """Return the weighed words of a side of one document; None for a set."""
    if len(side.documents) != 1:
        return None
    model = side.reader.model
    return model.topic_space.weigh_text(np.minimum(side.encoded_text.word_ids, len(model.words)))


def compute_side_vector(side: ResolvedSide) -> Vectors:
    """Return the vector of a text, or the mean vector of a set, of length 1; zeros without a known word."""
    text = weigh_single_text(side)
    return _compute_mean_vector(side) if text is None else text.vector


def _compute_mean_vector(side: ResolvedSide) -> Vectors:
    model, lengths = side.reader.model, side.encoded_text.lengths
    word_ids = np.minimum(side.encoded_text.word_ids, len(model.words))
    mean = model.topic_space.embed_texts(word_ids, np.repeat(np.arange(len(lengths)), lengths), lengths).mean(axis=0)
    length = float(np.linalg.norm(mean))
    return np.asarray(mean / length if length > 1e-9 else mean, dtype=np.float32)


def measure_pair_noise(a: ResolvedSide, b: ResolvedSide) -> float | None:
    """Return the share of random documents that are as close to one of two texts as they are to each other.

    The smaller of the two shares; None where it cannot be measured.
    """
    directions = a.reader.model.directions
    if not directions.is_available:
        return None
    vectors = compute_side_vector(a), compute_side_vector(b)
    cosine = float(vectors[0] @ vectors[1])
    return min(directions.measure_closeness_noise(vector, cosine) for vector in vectors)
