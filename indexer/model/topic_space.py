"""Topic space: vectors of words, phrases and texts in a few hundred dimensions (latent semantic analysis).

The leading right singular vectors of the document-word matrix bring words together that are used in the same kind of
documents, even if no document contains both. A neighbourhood of some hundred documents cannot show that, so the space
is stored with the epoch. The vector of a text is the weighted sum of those of its words; that of a phrase is the mean
of the documents that contain it. ``sklearn.utils.extmath.randomized_svd`` does the same decomposition, but would change
the bytes of stored models; this one never holds two bases of the vocabulary's size at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.int_arrays import LOW_32_BITS
from indexer.model.bm25 import compute_tf_saturation, idf

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MAX_DIMENSIONS = 300
_DOCUMENTS_PER_DIMENSION = 20
"""With fewer, a dimension would stand for single documents; there are ``PAIR_DIMENSIONS`` in any case."""
PAIR_DIMENSIONS = 64
"""Leading dimensions that pairs of documents are compared in: enough for whole texts, too few for a query's words."""
SAMPLE_SIZE = 20_000
"""Documents the vectors are learned from: more do not make them sharper, and the time stays constant."""
_MIN_DOCUMENTS, _MAX_DOCUMENT_SHARE = 3, 0.3
"""Words in fewer documents, or in a larger share of them, have no vector: they say nothing about topics."""
MAX_WORDS = 64_000
"""Words with a vector, the most frequent ones: learning takes 4 kB of memory for each."""
_OVERSAMPLING, _POWER_STEPS = 16, 2
_MIN_SQUARED_RATIO = 1e-6
"""Squared singular values below this share of the largest are rounding errors."""
_SAMPLE_BATCH = 1000
"""Documents of the sample weighed at a time."""
_SMALL_BATCH = 8
"""Up to this many texts are summed one by one: building a sparse matrix would take longer."""

Ints = NDArray[np.integer]


class CountedWords(NamedTuple):
    """The distinct words of a text."""

    word_ids: NDArray[np.int64]
    """Ascending; those that the model does not know have the id after the last one."""
    counts: NDArray[np.int64]
    length: int
    """Words of the text."""


class WeighedText(NamedTuple):
    """The words of a text that have a vector, and the text's vector."""

    rows: NDArray[np.int32]
    """Rows of the vectors of its distinct words, ascending."""
    weights: NDArray[np.float32]
    """BM25 weight of each; their squares add up to 1."""
    raw_vector: NDArray[np.float32]
    """The sum of the vectors of its words by weight, shape (dimensions,)."""
    vector: NDArray[np.float32]
    """The same, less the mean of all texts and of length 1; zeros for a text without a known word."""
    raw_pair_vector: NDArray[np.float32]
    """The sum in the leading ``PAIR_DIMENSIONS``: the last digits of a sum depend on the number of dimensions."""


