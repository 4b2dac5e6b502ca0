"""Topics: where words, phrases and texts stand in the corpus as a whole, in a few dozen numbers.

The leading right singular vectors of the document-word matrix (latent semantic analysis) put words
that are used in the same kind of documents close together, even where no document holds both. A
neighbourhood of some hundred documents cannot see that far, so it is kept with the epoch. A text
stands where its words do; a phrase stands in the middle of the documents that hold it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.model.bm25 import idf, saturation

if TYPE_CHECKING:
    from scipy.sparse import csr_array

DIMENSIONS = 64
SAMPLE = 20_000
"""Documents the directions are learnt from: more does not sharpen them, and time stays flat."""
_LEAST, _MOST = 3, 0.3
"""Words in fewer documents, or in a larger share of them, say nothing about topics."""
_OVERSAMPLING, _POWER_STEPS = 16, 2
_NOISE = 1e-6
"""Squared singular values below this share of the largest are rounding."""
_TOGETHER = 1000
"""Documents of the sample looked at together."""
FEW = 8
"""Up to this many texts are added up one by one: a sparse matrix takes longer to make."""

Ints = NDArray[np.integer]


@dataclass(frozen=True)
class Topics:
    """Directions of words, and the middle of all texts."""

    words: NDArray[np.int32]
    """Word -> row of ``vectors``, or -1, shape (words + 1,): the last is for words never seen."""
    vectors: NDArray[np.float32] | NDArray[np.float16]
    """Shape (words with a place, dimensions). Each is a number of half precision: kept so, they take half the room."""
    middle: NDArray[np.float32]
    """Shape (dimensions,)."""
    word_idf: NDArray[np.float64]
    average_length: float

    @property
    def dimensions(self) -> int:
        return int(self.vectors.shape[1])

    def places(self, words: Ints, document: Ints, lengths: Ints) -> NDArray[np.float32]:
        """Unit vectors of a batch of texts, shape (texts, dimensions); zeros for a text without a known word.

        ``words`` and ``document``, shape (tokens,), say which word each token is and which text it is in.
        """
        cells = _cells(self.words, self.word_idf, self.average_length, words, document, lengths)
        raw = self._sums(cells, len(lengths)) - self.middle
        size = np.linalg.norm(raw, axis=1, keepdims=True)
        known = np.bincount(cells.text, minlength=len(lengths)) > 0
        return np.asarray(np.divide(raw, size, out=np.zeros_like(raw), where=(size > 1e-9) & known[:, None]))

    @cached_property
    def _whole(self) -> NDArray[np.float32]:
        """All of the vectors in single precision, which only many texts together need."""
        return _single(self.vectors)

    def _sums(self, cells: _Cells, texts: int) -> NDArray[np.float32]:
        """The weighted sum of the vectors of each text's words."""
        if texts > FEW:
            return np.asarray(_matrix(cells, texts, len(self.vectors)) @ self._whole)
        ends = np.searchsorted(cells.text, np.arange(texts + 1))
        parts = [slice(start, end) for start, end in pairwise(ends.tolist())]
        return np.stack([cells.weight[part] @ _single(self.vectors[cells.row[part]]) for part in parts])


def _single(vectors: NDArray[np.float32] | NDArray[np.float16]) -> NDArray[np.float32]:
    return vectors.astype(np.float32, copy=False)


class _Cells(NamedTuple):
    """Texts x words in BM25 weights, each text of length 1; by text, then by word."""

    text: NDArray[np.int64]
    row: NDArray[np.int32]
    """The word's row among the vectors."""
    weight: NDArray[np.float32]


def _cells(
    rows: NDArray[np.int32], word_idf: NDArray[np.float64], average_length: float,
    words: Ints, document: Ints, lengths: Ints,
) -> _Cells:  # fmt: skip
    placed = rows[words] >= 0
    cells, counts = np.unique(document[placed].astype(np.int64) << 32 | words[placed], return_counts=True)
    text, word = cells >> 32, cells & 0xFFFFFFFF
    weights = word_idf[word] * saturation(counts, np.asarray(lengths)[text], average_length)
    norms = np.sqrt(np.bincount(text, weights**2, minlength=len(lengths)))
    return _Cells(text, rows[word], (weights / norms[text]).astype(np.float32))


def _matrix(cells: _Cells, texts: int, words: int) -> csr_array:
    from scipy.sparse import csr_array

    ends = np.searchsorted(cells.text, np.arange(texts + 1)).astype(np.int32)
    return csr_array((cells.weight, cells.row, ends), shape=(texts, words))


def learn_topics(
    words: Ints, offsets: Ints, frequency: Ints, *, documents: int, average_length: float, seed: int = 0
) -> Topics:
    """Directions from a sample of the corpus's documents; ``words`` and ``offsets`` as a coded corpus has them."""
    from threadpoolctl import threadpool_limits

    # On one core: on several the last digits depend on how many, and these matrices are too narrow to gain by it.
    with threadpool_limits(limits=1, user_api="blas"):
        return _learnt(words, offsets, np.asarray(frequency), documents, average_length, seed)


