"""Vectors of the texts of an epoch, for documents that bring none."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from indexer.engines.base import Build
from indexer.mining.mined_batches import MinedBatches
from indexer.model.evidence_spaces import Vectors
from indexer.model.phrase_model import PhraseModel
from indexer.model.text_vectors import TextVectors
from indexer.vectors import TEXT_VECTOR_SETTING

_PART_DOCUMENTS = 2000
"""Documents whose vectors are in memory at a time."""


def write_text_vectors(build: Build, model: PhraseModel, batches: MinedBatches) -> int | None:
    """Write a vector for each document that was mined; return their dimensions, None if no text can have one.

    ``model`` has its reservoir: the mean of the texts is that of the reservoir's.
    """
    vectors = model.text_vectors
    if not vectors.dimensions:
        return None
    build.write_text_vectors(_embed_documents(vectors, batches))
    return vectors.dimensions


def make_text_vector_setting(dimensions: int | None) -> dict[str, object]:
    """Return what is stored among the settings of an index whose vectors were made from texts; nothing for None."""
    return {} if dimensions is None else {TEXT_VECTOR_SETTING: dimensions}


def _embed_documents(vectors: TextVectors, batches: MinedBatches) -> Iterator[Vectors]:
    """Yield the vectors of the documents in their order, shape (documents, dimensions)."""
    corpus = batches.corpus
    for part in batches.iterate_parts(_PART_DOCUMENTS):
        start, end = corpus.offsets[[part.first, part.last]].tolist()
        lengths = np.diff(corpus.offsets[part.first : part.last + 1])
        yield vectors.embed_texts(corpus.lemma_ids[start:end], np.repeat(np.arange(len(lengths)), lengths), lengths)