@dataclass(frozen=True)
class TopicSpace:
    """Vectors of words, and the mean of all texts."""

    vector_rows: NDArray[np.int32]
    """Word -> row of ``vectors``, or -1, shape (words + 1,); the last is for unknown words."""
    vectors: NDArray[np.float32] | NDArray[np.float16]
    """Shape (words with a vector, dimensions). All are numbers of half precision, whichever type stores them."""
    scales: NDArray[np.float32]
    """Singular values, descending, shape (dimensions,); empty for a space that was learned without them."""
    centroid: NDArray[np.float32]
    """Mean of the sampled texts before they are normalised, shape (dimensions,)."""
    word_idf: NDArray[np.float64]
    """Shape (words + 1,), the last for unknown words."""
    average_length: float

    @property
    def dimensions(self) -> int:
        return int(self.vectors.shape[1])

    def keep_leading_dimensions(self, count: int) -> TopicSpace:
        """Return the space of the first ``count`` dimensions, which are the most important ones."""
        return replace(
            self, vectors=self.vectors[:, :count], scales=self.scales[:count], centroid=self.centroid[:count]
        )

    def embed_texts(self, word_ids: Ints, text_of_token: Ints, text_lengths: Ints) -> NDArray[np.float32]:
        """Return unit vectors of a batch of texts, shape (texts, dimensions); zeros for a text without a known word.

        ``word_ids`` and ``text_of_token``, shape (tokens,), are the word and the text of each token; ``text_lengths``,
        shape (texts,), the tokens of each text.
        """
        cells = self._weigh_words(word_ids, text_of_token, text_lengths)
        known = np.bincount(cells.text, minlength=len(text_lengths)) > 0
        return self._centre_and_normalise(self._sum_word_vectors(cells, len(text_lengths)), known)

    def compute_mean_text(self, word_ids: Ints, text_of_token: Ints, text_lengths: Ints) -> NDArray[np.float32]:
        """Return the mean of the texts of ``embed_texts`` before they are centred, shape (dimensions,)."""
        cells = self._weigh_words(word_ids, text_of_token, text_lengths)
        return np.asarray(self._sum_word_vectors(cells, len(text_lengths)).mean(axis=0), dtype=np.float32)

    def embed_weighed_texts(self, texts: Sequence[WeighedText]) -> NDArray[np.float32]:
        """Return what ``embed_texts`` does, in the space of the leading ``PAIR_DIMENSIONS``, for weighed texts."""
        known = np.array([len(text.rows) > 0 for text in texts])
        return self._centre_and_normalise(np.stack([text.raw_pair_vector for text in texts]), known)

    def _centre_and_normalise(self, raw: NDArray[np.float32], is_known: NDArray[np.bool_]) -> NDArray[np.float32]:
        centred = raw - self.centroid
        size = np.linalg.norm(centred, axis=1, keepdims=True)
        return np.asarray(np.divide(centred, size, out=np.zeros_like(centred), where=(size > 1e-9) & is_known[:, None]))

    def weigh_texts(self, texts: Sequence[CountedWords]) -> list[WeighedText]:
        """Weigh the words of texts and return each with its vector."""
        word_ids = np.concatenate([text.word_ids for text in texts])
        has_vector = self.vector_rows[word_ids] >= 0
        cells = _weigh_counted_words(
            self.vector_rows,
            self.word_idf,
            self.average_length,
            np.repeat(np.arange(len(texts)), [len(text.word_ids) for text in texts])[has_vector],
            word_ids[has_vector],
            np.concatenate([text.counts for text in texts])[has_vector],
            np.array([text.length for text in texts]),
        )
        return [self._weigh_part(cells, part) for part in _split_by_text(cells, len(texts))]

    def _weigh_part(self, cells: _TextWordWeights, part: slice) -> WeighedText:
        rows, weights = cells.row[part], cells.weight[part]
        vectors = to_single_precision(self.vectors[rows])
        raw = weights @ vectors
        centred = raw - self.centroid
        length = float(np.linalg.norm(centred))
        vector = centred / length if length > 1e-9 and len(rows) else np.zeros_like(centred)
        return WeighedText(rows, weights, raw, vector, weights @ vectors[:, :PAIR_DIMENSIONS])

    def _weigh_words(self, word_ids: Ints, text_of_token: Ints, text_lengths: Ints) -> _TextWordWeights:
        return _weigh_words_by_text(
            self.vector_rows, self.word_idf, self.average_length, word_ids, text_of_token, text_lengths
        )

    def _sum_word_vectors(self, word_weights: _TextWordWeights, text_count: int) -> NDArray[np.float32]:
        """Return the weighted sum of the vectors of each text's words, shape (texts, dimensions)."""
        if text_count > _SMALL_BATCH:
            rows, used = np.unique(word_weights.row, return_inverse=True)  # all vectors would take far more memory
            matrix = _build_sparse_matrix(word_weights._replace(row=used.astype(np.int32)), text_count, len(rows))
            return np.asarray(matrix @ to_single_precision(self.vectors[rows]))
        parts = _split_by_text(word_weights, text_count)
        return np.stack(
            [word_weights.weight[part] @ to_single_precision(self.vectors[word_weights.row[part]]) for part in parts]
        )


_SINGLE_BY_HALF = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float32)
"""Each number of half precision, by its bits, in single precision: a look-up takes half the time of a conversion."""


def to_single_precision(vectors: NDArray[np.float32] | NDArray[np.float16]) -> NDArray[np.float32]:
    """Return numbers of half precision in single precision, whichever type stores them."""
    return _SINGLE_BY_HALF.take(vectors.view(np.uint16)) if vectors.dtype == np.float16 else np.asarray(vectors)


class _TextWordWeights(NamedTuple):
    """BM25 weights of the words of texts, each text of length 1; by text, then by word."""

    text: NDArray[np.int64]
    row: NDArray[np.int32]
    """Row of the word's vector."""
    weight: NDArray[np.float32]


def _split_by_text(word_weights: _TextWordWeights, text_count: int) -> list[slice]:
    """Return the cells of each text."""
    ends = np.searchsorted(word_weights.text, np.arange(text_count + 1))
    return [slice(start, end) for start, end in pairwise(ends.tolist())]


