"""Directions of phrases and queries in topic space, and how far random documents of the corpus lie along them.

The direction of a phrase is the sum of the vectors of its words, each of length 1 and weighted by its idf; so is that
of a query. A document or a query is *about* a phrase as far as it lies in its direction, measured as a z-score: in
standard deviations above the mean of random documents, which the reservoir holds. Without that, "tool" and "software"
would lie near everything.

The evidence that a query and a document are both about a phrase is the smaller of the two z-scores. Its noise is the
share of random documents that have a salient phrase with as much evidence for the same query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.int_arrays import csr_positions
from indexer.model.topic_space import TopicSpace, WeighedText, to_single_precision

Ints = NDArray[np.integer]
Vectors = NDArray[np.float32]
Scores = NDArray[np.float64]

MIN_RESERVOIR = 300
"""In a reservoir of fewer documents, 5 % of them are a dozen, some of which are related to any query."""


@dataclass(frozen=True, eq=False)
class Reservoir:
    """Documents drawn at random when the epoch was built."""

    vectors: Vectors
    """Their vectors in topic space, shape (documents, dimensions)."""
    starts: Ints
    """Document r has the salient phrases ``phrase_ids[starts[r]:starts[r + 1]]``."""
    phrase_ids: Ints

    def __len__(self) -> int:
        return len(self.vectors)


class PhraseVectors(NamedTuple):
    """Directions of some phrases."""

    directions: Vectors
    """Shape (phrases, dimensions); zeros for a phrase without a word with a vector."""
    spread: Vectors
    """Standard deviation of random documents along each direction, (phrases,)."""


class PhraseDirections:
    """Measures how far queries, documents and phrases point the same way."""

    def __init__(
        self,
        space: TopicSpace,
        phrase_starts: Ints,
        phrase_word_ids: Ints,
        reservoir: Reservoir,
        *,
        sampled_share: float,
    ) -> None:
        """``sampled_share``: of the documents, those that the topic space was learned from."""
        self._space = space
        self._phrase_starts, self._phrase_word_ids = phrase_starts, phrase_word_ids
        self._reservoir = reservoir
        self._sampled_share = sampled_share

    @property
    def is_available(self) -> bool:
        """Whether evidence can be told from noise: not in a small index, nor in one of a former version."""
        return len(self._reservoir) >= MIN_RESERVOIR and len(self._space.scales) > 0

    def compute_phrase_directions(self, phrase_ids: Ints) -> PhraseVectors:
        """Return the directions of phrases and the spread of random documents along each."""
        word_ids = self._phrase_word_ids[csr_positions(self._phrase_starts.astype(np.int64, copy=False), phrase_ids)]
        lengths = self._phrase_starts[phrase_ids + 1] - self._phrase_starts[phrase_ids]
        owners = np.repeat(np.arange(len(phrase_ids)), lengths)
        directions = self._sum_word_vectors(word_ids, owners, len(phrase_ids))
        return PhraseVectors(directions, self._compute_spread(directions))

    def compute_query_directions(self, word_ids: Ints, without: Sequence[WeighedText | None] = (None,)) -> Vectors:
        """Return the direction of a query of these words for each of some documents, shape (documents, dimensions).

        The document's share of the words' vectors is left out of it (None leaves out nothing): a rare word points to
        the few documents that contain it, and that says nothing about what else one of them has in common with the
        query. Zeros if no word has a vector.
        """
        known = np.asarray(word_ids)[self._space.vector_rows[word_ids] >= 0]
        rows = self._space.vector_rows[known]
        vectors = self._scale_word_vectors(rows)
        rest = [
            vectors if document is None else vectors - self._share_of_document(document, rows) for document in without
        ]
        idf = self._space.word_idf[known].astype(np.float32)
        unit_vectors = _normalise_rows(np.concatenate(rest)).reshape(len(rest), *vectors.shape)
        return _normalise_rows(np.stack([idf @ of_document for of_document in unit_vectors]))

    def _share_of_document(self, document: WeighedText, rows: Ints) -> Vectors:
        """Return what a document adds to the scaled vectors of words, shape (words, dimensions).

        A scaled vector is the sum, over the documents that were sampled, of the word's weight in the document times
        the document's vector divided by the scales.
        """
        is_word = rows[:, np.newaxis] == document.rows
        weights = np.where(is_word, document.weights, np.float32(0)).sum(axis=1)
        return np.asarray(self._sampled_share * np.outer(weights, document.raw_vector / self._space.scales))

    def measure_evidence(self, phrases: PhraseVectors, query: Vectors, document: Vectors) -> Scores:
        """Return the smaller of the z-scores of a query and of a document's vector along each phrase, (P,).

        The words of the query alone say nothing about the mean of random queries, which counts as 0.
        """
        about_query = phrases.directions @ query
        about_document = phrases.directions @ document - phrases.directions @ self._mean
        return _divide_or_zero(np.minimum(about_query, about_document), phrases.spread)

    def measure_random_documents(self, query: Vectors) -> Scores:
        """Return the evidence for the query of the best salient phrase of each random document, ascending."""
        candidates = self._reservoir_candidates
        about_query = (candidates.scaled_directions @ query)[candidates.phrase_rows]
        evidence_by_candidate = np.minimum(about_query, candidates.about_document)
        best = np.full(len(self._reservoir), -np.inf)
        best[candidates.documents] = np.maximum.reduceat(evidence_by_candidate, candidates.starts)
        return np.sort(best)

    def measure_closeness_noise(self, vector: Vectors, cosine: float) -> float:
        """Return the share of random documents whose cosine with a vector is at least this."""
        return float(np.mean(self._reservoir.vectors @ vector >= cosine))

    def _sum_word_vectors(self, word_ids: Ints, owners: Ints, owner_count: int) -> Vectors:
        """Return the direction of each owner of words, shape (owners, dimensions)."""
        from scipy.sparse import csr_array

        rows = self._space.vector_rows[word_ids]
        has_vector = rows >= 0
        distinct, columns = np.unique(rows[has_vector], return_inverse=True)
        idf = self._space.word_idf[np.asarray(word_ids)[has_vector]].astype(np.float32)
        weights = csr_array((idf, (owners[has_vector], columns)), shape=(owner_count, len(distinct)))
        return _normalise_rows(weights @ _normalise_rows(self._scale_word_vectors(distinct)))

    def _scale_word_vectors(self, rows: Ints) -> Vectors:
        return np.asarray(to_single_precision(self._space.vectors[rows]) * self._space.scales)

    @cached_property
    def _mean(self) -> Vectors:
        return np.asarray(self._reservoir.vectors.mean(axis=0), dtype=np.float32)

    @cached_property
    def _covariance(self) -> Vectors:
        centred = self._reservoir.vectors - self._mean
        return np.asarray(centred.T @ centred / len(centred))

    def _compute_spread(self, directions: Vectors) -> Vectors:
        """Return the standard deviation of random documents along each direction, (P,)."""
        variance = np.einsum("ij,ij->i", directions @ self._covariance, directions)
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)))

    @cached_property
    def _reservoir_candidates(self) -> _ReservoirCandidates:
        """The salient phrases of the reservoir's documents, measured once."""
        reservoir = self._reservoir
        phrases, rows = np.unique(reservoir.phrase_ids, return_inverse=True)
        directions, spread = self.compute_phrase_directions(phrases.astype(np.int64))
        scaled = _divide_or_zero(directions, spread[:, np.newaxis]).astype(np.float32)
        sizes = np.diff(reservoir.starts)
        owners = np.repeat(np.arange(len(reservoir)), sizes)
        about_document = np.einsum("ij,ij->i", scaled[rows], (reservoir.vectors - self._mean)[owners])
        documents = np.flatnonzero(sizes)
        return _ReservoirCandidates(scaled, rows, about_document, documents, reservoir.starts[documents])


class _ReservoirCandidates(NamedTuple):
    scaled_directions: Vectors
    """Directions of the distinct phrases, divided by their spread."""
    phrase_rows: Ints
    """Row of ``scaled_directions`` for each salient phrase of each document, shape (salient phrases,)."""
    about_document: Vectors
    """z-score of the document along the direction of each of its phrases, shape (salient phrases,)."""
    documents: Ints
    """Documents that have a salient phrase."""
    starts: Ints
    """First salient phrase of each of these documents."""


def _normalise_rows(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 1e-6), dtype=np.float32)


def _divide_or_zero(values: NDArray[np.floating], divisors: NDArray[np.floating]) -> Scores:
    return np.asarray(np.divide(values, divisors, out=np.zeros(np.shape(values)), where=divisors > 1e-6))


def compute_share_at_least(ascending: Scores, values: Scores) -> Scores:
    """Return the share of some numbers, in ascending order, that are at least as large as each of the values."""
    return np.asarray(1.0 - np.searchsorted(ascending, values, side="left") / len(ascending))
