"""Vectors of the texts of an epoch, for documents that bring none."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from indexer.engines.base import Build
from indexer.mining.mined_batches import SegmentedCorpus
from indexer.model.evidence_spaces import Vectors
from indexer.model.phrase_model import PhraseModel
from indexer.model.text_vectors import TextVectors

_PART_DOCUMENTS = 2000
"""Documents whose vectors are in memory at a time."""


def write_text_vectors(build: Build, model: PhraseModel, corpus: SegmentedCorpus) -> int | None:
    """Write a vector for each document; return their dimensions, None if no text can have one.

    ``model`` has its reservoir: the mean of the texts is that of the reservoir's.
    """
    vectors = model.text_vectors
    if not vectors.dimensions:
        return None
    build.write_text_vectors(_embed_documents(vectors, corpus))
    return vectors.dimensions


def _embed_documents(vectors: TextVectors, corpus: SegmentedCorpus) -> Iterator[Vectors]:
    """Yield the vectors of the documents in their order, shape (documents, dimensions)."""
    for part in corpus.iterate_parts(_PART_DOCUMENTS):
        word_ids, lengths = corpus.read_part_words(part)
        yield vectors.embed_texts(word_ids, np.repeat(np.arange(len(lengths)), lengths), lengths)
