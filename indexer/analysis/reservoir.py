"""The reservoir of an epoch: documents drawn at random, against which evidence is told from noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from indexer.analysis.analyzer import Analyzer
from indexer.documents import PAIR_SEPARATOR, AnalysedDocument
from indexer.int_arrays import csr_starts
from indexer.model.phrase_model import PhraseModel
from indexer.model.vector_space import VectorProjection
from indexer.model.word_vectors import WORD_VECTOR_LANGUAGE, load_word_vectors
from indexer.runtime.document_spool import DocumentSpool
from indexer.vectors import decode_vector

Ints = NDArray[np.integer]

RESERVOIR_SIZE = 1000
"""Documents drawn: a share of 0.05 of them is known to within 0.014 (two standard errors)."""
_SEED = 0


def add_reservoir(model: PhraseModel, analyzer: Analyzer, spool: DocumentSpool) -> PhraseModel:
    """Return the model with salient phrases of documents drawn from a spool, and their vectors in each space."""
    drawn = np.sort(np.random.default_rng(_SEED).permutation(spool.count)[:RESERVOIR_SIZE])
    documents = list(analyzer.analyse_all(document for n in drawn.tolist() for document in spool.read(n, n + 1)))
    salient = [
        [model.phrase_ids[entry.phrase] for entry in document.salient if PAIR_SEPARATOR not in entry.phrase]
        for document in documents
    ]
    known_ids, unknown_id = model.word_ids, len(model.words)
    word_ids = [[known_ids.get(word, unknown_id) for word in document.tokens.split()] for document in documents]
    lengths = np.array([len(words) for words in word_ids], dtype=np.int64)
    texts = (
        np.array([id for words in word_ids for id in words], dtype=np.int64),
        np.repeat(np.arange(len(documents)), lengths),
        lengths,
    )
    drawn_model = replace(
        model,
        reservoir_vectors=model.topic_space.embed_texts(*texts).astype(np.float16),
        reservoir_starts=csr_starts([len(phrases) for phrases in salient]).astype(np.int32),
        reservoir_phrase_ids=np.array([id for phrases in salient for id in phrases], dtype=np.int32),
        reservoir_places=_compute_places(model, documents),
    )
    return _add_word_vectors(drawn_model, *texts)


def _add_word_vectors(model: PhraseModel, word_ids: Ints, text_of_token: Ints, text_lengths: Ints) -> PhraseModel:
    """Return the model with the reservoir's texts in the space of the package's word vectors, for their language."""
    if model.settings.get("language", "en") != WORD_VECTOR_LANGUAGE:
        return model
    centroid = model.build_word_space().compute_mean_text(word_ids, text_of_token, text_lengths)
    space = model.build_word_space(centroid)
    return replace(
        model,
        settings={**model.settings, "word_vectors": load_word_vectors().version},
        word_vector_centroid=centroid,
        reservoir_word_vectors=space.embed_texts(word_ids, text_of_token, text_lengths).astype(np.float16),
    )


def _compute_places(model: PhraseModel, documents: Sequence[AnalysedDocument]) -> NDArray[np.float16]:
    """Return the places of documents among their own vectors, zeros without one; no columns without any vectors."""
    places = np.zeros((len(documents), model.vector_axes.shape[1]), dtype=np.float16)
    projection = VectorProjection(model.vector_mean, model.vector_axes)
    for number, document in enumerate(documents):
        if document.document.vector is not None:
            places[number] = projection.project(decode_vector(document.document.vector)[np.newaxis])[0]
    return places
