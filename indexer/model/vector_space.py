"""Evidence from the vectors that documents came with, and the centroids of phrases among them.

A vector is reduced to its place: of length 1, less the mean, projected to at most 128 dimensions (the principal ones),
and of length 1 again. The direction of a phrase is the mean place of the documents that contain it, less the mean of
all, so it says what these documents have in common, whatever model made the vectors. A hit is left out of the
directions of its own phrases: that it contains them would be its own evidence.

That query and hit are close to each other, as a z-score of their cosine among random documents, is evidence that the
hit is about the query. It says nothing about which of its phrases is the reason, and is measured apart from theirs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.model.evidence_spaces import (
    DocumentSpread,
    EvidenceSpace,
    Ints,
    LocatedQuery,
    Reservoir,
    Scores,
    SpaceHit,
    SpaceQuery,
    Vectors,
    divide_or_zero,
    normalise_rows,
)

MAX_DIMENSIONS = 128
"""Dimensions of a place: more say no more about phrases, and a million phrases of 128 bytes fit a worker."""
_CODES = 127
"""Largest code of an 8-bit number."""
_BLOCK = 4096
"""Phrases of the reservoir that are measured at a time."""


@dataclass(frozen=True, eq=False)
class VectorProjection:
    """The reduction of vectors to places."""

    mean: Vectors
    """Mean of the documents' unit vectors, shape (dimensions of the vectors,)."""
    axes: Vectors
    """Principal axes, shape (dimensions of the vectors, dimensions of the places)."""

    @property
    def input_dimensions(self) -> int:
        return len(self.mean)

    def project(self, vectors: Vectors) -> Vectors:
        """Return the places of vectors, shape (vectors, dimensions of the places)."""
        return normalise_rows(np.asarray((normalise_rows(vectors) - self.mean) @ self.axes, dtype=np.float32))


