"""BM25 as Lucene and Elasticsearch compute it, over arrays.

    weight of a word    idf * (k1 + 1) * tf / (tf + k1 * (1 - b + b * length / average_length))
    idf                 ln(1 + (N - df + 0.5) / (df + 0.5))
    weight of a phrase  the sum over its words, a repeated word counted each time

with k1 = 1.2, b = 0.75, N the documents that hold any token, and the length of a document rounded
down to what fits one byte, the way an index stores it. The words of a pair ``a@@b`` are those of
both members. Engines compute in single precision, so they agree with this to 6 digits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indexer.documents import PAIR_SEPARATOR

K1 = 1.2
B = 0.75

_MAX_EXACT_LENGTH = 24
"""Shorter lengths are stored exactly; of longer ones 4 significant bits remain."""


class CorpusStatistics(Protocol):
    """Corpus statistics that BM25 needs; a phrase model has them."""

    @property
    def document_count(self) -> int: ...
    @property
    def average_length(self) -> float: ...
    @property
    def word_document_frequency(self) -> NDArray[np.int32]: ...
    @property
    def word_ids(self) -> Mapping[str, int]: ...


def quantise_length(document_length: ArrayLike) -> NDArray[np.int64]:
    """Round document lengths in tokens down to what one byte can store (Lucene's SmallFloat), same shape."""
    exact = np.asarray(document_length, dtype=np.int64)
    rest = np.maximum(exact - _MAX_EXACT_LENGTH, 0)
    # frexp gives the number of bits exactly: a length is far below 2**53
    shift = np.maximum(np.frexp(rest.astype(np.float64))[1].astype(np.int64) - 4, 0)
    return np.where(exact < _MAX_EXACT_LENGTH, exact, _MAX_EXACT_LENGTH + ((rest >> shift) << shift))


def idf(document_frequency: ArrayLike, document_count: int) -> NDArray[np.float64]:
    """Return the inverse document frequency, same shape as ``document_frequency``."""
    df = np.asarray(document_frequency, dtype=np.float64)
    return np.log1p((document_count - df + 0.5) / (df + 0.5))


def compute_tf_saturation(
    term_count: ArrayLike, document_length: ArrayLike, average_length: float
) -> NDArray[np.float64]:
    """Return the factor beside idf of words that occur ``term_count`` times in ``document_length`` tokens."""
    tf = np.asarray(term_count, dtype=np.float64)
    if average_length <= 0:
        return np.zeros(np.broadcast_shapes(tf.shape, np.shape(document_length)))
    return (K1 + 1.0) * tf / (tf + K1 * (1.0 - B + B * quantise_length(document_length) / average_length))


def split_phrase_words(phrase: str) -> list[str]:
    """Return the words of a phrase or pair: those of ``"a b@@c"`` are a, b and c."""
    return phrase.replace(PAIR_SEPARATOR, " ").split()


@dataclass(frozen=True)
class Bm25Scorer:
    """BM25 of phrases in a document, with the statistics of one epoch."""

    statistics: CorpusStatistics

    def score_phrases(self, tokens: Iterable[str] | Mapping[str, int], phrases: Sequence[str]) -> NDArray[np.float64]:
        """Return the weight of each phrase in one document, shape (phrases,).

        ``tokens`` are the document's lemmas, or their counts. The phrase need not occur: a document with only
        some of its words has a partial match. A word unknown to the epoch counts as a word of one document.
        """
        counts = tokens if isinstance(tokens, Mapping) else Counter(tokens)
        length, word_ids = sum(counts.values()), self.statistics.word_ids
        words = list(counts)
        frequency = [
            self.statistics.word_document_frequency[word_ids[word]] if word in word_ids else 1 for word in words
        ]
        word_idf = idf(frequency, self.statistics.document_count)
        weights = word_idf * compute_tf_saturation(
            [counts[word] for word in words], length, self.statistics.average_length
        )
        weight_of = dict(zip(words, weights.tolist(), strict=True))
        return np.array(
            [sum(weight_of.get(word, 0.0) for word in split_phrase_words(p)) for p in phrases], dtype=np.float64
        )
