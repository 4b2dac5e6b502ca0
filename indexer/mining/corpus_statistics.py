"""Counts over the documents of a corpus: words first, then phrases, whose weights need the counts of words.

A corpus is counted in slices. What a slice counts is a value that can be pickled or stored, and values are added up in
any order: only the last digits of sums depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from indexer.int_arrays import LOW_32_BITS, Ints, count_keys, unique_keys
from indexer.mining.new_words import NewWords
from indexer.model.phrase_model import PhraseModel
from indexer.model.topic_space import PhraseVectorMeans, PhraseVectorSums, TopicSpace, sum_phrase_vectors
from indexer.segmentation.batch import BatchEdges

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class WordStatistics:
    """Words of some documents."""

    document_count: int
    """Documents with any token."""
    token_count: int
    words: Ints
    """Ids of the model's words that occur, ascending."""
    document_frequency: Ints
    """Documents that contain each of ``words``."""
    new_words: Sequence[str]
    """Words that the model does not have."""
    new_document_frequency: Ints
    """Documents that contain each of ``new_words``."""


def count_slice_words(
    word_ids: NDArray[np.int32], document_lengths: Ints, vocabulary_size: int, new_words: Sequence[str]
) -> WordStatistics:
    """Count the words of some documents.

    ``word_ids``, shape (tokens,), has the words of one document after another; ids from ``vocabulary_size`` on are
    indexes of ``new_words``. ``document_lengths`` has the tokens of each document.
    """
    document = np.repeat(np.arange(len(document_lengths), dtype=np.int64), document_lengths)
    words, frequency = count_keys(unique_keys(document << 32 | word_ids) & LOW_32_BITS)
    known = int(np.searchsorted(words, vocabulary_size))
    return WordStatistics(
        int(np.count_nonzero(document_lengths)),
        len(word_ids),
        words[:known],
        frequency[:known],
        [new_words[word - vocabulary_size] for word in words[known:].tolist()],
        frequency[known:],
    )


class WordTotals:
    """Adds up the words of slices, in any order."""

    def __init__(self, vocabulary_size: int) -> None:
        self._document_count = self._token_count = 0
        self._document_frequency = np.zeros(vocabulary_size, dtype=np.int64)
        self._new_words = NewWords()

    def add(self, counted: WordStatistics) -> None:
        self._document_count += counted.document_count
        self._token_count += counted.token_count
        self._document_frequency[counted.words] += counted.document_frequency
        self._new_words.append(counted.new_words, counted.new_document_frequency)

    def complete(self, model: PhraseModel, max_words: int) -> PhraseModel:
        """Return the model with these counts of words in place of its own, and with the new words after its own.

        Of the new words it has the most frequent ones, up to ``max_words`` in all.
        """
        words, frequency = self._new_words.select_frequent(max(0, max_words - len(self._document_frequency)))
        return replace(
            model,
            document_count=self._document_count,
            average_length=self._token_count / self._document_count if self._document_count else 0.0,
            words=[*model.words, *words],
            word_document_frequency=np.concatenate([self._document_frequency, frequency]).astype(np.int32),
        )


@dataclass(frozen=True)
class PhraseStatistics:
    """Phrases of some documents, as their edges weigh them; arrays of shape (phrases,)."""

    phrases: Ints
    """Ids of the phrases that occur, ascending."""
    document_frequency: Ints
    degree: Floats
    """Sum of the weights of the edges of each phrase."""
    normalised_weight: Floats
    """The same, each weight divided by the root of the document's degree."""
    topic_vectors: PhraseVectorSums


def count_slice(
    topics: TopicSpace,
    word_ids: NDArray[np.int32],
    token_documents: Ints,
    document_lengths: Ints,
    edges: BatchEdges,
    weights: Floats,
) -> PhraseStatistics:
    """Count the phrases of some documents from their edges; tokens are given as in ``TopicSpace.embed_texts``."""
    document_degrees = np.bincount(edges.document, weights, minlength=len(document_lengths))
    normalised = weights / np.sqrt(document_degrees)[edges.document]
    phrases, row = np.unique(edges.phrase, return_inverse=True)
    size = len(phrases)
    return PhraseStatistics(
        phrases,
        np.bincount(row, minlength=size),
        np.bincount(row, weights, minlength=size).astype(np.float64, copy=False),
        np.bincount(row, normalised, minlength=size).astype(np.float64, copy=False),
        sum_phrase_vectors(topics, word_ids, token_documents, document_lengths, edges.document, edges.phrase),
    )


class PhraseTotals:
    """Adds up the phrases of slices, in any order."""

    def __init__(self, topics: TopicSpace, phrase_count: int) -> None:
        self._document_frequency = np.zeros(phrase_count, dtype=np.int64)
        self._degree, self._normalised_weight = np.zeros(phrase_count), np.zeros(phrase_count)
        self._topic_vectors = PhraseVectorMeans(topics, phrase_count)

    def add(self, counted: PhraseStatistics) -> None:
        self._document_frequency[counted.phrases] += counted.document_frequency
        self._degree[counted.phrases] += counted.degree
        self._normalised_weight[counted.phrases] += counted.normalised_weight
        self._topic_vectors.add(counted.topic_vectors)

    def complete(self, model: PhraseModel) -> PhraseModel:
        """Return the model with these counts of phrases."""
        degree = self._degree
        background = np.divide(self._normalised_weight, np.sqrt(degree), out=np.zeros(len(degree)), where=degree > 0)
        return replace(
            model,
            document_frequency=self._document_frequency.astype(np.int32),
            degree=degree,
            background=background,
            settings={**model.settings, "edges": int(self._document_frequency.sum())},
            phrase_topic_vectors=self._topic_vectors.compute_means(self._document_frequency),
        )
