"""Segmented documents on disk, for their analysis: a ``SegmentedCorpus``, and the one that mining leaves.

The last pass of mining segments every document and weighs its edges, which is all that an analysis computes before it
selects salient phrases.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.int_arrays import Ints
from indexer.mining.encoded_corpus import EncodedCorpus
from indexer.runtime.array_spill import ArraySpool
from indexer.segmentation.batch import BatchEdges, EncodedBatch, SegmentedBatch
from indexer.segmentation.matcher import Occurrences
from indexer.syntax.word_features import WordFeatures, load_word_feature_table, look_up_tokens

Arrays = tuple[NDArray[np.generic], ...]


class BatchPart(NamedTuple):
    """Some documents of a batch."""

    batch: int
    first: int
    """First document, counted from the first of the corpus."""
    last: int
    """Last document (exclusive)."""


class SegmentedCorpus(ABC):
    """All documents of a corpus, segmented with its phrase model, in parts that are read from disk."""

    @abstractmethod
    def iterate_parts(self, max_documents: int) -> Iterator[BatchPart]:
        """Yield the documents in order, at most ``max_documents`` at a time."""

    @abstractmethod
    def load_part_reader(self) -> Callable[[BatchPart], SegmentedBatch]:
        """Return the function that reads a part as segmenting its documents would give it."""

    @abstractmethod
    def read_part_edges(self, part: BatchPart) -> BatchEdges:
        """Return the edges of the documents, which are counted from the first of the part."""

    @abstractmethod
    def read_part_words(self, part: BatchPart) -> tuple[NDArray[np.int32], Ints]:
        """Return the model's word of each token, shape (tokens,), and the tokens of each document, (documents,)."""


@dataclass(frozen=True)
class MinedBatches(SegmentedCorpus):
    """Occurrences and edges of each batch of a corpus."""

    corpus: EncodedCorpus
    batches: list[tuple[int, int]]
    """First document and last (exclusive) of each batch."""
    occurrence_spool: ArraySpool = field(default_factory=ArraySpool)
    """Per batch what ``pack_occurrences`` returns."""
    edge_spool: ArraySpool = field(default_factory=ArraySpool)
    """Per batch what ``pack_edges`` returns."""

    def iterate_parts(self, max_documents: int) -> Iterator[BatchPart]:
        for batch, (first, last) in enumerate(self.batches):
            for start in range(first, last, max_documents):
                yield BatchPart(batch, start, min(start + max_documents, last))

    def read_occurrences_and_segment_mask(self, batch_number: int) -> tuple[Occurrences, NDArray[np.bool_]]:
        """Return every occurrence in a batch, and which of them are segments, shape (occurrences,)."""
        position, length, phrase, is_segment = self.occurrence_spool.read(batch_number)
        return Occurrences(position.astype(np.int64), length.astype(np.int64), phrase), is_segment

    def load_part_reader(self) -> Callable[[BatchPart], SegmentedBatch]:
        """Return the function that reads a part; the corpus must have its piece lengths."""
        return partial(self._read_part, load_word_feature_table().get_features(self.corpus.surfaces))

    def read_part_edges(self, part: BatchPart) -> BatchEdges:
        return self._slice_edges(part)[0]

    def read_part_words(self, part: BatchPart) -> tuple[NDArray[np.int32], Ints]:
        start, end = self.corpus.offsets[[part.first, part.last]].tolist()
        return self.corpus.lemma_ids[start:end], np.diff(self.corpus.offsets[part.first : part.last + 1])

    def _read_part(self, surface_features: WordFeatures, part: BatchPart) -> SegmentedBatch:
        """Return the documents of a part; ``surface_features``: of the corpus's surface forms, shape (surfaces, 2)."""
        return SegmentedBatch(
            self._build_batch(part, surface_features), self._slice_occurrences(part), *self._slice_edges(part)
        )

    def _build_batch(self, part: BatchPart, surface_features: WordFeatures) -> EncodedBatch:
        corpus, first, last = self.corpus, part.first, part.last
        assert corpus.piece_lengths is not None, "the corpus was encoded without piece lengths"
        start, end = corpus.offsets[[first, last]].tolist()
        word_ids, marks = corpus.lemma_ids[start:end], corpus.marks[start : end + 1]
        return EncodedBatch(
            lemmas=list(map(corpus.lemmas.__getitem__, word_ids.tolist())),
            word_ids=word_ids,
            marks=marks,
            document_lengths=np.diff(corpus.offsets[first : last + 1]),
            piece_lengths=corpus.piece_lengths[2 * (start + first) : 2 * (end + last)],
            compute_word_features=lambda: look_up_tokens(surface_features, corpus.surface_ids[start:end], marks),
        )

    def _slice_occurrences(self, part: BatchPart) -> Occurrences:
        position, length, phrase, _ = self.occurrence_spool.read(part.batch)
        batch_start = self.corpus.offsets[self.batches[part.batch][0]]
        tokens = self.corpus.offsets[[part.first, part.last]] - batch_start
        here = slice(*np.searchsorted(position, tokens))
        return Occurrences(position[here].astype(np.int64) - tokens[0], length[here].astype(np.int64), phrase[here])

    def _slice_edges(self, part: BatchPart) -> tuple[BatchEdges, NDArray[np.float64]]:
        *columns, weights = self.edge_spool.read(part.batch)
        batch_first = self.batches[part.batch][0]
        first, last = part.first - batch_first, part.last - batch_first
        here = slice(*np.searchsorted(columns[0], [first, last]))
        document, phrase, count = (column[here].astype(np.int64) for column in columns)
        return BatchEdges(document - first, phrase, count), weights[here]


def pack_occurrences(occurrences: Occurrences, is_segment: NDArray[np.bool_]) -> Arrays:
    """Return the arrays of a batch in small types: its positions and lengths fit."""
    return occurrences.position.astype(np.int32), occurrences.length.astype(np.uint8), occurrences.phrase, is_segment


def pack_edges(edges: BatchEdges, weights: NDArray[np.float64]) -> Arrays:
    """Return the arrays of a batch in small types, and the weights as they are."""
    return (*(column.astype(np.int32) for column in (edges.document, edges.phrase, edges.count)), weights)
