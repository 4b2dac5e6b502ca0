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

from indexer.documents import PAIR

K1 = 1.2
B = 0.75

_EXACT = 24
"""Lengths below this are stored as they are; longer ones keep 4 significant bits."""


class EpochStatistics(Protocol):
    """What a phrase model knows that BM25 needs."""

    @property
    def documents(self) -> int: ...
    @property
    def average_length(self) -> float: ...
    @property
    def word_frequency(self) -> NDArray[np.int32]: ...
    @property
    def word_ids(self) -> Mapping[str, int]: ...


def stored_length(length: ArrayLike) -> NDArray[np.int64]:
    """Document lengths in tokens as one byte remembers them (Lucene's SmallFloat), same shape."""
    exact = np.asarray(length, dtype=np.int64)
    rest = np.maximum(exact - _EXACT, 0)
    # frexp gives the number of bits exactly: a length is far below 2**53
    shift = np.maximum(np.frexp(rest.astype(np.float64))[1].astype(np.int64) - 4, 0)
    return np.where(exact < _EXACT, exact, _EXACT + ((rest >> shift) << shift))


def idf(frequency: ArrayLike, documents: int) -> NDArray[np.float64]:
    """Inverse document frequency of words that ``frequency`` of ``documents`` documents hold, same shape."""
    df = np.asarray(frequency, dtype=np.float64)
    return np.log1p((documents - df + 0.5) / (df + 0.5))


def saturation(count: ArrayLike, length: ArrayLike, average_length: float) -> NDArray[np.float64]:
    """The factor beside idf for words that occur ``count`` times in documents of ``length`` tokens."""
    tf = np.asarray(count, dtype=np.float64)
    if average_length <= 0:
        return np.zeros(np.broadcast_shapes(tf.shape, np.shape(length)))
    return (K1 + 1.0) * tf / (tf + K1 * (1.0 - B + B * stored_length(length) / average_length))


def phrase_words(phrase: str) -> list[str]:
    """The words whose weights make up the phrase's: ``"a b@@c"`` has a, b and c."""
    return phrase.replace(PAIR, " ").split()


@dataclass(frozen=True)
class Weigher:
    """BM25 with the statistics of one epoch."""

    statistics: EpochStatistics

    def phrases(self, tokens: Iterable[str] | Mapping[str, int], phrases: Sequence[str]) -> NDArray[np.float64]:
        """The weight of each phrase in one document, shape (phrases,).

        ``tokens`` are the document's lemmas, or their counts. Whether a phrase *occurs* is not asked:
        a document that holds only some of its words gets a partial match. A word that the epoch has
        not seen counts as held by this document alone.
        """
        counts = tokens if isinstance(tokens, Mapping) else Counter(tokens)
        length, known = sum(counts.values()), self.statistics.word_ids
        words = list(counts)
        frequency = [self.statistics.word_frequency[known[word]] if word in known else 1 for word in words]
        rarity = idf(frequency, self.statistics.documents)
        weights = rarity * saturation([counts[word] for word in words], length, self.statistics.average_length)
        of_word = dict(zip(words, weights.tolist(), strict=True))
        return np.array([sum(of_word.get(word, 0.0) for word in phrase_words(p)) for p in phrases], dtype=np.float64)


@dataclass(frozen=True)
class PhraseWords:
    """The words of many phrases as one flat array: those of phrase i are ``words[starts[i]:starts[i + 1]]``."""

    starts: NDArray[np.int64]
    """Shape (phrases + 1,)."""
    words: NDArray[np.int64]
    """Word numbers, shape (total words,)."""

    @classmethod
    def of(cls, phrases: Sequence[str], word_ids: Mapping[str, int]) -> PhraseWords:
        """Every word of every phrase must be in ``word_ids``."""
        lists = [[word_ids[word] for word in phrase_words(phrase)] for phrase in phrases]
        starts = np.zeros(len(lists) + 1, dtype=np.int64)
        np.cumsum([len(words) for words in lists], out=starts[1:])
        return cls(starts, np.array([word for words in lists for word in words], dtype=np.int64))


def edge_weights(
    token_documents: NDArray[np.integer],
    token_words: NDArray[np.integer],
    edge_documents: NDArray[np.integer],
    edge_phrases: NDArray[np.integer],
    phrase_words: PhraseWords,
    word_frequency: NDArray[np.integer],
    documents: int,
    average_length: float,
) -> NDArray[np.float64]:
    """The weight of many (document, phrase) edges at once, shape (edges,).

    ``token_documents`` and ``token_words``, shape (tokens,), say for every token which document of the
    batch it stands in (numbered from 0) and which word it is; edges name documents and phrases the same
    way. ``documents`` and ``average_length`` are the epoch's, not the batch's.
    """
    if len(edge_documents) == 0 or len(token_documents) == 0:
        return np.zeros(len(edge_documents), dtype=np.float64)
    vocabulary = len(word_frequency)
    keys, counts = np.unique(token_documents.astype(np.int64) * vocabulary + token_words, return_counts=True)
    lengths = np.bincount(token_documents, minlength=int(edge_documents.max()) + 1)
    cell_weights = idf(word_frequency, documents)[keys % vocabulary]
    cell_weights *= saturation(counts, lengths[keys // vocabulary], average_length)

    sizes = np.diff(phrase_words.starts)[edge_phrases]
    ends = np.cumsum(sizes)
    within = np.arange(ends[-1]) - np.repeat(ends - sizes, sizes)
    wanted_words = phrase_words.words[np.repeat(phrase_words.starts[edge_phrases], sizes) + within]
    wanted = np.repeat(edge_documents.astype(np.int64), sizes) * vocabulary + wanted_words
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    found = np.where(keys[at] == wanted, cell_weights[at], 0.0)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    return np.bincount(owners, weights=found, minlength=len(sizes)).astype(np.float64)
