"""Vectors of texts made from their words, by which documents that bring no vectors are found by meaning.

A vector has two parts, each of length 1 before the whole is: the text among the package's word vectors, which know what
English words mean in general, and the text in the leading dimensions of topic space, which knows how this corpus uses
its words. An index of another language has the second part only.

The vector of a query is the sum of the directions of its words by idf, and each part counts by the share of the query
that it knows. On 120 judged queries of three corpora (docstrings, news, abstracts) its cosine tells relevant hits from
irrelevant ones with an AUC of 0.88, 0.91 and 0.93; words alone 0.77 to 0.78, topics alone 0.90 to 0.92, but these find
fewer of the relevant hits that share no word with the query. The query as a text, less the mean of all texts, has 0.59
to 0.76: what a short query lacks would count for as much as what it says.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from indexer.model.evidence_scale import MIN_RESERVOIR
from indexer.model.evidence_spaces import Ints, Vectors, normalise_rows
from indexer.model.topic_space import TopicSpace, to_single_precision
from indexer.model.word_vectors import get_general_vectors

TOPIC_DIMENSIONS = 128
"""Leading dimensions of topic space: with 64, fewer relevant documents are found; 300 find hardly more."""
_RANDOM_SPREAD = 0.06
"""Standard deviation of the cosines of texts that have nothing to do with each other, measured on three corpora."""
_MIN_COUNT = 100
"""Documents from which on the floor rises with their number."""
MAX_RANDOM_SHARE = 0.05
"""A document must be nearer to the query than all but this share of random ones. Of a large index, the first hits are
anyway."""


class TextVectors:
    """Makes the vectors of texts and queries of one index."""

    def __init__(
        self,
        word_space: TopicSpace | None,
        topic_space: TopicSpace,
        word_ids: Mapping[str, int],
        document_count: int,
        random_texts: Vectors,
    ) -> None:
        """``word_space``: None for a language without word vectors. ``word_ids``: ids of the words of the corpus.

        ``random_texts``: vectors of texts drawn at random, shape (texts, dimensions), of any length.
        """
        self._word_space = word_space
        self._topic_space = topic_space.keep_leading_dimensions(TOPIC_DIMENSIONS)
        self._word_ids = word_ids
        self._document_count = document_count
        self._random_texts = random_texts

    @property
    def dimensions(self) -> int:
        return sum(space.dimensions for space in self._spaces)

    @property
    def _spaces(self) -> list[TopicSpace]:
        return [space for space in (self._word_space, self._topic_space) if space is not None and space.dimensions]

    def embed_texts(self, word_ids: Ints, text_of_token: Ints, text_lengths: Ints) -> Vectors:
        """Return unit vectors of a batch of texts, shape (texts, dimensions); zeros for a text without a known word.

        Tokens are given as in ``TopicSpace.embed_texts``.
        """
        parts = [space.embed_texts(word_ids, text_of_token, text_lengths) for space in self._spaces]
        return normalise_rows(np.hstack(parts)) if parts else np.zeros((len(text_lengths), 0), np.float32)

    def embed_words(self, words: Sequence[str]) -> Vectors:
        """Return the unit vector of one text by its lemmas, shape (dimensions,); zeros without a known word."""
        ids = np.array([self._word_ids.get(word, self._unknown_id) for word in words], dtype=np.int64)
        vectors = self.embed_texts(ids, np.zeros(len(ids), dtype=np.int64), np.array([len(ids)]))
        return np.asarray(vectors[0])

    def embed_query(self, words: Sequence[str], unreadable_words: Collection[str] = ()) -> Vectors:
        """Return the unit vector of a query by its lemmas, shape (dimensions,); zeros if no word has a vector.

        A word that the corpus does not have counts by its meaning in general, and is as rare as a word of one document.
        ``unreadable_words`` are treated in the same way, so that nothing depends on the documents that have them.
        """
        distinct = list(dict.fromkeys(words))
        ids = [
            self._unknown_id if word in unreadable_words else self._word_ids.get(word, self._unknown_id)
            for word in distinct
        ]
        word_ids = np.array(ids, dtype=np.int64)
        idf = self._topic_space.word_idf[word_ids].astype(np.float32)
        parts = [
            _sum_directions(
                get_general_vectors(distinct) if space is self._word_space else _look_up_vectors(space, word_ids), idf
            )
            for space in self._spaces
        ]
        return np.asarray(normalise_rows(np.concatenate([np.zeros(0, np.float32), *parts])[np.newaxis])[0])

    def measure_floor(self, query: Vectors) -> float:
        """Return the cosine with a query that a document must have to be found.

        It is what the best of as many unrelated documents would reach: 0.25 among 7,000. Three random English words
        that a corpus does not have then find ten documents in at most 7 of 100 cases. In a small index, a document must
        also be nearer than 95 % of random ones.
        """
        floor = _RANDOM_SPREAD * math.sqrt(2 * math.log(max(self._document_count, _MIN_COUNT)))
        if len(self._unit_random_texts) < MIN_RESERVOIR:
            return floor
        return max(floor, float(np.quantile(self._unit_random_texts @ query, 1 - MAX_RANDOM_SHARE)))

    @property
    def _unknown_id(self) -> int:
        return len(self._topic_space.word_idf) - 1

    @cached_property
    def _unit_random_texts(self) -> Vectors:
        return normalise_rows(self._random_texts)


def join_random_texts(word_vectors: NDArray[np.float16], topic_vectors: NDArray[np.float16]) -> Vectors:
    """Return the vectors of texts by their parts; both have a row for each text, and no columns without the part."""
    topics = normalise_rows(topic_vectors[:, :TOPIC_DIMENSIONS].astype(np.float32))
    return np.hstack([word_vectors.astype(np.float32), topics]) if word_vectors.shape[1] else topics


def _look_up_vectors(space: TopicSpace, word_ids: Ints) -> Vectors:
    """Return the vectors of words of the corpus, shape (words, dimensions); zeros for a word without one."""
    rows = space.vector_rows[word_ids]
    vectors = np.zeros((len(rows), space.dimensions), dtype=np.float32)
    vectors[rows >= 0] = to_single_precision(space.vectors[rows[rows >= 0]]) * space.scales
    return vectors


def _sum_directions(vectors: Vectors, idf: NDArray[np.float32]) -> Vectors:
    """Return the sum of words' directions by idf, shape (dimensions,); its length is the share of idf that is known."""
    directions = normalise_rows(vectors)
    known = idf[directions.any(axis=1)].sum() / max(float(idf.sum()), 1e-9)
    return np.asarray(normalise_rows((idf @ directions)[np.newaxis])[0] * known)
