"""Evidence from a space of word vectors: topics learned from the corpus, or vectors that come with this package.

The direction of a phrase is the sum of the vectors of its words, each of length 1 and weighted by its idf; so is that
of a query. Without z-scores, "tool" and "software" would lie near everything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from indexer.int_arrays import csr_positions
from indexer.model.evidence_spaces import (
    DocumentSpread,
    EvidenceSpace,
    Ints,
    LocatedQuery,
    Reservoir,
    Scores,
    SpaceHit,
    SpaceName,
    SpaceQuery,
    Vectors,
    divide_or_zero,
    normalise_rows,
)
from indexer.model.topic_space import TopicSpace, WeighedText, to_single_precision

GetVectors = Callable[[Sequence[str]], Vectors]
"""Returns the vectors of words, shape (words, dimensions); zeros for a word without one."""


class PhraseVectors(NamedTuple):
    """Directions of some phrases."""

    directions: Vectors
    """Shape (phrases, dimensions); zeros for a phrase without a word with a vector."""
    spread: Vectors
    """Standard deviation of random documents along each direction, (phrases,)."""

    def take(self, rows: Ints) -> PhraseVectors:
        return PhraseVectors(self.directions[rows], self.spread[rows])


class PhraseDirections(EvidenceSpace[PhraseVectors]):
    """Measures how far queries, documents and phrases point the same way in a space of words."""

    source = "text"

    def __init__(
        self,
        name: SpaceName,
        space: TopicSpace,
        phrase_starts: Ints,
        phrase_word_ids: Ints,
        reservoir: Reservoir,
        reservoir_vectors: Vectors,
        *,
        weight: float = 1.0,
        sampled_share: float = 0.0,
        get_general_vectors: GetVectors | None = None,
    ) -> None:
        """``reservoir_vectors``: of the reservoir's documents, shape (documents, dimensions).

        ``sampled_share``: of the documents, those that the vectors were learned from; 0 for vectors of another origin.
        ``get_general_vectors``: for words of a query that the corpus does not have; None if the space knows no others.
        """
        self.name, self.weight = name, weight
        self._space = space
        self._phrase_starts, self._phrase_word_ids = phrase_starts, phrase_word_ids
        self._reservoir, self._reservoir_vectors = reservoir, reservoir_vectors
        self._spread = DocumentSpread(reservoir_vectors)
        self._sampled_share = sampled_share
        self._get_general_vectors = get_general_vectors

    def locate_query(self, query: SpaceQuery) -> LocatedQuery | None:
        direction = self.compute_query_direction(query.word_ids, unknown_words=query.unknown_words)
        return LocatedQuery(direction, query.word_ids) if direction.any() else None

    def look_up_phrases(self, phrase_ids: Ints) -> PhraseVectors:
        word_ids = self._phrase_word_ids[csr_positions(self._phrase_starts.astype(np.int64, copy=False), phrase_ids)]
        lengths = self._phrase_starts[phrase_ids + 1] - self._phrase_starts[phrase_ids]
        owners = np.repeat(np.arange(len(phrase_ids)), lengths)
        directions = self.sum_word_vectors(word_ids, owners, len(phrase_ids))
        return PhraseVectors(directions, self._spread.measure_along(directions))

    def measure_hit(self, query: LocatedQuery, phrases: PhraseVectors, hit: SpaceHit) -> Scores | None:
        vector = hit.text_vectors.get(self.name)
        if vector is None or not vector.any():
            return None
        direction = query.direction
        if self._sampled_share and hit.weighed_text is not None:
            direction = self.compute_query_direction(query.word_ids, hit.weighed_text)
        about_query = phrases.directions @ direction
        about_hit = phrases.directions @ (vector - self._spread.mean)
        return divide_or_zero(np.minimum(about_query, about_hit), phrases.spread)

    def measure_reservoir(self, query: LocatedQuery) -> Scores:
        candidates = self._reservoir_candidates
        about_query = (candidates.scaled_directions @ query.direction)[self._reservoir.distinct_phrases[1]]
        return np.asarray(np.minimum(about_query, candidates.about_document))

    def measure_texts(self, query: LocatedQuery, word_ids: Ints, owners: Ints, text_count: int) -> Scores:
        return np.asarray(self.sum_word_vectors(word_ids, owners, text_count) @ query.direction, dtype=np.float64)

    def compute_query_direction(
        self, word_ids: Ints, without: WeighedText | None = None, unknown_words: Sequence[str] = ()
    ) -> Vectors:
        """Return the direction of a query of these words, shape (dimensions,); zeros if no word has a vector.

        The share of the document ``without`` is left out of the words' vectors: a rare word points to the few documents
        that contain it, and that says nothing about what else one of them has in common with the query.
        ``unknown_words``, which the corpus does not have, count where the space knows them.
        """
        known = np.asarray(word_ids)[self._space.vector_rows[word_ids] >= 0]
        rows = self._space.vector_rows[known]
        vectors = self._scale_word_vectors(rows)
        if without is not None:
            vectors = vectors - self._share_of_document(without, rows)
        idf = self._space.word_idf[known].astype(np.float32)
        total = idf @ normalise_rows(vectors)
        if self._get_general_vectors is not None and unknown_words:
            general = normalise_rows(self._get_general_vectors(unknown_words))
            total = total + np.float32(self._space.word_idf[-1]) * general.sum(axis=0)
        return np.asarray(normalise_rows(total[np.newaxis])[0])

    def _share_of_document(self, document: WeighedText, rows: Ints) -> Vectors:
        """Return what a document adds to the scaled vectors of words, shape (words, dimensions).

        A scaled vector is the sum, over the documents that were sampled, of the word's weight in the document times
        the document's vector divided by the scales.
        """
        is_word = rows[:, np.newaxis] == document.rows
        weights = np.where(is_word, document.weights, np.float32(0)).sum(axis=1)
        return np.asarray(self._sampled_share * np.outer(weights, document.raw_vector / self._space.scales))

    def measure_closeness_noise(self, vector: Vectors, cosine: float) -> float:
        """Return the share of random documents whose cosine with a vector is at least this."""
        return float(np.mean(self._reservoir_vectors @ vector >= cosine))

    def sum_word_vectors(self, word_ids: Ints, owners: Ints, owner_count: int) -> Vectors:
        """Return the direction of each owner of words, shape (owners, dimensions)."""
        from scipy.sparse import csr_array

        rows = self._space.vector_rows[word_ids]
        known = np.lexsort((rows, owners))  # in a fixed order, as that of a sum decides its last digit
        known = known[rows[known] >= 0]
        distinct, columns = np.unique(rows[known], return_inverse=True)
        idf = self._space.word_idf[np.asarray(word_ids)[known]].astype(np.float32)
        ends = np.searchsorted(owners[known], np.arange(owner_count + 1))
        weights = csr_array((idf, columns, ends), shape=(owner_count, len(distinct)))
        return normalise_rows(weights @ normalise_rows(self._scale_word_vectors(distinct)))

    def _scale_word_vectors(self, rows: Ints) -> Vectors:
        return np.asarray(to_single_precision(self._space.vectors[rows]) * self._space.scales)

    @cached_property
    def _reservoir_candidates(self) -> _ReservoirCandidates:
        """The salient phrases of the reservoir's documents, measured once."""
        phrases, rows = self._reservoir.distinct_phrases
        directions, spread = self.look_up_phrases(phrases)
        scaled = divide_or_zero(directions, spread[:, np.newaxis]).astype(np.float32)
        centred = self._reservoir_vectors - self._spread.mean
        about_document = np.einsum("ij,ij->i", scaled[rows], centred[self._reservoir.owners])
        return _ReservoirCandidates(scaled, about_document)


class _ReservoirCandidates(NamedTuple):
    scaled_directions: Vectors
    """Directions of the distinct phrases, divided by their spread."""
    about_document: Vectors
    """z-score of the document along the direction of each of its phrases, shape (phrases of the reservoir,)."""