def _learnt(words: Ints, offsets: Ints, frequency: Ints, documents: int, average_length: float, seed: int) -> Topics:
    chosen = np.flatnonzero((frequency >= _LEAST) & (frequency <= max(_MOST * documents, _LEAST)))
    rows = np.full(len(frequency) + 1, -1, dtype=np.int32)
    rows[chosen] = np.arange(len(chosen))
    word_idf = np.concatenate([idf(frequency, documents), idf([1], documents)])
    texts = len(offsets) - 1
    sample = np.sort(np.random.default_rng(seed).permutation(texts)[:SAMPLE])
    matrix = _sampled(words, offsets, sample, rows, word_idf, average_length)
    rank = min(DIMENSIONS, *matrix.shape)
    if rank == 0 or matrix.nnz == 0:
        nothing = np.zeros((len(chosen), 0), dtype=np.float32)
        return Topics(rows, nothing, np.zeros(0, dtype=np.float32), word_idf, average_length)
    vectors = _leading(matrix, rank, seed).astype(np.float16).astype(np.float32)
    middle = np.asarray((matrix @ vectors).mean(axis=0), dtype=np.float32)
    return Topics(rows, vectors, middle, word_idf, average_length)


def _sampled(
    words: Ints, offsets: Ints, sample: Ints, rows: NDArray[np.int32], word_idf: NDArray[np.float64], average: float
) -> csr_array:
    """Sampled documents x words, made of a few documents at a time: what is sorted is far larger than what stays."""
    from scipy.sparse import csr_array

    row, weight, held = [np.zeros(0, np.int32)], [np.zeros(0, np.float32)], [np.zeros(1, np.int64)]
    for first in range(0, len(sample), _TOGETHER):
        some = sample[first : first + _TOGETHER]
        lengths = offsets[some + 1] - offsets[some]
        here = np.concatenate([words[offsets[d] : offsets[d + 1]] for d in some])
        cells = _cells(rows, word_idf, average, here, np.repeat(np.arange(len(some)), lengths), lengths)
        row.append(cells.row)
        weight.append(cells.weight)
        held.append(np.bincount(cells.text, minlength=len(some)))
    ends = np.cumsum(np.concatenate(held)).astype(np.int32)
    shape = (len(sample), int(rows.max(initial=-1)) + 1)
    return csr_array((np.concatenate(weight), np.concatenate(row), ends), shape=shape)


def _leading(back: csr_array, rank: int, seed: int) -> NDArray[np.float32]:
    """The leading right singular vectors, by subspace iteration from a fixed random start; none of no weight."""
    matrix = back.T.tocsr()
    width = min(rank + _OVERSAMPLING, *matrix.shape)
    small = np.random.default_rng(seed).standard_normal((matrix.shape[1], width), dtype=np.float32)
    basis = np.linalg.qr(matrix @ small)[0]
    for _ in range(_POWER_STEPS):
        small = back @ basis
        del basis  # as large as the next one: never both
        basis = np.linalg.qr(matrix @ small)[0]
    small = back @ basis
    values, rotation = np.linalg.eigh(small.T @ small)
    order = np.argsort(values)[::-1][:rank]
    left = basis @ rotation[:, order[values[order] > _NOISE * values.max()]]
    # a singular vector's sign is arbitrary: fix it, so that the same corpus gives the same bytes
    signs = np.sign(left[np.abs(left).argmax(axis=0), np.arange(left.shape[1])])
    return np.asarray(left * signs, dtype=np.float32)


class Placed(NamedTuple):
    """Sums of the places of the documents that hold each of some phrases."""

    phrases: Ints
    sums: NDArray[np.float32]
    """Shape (phrases, dimensions)."""


def placed(
    topics: Topics, words: Ints, document: Ints, lengths: Ints, edge_document: Ints, edge_phrase: Ints
) -> Placed:
    """The phrases of a batch of documents, each where those that hold it stand."""
    from scipy.sparse import csr_array

    if topics.dimensions == 0 or len(edge_phrase) == 0:
        return Placed(np.zeros(0, np.int64), np.zeros((0, topics.dimensions), np.float32))
    places = topics.places(words, document, lengths)
    phrases, row = np.unique(edge_phrase, return_inverse=True)
    ones = np.ones(len(row), dtype=np.float32)
    sums = csr_array((ones, (row, edge_document)), shape=(len(phrases), len(lengths))) @ places
    return Placed(phrases, sums)


class PhrasePlaces:
    """Adds up, batch by batch, the places of the documents that hold each phrase."""

    def __init__(self, topics: Topics, phrases: int) -> None:
        self._sums = np.zeros((phrases, topics.dimensions), dtype=np.float32)

    def add(self, placed: Placed) -> None:
        self._sums[placed.phrases] += placed.sums

    def means(self, frequency: Ints) -> NDArray[np.float16]:
        """The mean place of each phrase's documents, shape (phrases, dimensions); not of length 1."""
        return (self._sums / np.maximum(frequency, 1)[:, None]).astype(np.float16)
