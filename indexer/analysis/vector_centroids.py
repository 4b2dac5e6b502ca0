"""Centroids of the phrases of an epoch among the vectors of its documents."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from indexer.int_arrays import Ints
from indexer.mining.mined_batches import SegmentedCorpus
from indexer.model.evidence_spaces import Vectors
from indexer.model.phrase_model import PhraseModel
from indexer.model.vector_space import PhraseCentroids, VectorProjection, fit_projection
from indexer.progress import Progress, no_progress
from indexer.runtime.document_spool import DocumentSpool
from indexer.segmentation.batch import BatchEdges

_SAMPLE_SIZE = 20_000
"""Documents that the principal axes are fitted to: more do not move them."""
_PART_DOCUMENTS = 2000
"""Documents whose vectors are in memory at a time."""
_SEED = 0


def add_vector_centroids(
    model: PhraseModel,
    corpus: SegmentedCorpus,
    spool: DocumentSpool,
    mined: DocumentSpool,
    progress: Progress = no_progress,
) -> PhraseModel:
    """Return the model with the projection of its documents' vectors and the centroid of each phrase.

    The projection is fitted to some of the documents that were ``mined``; then the vectors of all documents, in
    ``spool``, are added up in their order. A model of documents without vectors is returned as it is.
    """
    if not spool.has_vectors:
        return model
    projection = fit_spool_projection(mined if mined.has_vectors else spool)
    totals = CentroidTotals(projection, len(model.phrases))
    for part in corpus.iterate_parts(_PART_DOCUMENTS):
        numbers, vectors = spool.read_vectors(part.first, part.last)
        totals.add(count_places(projection, numbers, vectors, corpus.read_part_edges(part), part.last - part.first))
        progress("vectors", part.last, spool.count)
    return totals.complete(model)


def fit_spool_projection(spool: DocumentSpool) -> VectorProjection:
    """Return the projection fitted to vectors of a spool that has some."""
    return fit_projection(_read_sample(spool))


class PlaceStatistics(NamedTuple):
    """Places of some documents, added up over the documents of each phrase; may be pickled or stored."""

    phrases: Ints
    """Ids of the phrases that occur in documents with a place, ascending."""
    sums: Vectors
    """Shape (phrases, dimensions)."""
    counts: Ints
    """Documents with a place that contain each phrase, shape (phrases,)."""
    total: Vectors
    """Sum of all places, shape (dimensions,)."""
    document_count: int
    """Documents with a place."""


def count_places(
    projection: VectorProjection, numbers: Ints, vectors: Vectors, edges: BatchEdges, document_count: int
) -> PlaceStatistics:
    """Add up the places of some documents; ``numbers`` are those of the documents that have the ``vectors``."""
    from scipy.sparse import csr_array

    places = np.zeros((document_count, projection.axes.shape[1]), dtype=np.float32)
    if len(numbers):
        places[numbers] = projection.project(vectors)
    has_place = np.asarray(places.any(axis=1))
    is_placed = has_place[edges.document]
    phrases, rows = np.unique(edges.phrase[is_placed], return_inverse=True)
    ones = np.ones(len(rows), dtype=np.float32)
    sums = csr_array((ones, (rows, edges.document[is_placed])), shape=(len(phrases), document_count)) @ places
    counts = np.bincount(rows, minlength=len(phrases))
    return PlaceStatistics(phrases, sums, counts, places.sum(axis=0), int(has_place.sum()))


class CentroidTotals:
    """Adds up the places of slices, in any order."""

    def __init__(self, projection: VectorProjection, phrase_count: int) -> None:
        self._projection = projection
        self._sums = np.zeros((phrase_count, projection.axes.shape[1]), dtype=np.float32)
        self._counts = np.zeros(phrase_count, dtype=np.int64)
        self._total, self._document_count = np.zeros(self._sums.shape[1]), 0

    def add(self, counted: PlaceStatistics) -> None:
        self._sums[counted.phrases] += counted.sums
        self._counts[counted.phrases] += counted.counts
        self._total += counted.total
        self._document_count += counted.document_count

    def complete(self, model: PhraseModel) -> PhraseModel:
        """Return the model with the projection and the centroids of its phrases; the sums are used up."""
        sums, counts = self._sums, self._counts
        mean = (self._total / max(self._document_count, 1)).astype(np.float32)
        sums -= mean * counts[:, np.newaxis].astype(np.float32)
        sums /= np.maximum(counts, 1)[:, np.newaxis].astype(np.float32)
        centroids = PhraseCentroids.from_means(sums, counts)
        return replace(
            model,
            vector_mean=self._projection.mean,
            vector_axes=self._projection.axes,
            centroid_codes=centroids.codes,
            centroid_steps=centroids.steps,
            centroid_counts=centroids.counts,
        )


def _read_sample(spool: DocumentSpool) -> Vectors:
    """Return the vectors of documents drawn at random, in order, shape (documents with a vector, dimensions)."""
    drawn = np.sort(np.random.default_rng(_SEED).permutation(spool.count)[:_SAMPLE_SIZE]).tolist()
    vectors = [spool.read_vectors(number, number + 1)[1] for number in drawn]
    with_vector = [vector for vector in vectors if len(vector)]
    if with_vector:
        return np.concatenate(with_vector)
    # so few documents have one that none was drawn
    parts = [spool.read_vectors(*part)[1] for part in spool.split(_PART_DOCUMENTS)]
    return np.concatenate([part for part in parts if len(part)])[:_SAMPLE_SIZE]