def _weigh_words_by_text(
    vector_rows: NDArray[np.int32], word_idf: NDArray[np.float64], average_length: float,
    word_ids: Ints, text_of_token: Ints, text_lengths: Ints,
) -> _TextWordWeights:  # fmt: skip
    has_vector = vector_rows[word_ids] >= 0
    keys, counts = np.unique(
        text_of_token[has_vector].astype(np.int64) << 32 | word_ids[has_vector], return_counts=True
    )
    return _weigh_counted_words(
        vector_rows, word_idf, average_length, keys >> 32, keys & LOW_32_BITS, counts, np.asarray(text_lengths)
    )


def _weigh_counted_words(
    vector_rows: NDArray[np.int32], word_idf: NDArray[np.float64], average_length: float,
    text: NDArray[np.int64], word: Ints, counts: Ints, text_lengths: Ints,
) -> _TextWordWeights:  # fmt: skip
    weights = word_idf[word] * compute_tf_saturation(counts, text_lengths[text], average_length)
    norms = np.sqrt(np.bincount(text, weights**2, minlength=len(text_lengths)))
    return _TextWordWeights(text, vector_rows[word], (weights / norms[text]).astype(np.float32))


def _build_sparse_matrix(word_weights: _TextWordWeights, text_count: int, word_count: int) -> csr_array:
    from scipy.sparse import csr_array

    ends = np.searchsorted(word_weights.text, np.arange(text_count + 1)).astype(np.int32)
    return csr_array((word_weights.weight, word_weights.row, ends), shape=(text_count, word_count))


def learn_topic_space(
    word_ids: Ints,
    document_offsets: Ints,
    document_frequency: Ints,
    *,
    document_count: int,
    average_length: float,
    seed: int = 0,
) -> TopicSpace:
    """Learn the space from a sample of the documents.

    Document d has the words ``word_ids[document_offsets[d]:document_offsets[d + 1]]``; ``document_frequency`` has shape
    (words,). ``document_count`` and ``average_length`` are BM25's.
    """
    from threadpoolctl import threadpool_limits

    # On one core: on several the last digits depend on their number, and these matrices are too narrow to gain from it.
    with threadpool_limits(limits=1, user_api="blas"):
        return _learn_space_on_one_thread(
            word_ids, document_offsets, np.asarray(document_frequency), document_count, average_length, seed
        )


