"""Centroids of the phrases of an epoch among the vectors of its documents."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from indexer.mining.mined_batches import BatchPart, SegmentedCorpus
from indexer.model.evidence_spaces import Vectors
from indexer.model.phrase_model import PhraseModel
from indexer.model.vector_space import PhraseCentroids, VectorProjection, fit_projection
from indexer.progress import Progress, no_progress
from indexer.runtime.document_spool import DocumentSpool

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
    projection = fit_projection(_read_sample(mined if mined.has_vectors else spool))
    sums = np.zeros((len(model.phrases), projection.axes.shape[1]), dtype=np.float32)
    counts = np.zeros(len(model.phrases), dtype=np.int64)
    total, total_count = np.zeros(sums.shape[1]), 0
    for part in corpus.iterate_parts(_PART_DOCUMENTS):
        places, has_place = _project_part(projection, spool, part)
        total += places.sum(axis=0)
        total_count += int(has_place.sum())
        edges = corpus.read_part_edges(part)
        is_placed = has_place[edges.document]
        _add_rows(sums, edges.phrase[is_placed], places, edges.document[is_placed])
        counts += np.bincount(edges.phrase[is_placed], minlength=len(counts))
        progress("vectors", part.last, spool.count)
    mean = (total / max(total_count, 1)).astype(np.float32)
    sums -= mean * counts[:, np.newaxis].astype(np.float32)
    sums /= np.maximum(counts, 1)[:, np.newaxis].astype(np.float32)
    centroids = PhraseCentroids.from_means(sums, counts)
    return replace(
        model,
        vector_mean=projection.mean,
        vector_axes=projection.axes,
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


def _project_part(
    projection: VectorProjection, spool: DocumentSpool, part: BatchPart
) -> tuple[Vectors, NDArray[np.bool_]]:
    """Return the place of each document of a part, zeros without a vector, and which documents have one."""
    places = np.zeros((part.last - part.first, projection.axes.shape[1]), dtype=np.float32)
    numbers, vectors = spool.read_vectors(part.first, part.last)
    if len(numbers):
        places[numbers] = projection.project(vectors)
    return places, np.asarray(places.any(axis=1))


def _add_rows(sums: Vectors, phrases: NDArray[np.int64], places: Vectors, documents: NDArray[np.int64]) -> None:
    """Add to the row of each phrase the places of its documents."""
    from scipy.sparse import csr_array

    distinct, rows = np.unique(phrases, return_inverse=True)
    ones = np.ones(len(rows), dtype=np.float32)
    sums[distinct] += csr_array((ones, (rows, documents)), shape=(len(distinct), len(places))) @ places