def fit_projection(sample: Vectors) -> VectorProjection:
    """Fit the reduction to a sample of vectors, shape (sample, dimensions)."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):  # the last digits depend on the number of threads
        units = normalise_rows(sample).astype(np.float64)
        mean = units.mean(axis=0)
        centred = units - mean
        _, axes = np.linalg.eigh(centred.T @ centred)
        axes = axes[:, ::-1][:, :MAX_DIMENSIONS]
        signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    return VectorProjection(mean.astype(np.float32), (axes * signs).astype(np.float32))


@dataclass(frozen=True, eq=False)
class PhraseCentroids:
    """Mean places of the documents of each phrase, less the mean of all documents, in 8 bits."""

    codes: NDArray[np.int8] = field(default_factory=lambda: np.zeros((0, 0), np.int8))
    """Shape (phrases, dimensions)."""
    steps: Vectors = field(default_factory=lambda: np.zeros(0, np.float32))
    """Value of one step of a code, shape (phrases,)."""
    counts: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    """Documents with a vector that contain the phrase, shape (phrases,)."""

    @classmethod
    def from_means(cls, means: Vectors, counts: Ints) -> PhraseCentroids:
        """Encode means of shape (phrases, dimensions)."""
        steps = np.abs(means).max(axis=1, initial=0.0) / _CODES
        codes = np.rint(divide_or_zero(means, np.maximum(steps, 1e-12)[:, np.newaxis]))
        return cls(codes.astype(np.int8), steps.astype(np.float32), np.asarray(counts, dtype=np.int32))

    def take(self, phrase_ids: Ints) -> CentroidSums:
        """Return the sums of some phrases."""
        counts = self.counts[phrase_ids]
        factors = self.steps[phrase_ids] * counts
        return CentroidSums(np.asarray(self.codes[phrase_ids] * factors[:, np.newaxis], dtype=np.float32), counts)


class CentroidSums(NamedTuple):
    """Documents of some phrases."""

    sums: Vectors
    """Sum of their places, less as many means, shape (phrases, dimensions)."""
    counts: Ints
    """Number of these documents, (phrases,)."""

    def take(self, rows: Ints) -> CentroidSums:
        return CentroidSums(self.sums[rows], self.counts[rows])


class VectorSpace(EvidenceSpace[CentroidSums]):
    """The space of the documents' own vectors."""

    name = "vectors"
    source = "vectors"

    def __init__(
        self, projection: VectorProjection, centroids: PhraseCentroids, reservoir: Reservoir, reservoir_places: Vectors
    ) -> None:
        """``reservoir_places``: of the reservoir's documents, shape (documents, dimensions); zeros without a vector."""
        self.projection = projection
        self._centroids, self._reservoir = centroids, reservoir
        self._has_place = np.asarray(reservoir_places.any(axis=1))
        self._reservoir_places = reservoir_places
        self._spread = DocumentSpread(reservoir_places[self._has_place])

    def locate_query(self, query: SpaceQuery) -> LocatedQuery | None:
        if query.vector is None or len(query.vector) != self.projection.input_dimensions or not self._has_place.any():
            return None
        direction = self.projection.project(query.vector[np.newaxis])[0]
        cosines = self._reservoir_places[self._has_place] @ direction
        spread = float(cosines.std())
        if not direction.any() or spread <= 0:
            return None
        return LocatedQuery(direction, query.word_ids, float(cosines.mean()), spread)

    def look_up_phrases(self, phrase_ids: Ints) -> CentroidSums:
        return self._centroids.take(phrase_ids)

    def measure_hit(self, query: LocatedQuery, phrases: CentroidSums, hit: SpaceHit) -> Scores | None:
        if not len(hit.vectors) or hit.vectors.shape[1] != self.projection.input_dimensions:
            return None
        places = self.projection.project(hit.vectors)
        place = _average_places(places)
        if not place.any():
            return None
        others = phrases.sums - hit.holds.astype(np.float32) @ (places - self._spread.mean)
        has_others = phrases.counts > hit.holds.sum(axis=1)
        directions = normalise_rows(np.where(has_others[:, np.newaxis], others, np.float32(0)))
        about_query = directions @ query.direction
        about_hit = directions @ (place - self._spread.mean)
        return divide_or_zero(np.minimum(about_query, about_hit), self._spread.measure_along(directions))

    def measure_reservoir(self, query: LocatedQuery) -> Scores:
        candidates, owners = self._reservoir_candidates, self._reservoir.owners
        by_document = (self._reservoir_places - self._spread.mean) @ query.direction
        by_phrase = (candidates.sums @ query.direction)[self._reservoir.distinct_phrases[1]]
        about_query = divide_or_zero(by_phrase - by_document[owners], candidates.scales)
        return np.where(self._has_place[owners], np.minimum(about_query, candidates.about_document), np.nan)

    def measure_closeness(self, query: LocatedQuery, hit: SpaceHit) -> float:
        place = _average_places(self.projection.project(hit.vectors))
        return float(query.measure_closeness(place @ query.direction))

    def measure_random_closeness(self, query: LocatedQuery) -> Scores:
        closeness = query.measure_closeness(self._reservoir_places @ query.direction)
        return np.where(self._has_place, closeness, np.nan)

    @cached_property
    def _reservoir_candidates(self) -> _ReservoirCandidates:
        """The salient phrases of the reservoir's documents, each document left out of its own, measured once."""
        phrases, rows = self._reservoir.distinct_phrases
        sums, counts = self._centroids.take(phrases)
        centred, owners = self._reservoir_places - self._spread.mean, self._reservoir.owners
        scales, about = np.zeros(len(rows)), np.zeros(len(rows))
        for first in range(0, len(rows), _BLOCK):
            part = slice(first, first + _BLOCK)
            own = centred[owners[part]]
            others = np.where(counts[rows[part], np.newaxis] > 1, sums[rows[part]] - own, 0)
            lengths = np.linalg.norm(others, axis=1)
            directions = normalise_rows(others)
            scales[part] = lengths * self._spread.measure_along(directions)
            about[part] = divide_or_zero(np.einsum("ij,ij->i", others, own), scales[part])
        return _ReservoirCandidates(sums, scales, about)


def _average_places(places: Vectors) -> Vectors:
    """Return the place of a hit, (dimensions,), whose documents have these, shape (documents, dimensions)."""
    return np.asarray(normalise_rows(places.mean(axis=0, keepdims=True))[0])


class _ReservoirCandidates(NamedTuple):
    sums: Vectors
    """Of the documents of each distinct phrase (``CentroidSums``)."""
    scales: Scores
    """Length of each phrase's sum times the spread along it, shape (phrases of the reservoir,); 0 without a sum."""
    about_document: Scores
    """z-score of the document along the direction of each of its phrases."""
