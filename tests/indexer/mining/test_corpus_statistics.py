"""Counts of slices are values that can be sent: added up in any order, they are those of the whole corpus."""

from __future__ import annotations

import pickle
import random
from dataclasses import replace

import numpy as np

from indexer.documents import Document
from indexer.mining.corpus_statistics import (
    PhraseStatistics,
    PhraseTotals,
    WordStatistics,
    WordTotals,
    count_slice,
    count_slice_words,
)
from indexer.mining.pipeline import mine_model
from indexer.mining.streamed_corpus import MAX_WORDS, count_corpus, encode_documents
from indexer.model.phrase_model import PhraseModel
from indexer.runtime.document_spool import DocumentSpool
from indexer.segmentation.batch import CompiledModel, segment_batch
from tests.support.corpora.small_corpus import generate_documents


def make_slices() -> list[list[Document]]:
    documents = [
        replace(document, text=f"{document.text} The word{number % 30}x is new.")
        for number, document in enumerate(generate_documents(200))
    ]
    return [documents[start : start + 30] for start in range(0, 200, 30)]


def count_words(model: PhraseModel, documents: list[Document]) -> WordStatistics:
    tokens = encode_documents(CompiledModel(model), documents)
    return count_slice_words(tokens.word_ids, tokens.document_lengths, len(model.words), tokens.new_words)


def count_phrases(model: PhraseModel, documents: list[Document]) -> PhraseStatistics:
    batch, _, edges, weights = segment_batch(CompiledModel(model), documents)
    topics = model.pair_topic_space
    return count_slice(topics, batch.word_ids, batch.token_documents, batch.document_lengths, edges, weights)


def test_slices_that_are_counted_apart_add_up_to_the_corpus() -> None:
    slices = make_slices()
    mined = mine_model(slices[0])
    with DocumentSpool().fill(document for each in slices for document in each) as spool:
        expected, _ = count_corpus(mined, spool)
    random.Random(1).shuffle(slices)
    word_totals = WordTotals(len(mined.words))
    for documents in slices:
        word_totals.add(pickle.loads(pickle.dumps(count_words(mined, documents))))
    model = word_totals.complete(mined, MAX_WORDS)
    assert list(model.words) == list(expected.words)
    assert model.word_document_frequency.tolist() == expected.word_document_frequency.tolist()
    assert (model.document_count, model.average_length) == (expected.document_count, expected.average_length)

    phrase_totals = PhraseTotals(model.pair_topic_space, len(model.phrases))
    for documents in slices:
        phrase_totals.add(pickle.loads(pickle.dumps(count_phrases(model, documents))))
    model = phrase_totals.complete(model)
    assert model.settings == expected.settings
    assert model.document_frequency.tolist() == expected.document_frequency.tolist()
    np.testing.assert_allclose(model.degree, expected.degree, rtol=1e-12)
    np.testing.assert_allclose(model.background, expected.background, rtol=1e-12)
    np.testing.assert_allclose(model.phrase_topic_vectors, expected.phrase_topic_vectors, atol=1e-3)