def _learn_space_on_one_thread(
    word_ids: Ints,
    document_offsets: Ints,
    document_frequency: Ints,
    document_count: int,
    average_length: float,
    seed: int,
) -> TopicSpace:
    max_frequency = max(_MAX_DOCUMENT_SHARE * document_count, _MIN_DOCUMENTS)
    topic_words = np.flatnonzero((document_frequency >= _MIN_DOCUMENTS) & (document_frequency <= max_frequency))
    if len(topic_words) > MAX_WORDS:
        order = np.argsort(-document_frequency[topic_words].astype(np.int64), kind="stable")
        topic_words = np.sort(topic_words[order[:MAX_WORDS]])
    rows = np.full(len(document_frequency) + 1, -1, dtype=np.int32)
    rows[topic_words] = np.arange(len(topic_words))
    word_idf = np.concatenate([idf(document_frequency, document_count), idf([1], document_count)])
    sample = np.sort(np.random.default_rng(seed).permutation(len(document_offsets) - 1)[:SAMPLE_SIZE])
    matrix = _build_sample_matrix(word_ids, document_offsets, sample, rows, word_idf, average_length)
    rank = min(MAX_DIMENSIONS, max(PAIR_DIMENSIONS, len(sample) // _DOCUMENTS_PER_DIMENSION), *matrix.shape)
    if rank == 0 or matrix.nnz == 0:
        no_vectors, none = np.zeros((len(topic_words), 0), dtype=np.float16), np.zeros(0, dtype=np.float32)
        return TopicSpace(rows, no_vectors, none, none, word_idf, average_length)
    vectors = _leading_singular_vectors(matrix, rank, seed).astype(np.float16)
    texts = np.asarray(matrix @ to_single_precision(vectors))
    scales = np.sqrt(np.einsum("ij,ij->j", texts, texts, dtype=np.float64)).astype(np.float32)
    centroid = texts.mean(axis=0, dtype=np.float64).astype(np.float32)
    return TopicSpace(rows, vectors, scales, centroid, word_idf, average_length)


def _build_sample_matrix(
    word_ids: Ints,
    document_offsets: Ints,
    sampled_documents: Ints,
    vector_rows: NDArray[np.int32],
    word_idf: NDArray[np.float64],
    average_length: float,
) -> csr_array:
    """Return the matrix of sampled documents x words with vectors.

    It is built from a few documents at a time: the keys that are sorted take far more memory than the result.
    """
    from scipy.sparse import csr_array

    row, weight, sizes = [np.zeros(0, np.int32)], [np.zeros(0, np.float32)], [np.zeros(1, np.int64)]
    for first in range(0, len(sampled_documents), _SAMPLE_BATCH):
        batch = sampled_documents[first : first + _SAMPLE_BATCH]
        lengths = document_offsets[batch + 1] - document_offsets[batch]
        batch_words = np.concatenate([word_ids[document_offsets[d] : document_offsets[d + 1]] for d in batch])
        cells = _weigh_words_by_text(
            vector_rows, word_idf, average_length, batch_words, np.repeat(np.arange(len(batch)), lengths), lengths
        )
        row.append(cells.row)
        weight.append(cells.weight)
        sizes.append(np.bincount(cells.text, minlength=len(batch)))
    ends = np.cumsum(np.concatenate(sizes)).astype(np.int32)
    shape = (len(sampled_documents), int(vector_rows.max(initial=-1)) + 1)
    return csr_array((np.concatenate(weight), np.concatenate(row), ends), shape=shape)


def _leading_singular_vectors(matrix: csr_array, rank: int, seed: int) -> NDArray[np.float32]:
    """Return the leading right singular vectors of a matrix (documents, words), shape (words, rank or fewer).

    Subspace iteration from a fixed random start; vectors of negligible singular values are left out.
    """
    transposed = matrix.T.tocsr()
    width = min(rank + _OVERSAMPLING, *matrix.shape)
    small = np.random.default_rng(seed).standard_normal((matrix.shape[0], width), dtype=np.float32)
    basis = _orthonormalise_product(transposed, small)
    for _ in range(_POWER_STEPS):
        small = matrix @ basis
        del basis  # as large as the next one: never both
        basis = _orthonormalise_product(transposed, small)
    small = matrix @ basis
    values, rotation = np.linalg.eigh(small.T @ small)
    order = np.argsort(values)[::-1][:rank]
    vectors: NDArray[np.float32] = basis @ rotation[:, order[values[order] > _MIN_SQUARED_RATIO * values.max()]]
    del basis
    # the sign of a singular vector is arbitrary: fix it, so that the same corpus gives the same bytes
    vectors *= np.sign([column[np.abs(column).argmax()] for column in vectors.T])
    return vectors


def _orthonormalise_product(matrix: csr_array, columns: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return an orthonormal basis of the columns of a product, shape as of these.

    It is ``np.linalg.qr`` in double precision, but in place: that one holds four copies at a time.
    """
    from scipy.linalg import qr

    product = (matrix @ columns).astype(np.float64, order="F")
    basis, _ = qr(product, overwrite_a=True, mode="economic", check_finite=False)
    return np.asarray(basis, dtype=np.float32, order="C")


class PhraseVectorSums(NamedTuple):
    """Sums of the vectors of the documents that contain each of some phrases."""

    phrases: Ints
    sums: NDArray[np.float32]
    """Shape (phrases, dimensions)."""


def sum_phrase_vectors(
    topics: TopicSpace,
    word_ids: Ints,
    document_of_token: Ints,
    document_lengths: Ints,
    edge_document: Ints,
    edge_phrase: Ints,
) -> PhraseVectorSums:
    """Sum the vectors of a batch of documents over the documents of each phrase.

    Tokens are given as in ``TopicSpace.embed_texts``, edges by document and phrase, each of shape (edges,).
    """
    from scipy.sparse import csr_array

    if topics.dimensions == 0 or len(edge_phrase) == 0:
        return PhraseVectorSums(np.zeros(0, np.int64), np.zeros((0, topics.dimensions), np.float32))
    vectors = topics.embed_texts(word_ids, document_of_token, document_lengths)
    phrases, row = np.unique(edge_phrase, return_inverse=True)
    ones = np.ones(len(row), dtype=np.float32)
    sums = csr_array((ones, (row, edge_document)), shape=(len(phrases), len(document_lengths))) @ vectors
    return PhraseVectorSums(phrases, sums)


class PhraseVectorMeans:
    """Adds up the vectors of the documents that contain each phrase, batch by batch."""

    def __init__(self, topics: TopicSpace, phrases: int) -> None:
        self._sums = np.zeros((phrases, topics.dimensions), dtype=np.float32)

    def add(self, batch: PhraseVectorSums) -> None:
        self._sums[batch.phrases] += batch.sums

    def compute_means(self, document_frequency: Ints) -> NDArray[np.float16]:
        """Return the mean vector of each phrase's documents, shape (phrases, dimensions); not of length 1."""
        return (self._sums / np.maximum(document_frequency, 1)[:, None]).astype(np.float16)
