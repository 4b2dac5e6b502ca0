"""Evidence from topic space that a query and a hit, or two texts, are both about a phrase."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from indexer.model.phrase_directions import PhraseVectors, Scores, Vectors, compute_share_at_least
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
        return np.asarray(self._model.directions.compute_query_directions(self._word_ids)[0])

    @cached_property
    def _phrases(self) -> PhraseVectors:
        return self._model.directions.compute_phrase_directions(self._phrase_ids)

    @cached_property
    def _random_evidence(self) -> Scores:
        return self._model.directions.measure_random_documents(self._direction)

    def measure_evidence(
        self, hits: Sequence[ResolvedSide], phrase_ids: Sequence[NDArray[np.int64]]
    ) -> TopicEvidence | None:
        """Measure some of the phrases for each hit, given by their ids; the result has those of one hit after another.

        An id of -1 is that of a phrase that the model does not have. None if the index is too small or of a former
        version, or the query has no word with a vector.
        """
        directions, ids = self._model.directions, np.concatenate(phrase_ids)
        if not directions.is_available or not len(self._phrase_ids) or not self._direction.any():
            return None
        rows = np.searchsorted(self._phrase_ids, ids)
        phrases = PhraseVectors(self._phrases.directions[rows], self._phrases.spread[rows])
        queries = directions.compute_query_directions(self._word_ids, [hit.weighed_text for hit in hits])
        strengths, end = [], 0
        for hit, query, own_ids in zip(hits, queries, phrase_ids, strict=True):
            own = slice(end, end := end + len(own_ids))
            own_phrases = PhraseVectors(phrases.directions[own], phrases.spread[own])
            strengths.append(directions.measure_evidence(own_phrases, query, compute_side_vector(hit)))
        strength = np.where(ids >= 0, np.concatenate(strengths), 0.0)
        return TopicEvidence(strength, np.where(ids >= 0, compute_share_at_least(self._random_evidence, strength), 1.0))


def compute_side_vector(side: ResolvedSide) -> Vectors:
    """Return the vector of a text, or the mean vector of a set, of length 1; zeros without a known word."""
    return _compute_mean_vector(side) if side.weighed_text is None else side.weighed_text.vector


def _compute_mean_vector(side: ResolvedSide) -> Vectors:
    lengths = side.encoded_text.lengths
    text_numbers = np.repeat(np.arange(len(lengths)), lengths)
    mean = side.reader.model.topic_space.embed_texts(side.known_word_ids, text_numbers, lengths).mean(axis=0)
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
