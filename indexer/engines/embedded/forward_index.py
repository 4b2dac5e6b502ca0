"""The forward index of an epoch: words, edges and salience of each document as memory-mapped arrays.

Tantivy stores a document as one JSON string: to read 1,000 of them takes 70 ms, to fetch them as LazyDocument 5 ms.
Documents have their numbers in the phrase graph, phrases their rows in it. An index built without these arrays stays
readable, only its large sets are slower. Word ids are plain int32: variable-length integers made an index 8 % smaller,
and the words of 1,000 documents took 3.8 ms to decode instead of 1.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.array_files import memory_map_array
from indexer.engines.lazy_documents import EncodedLines, PhraseWeights
from indexer.int_arrays import csr_positions

FORWARD_ARRAYS = (
    *("word_id_starts", "word_ids", "edge_starts", "edge_rows", "edge_weights"),
    *("salient_starts", "salient_rows", "salience", "versions"),
)
"""Fields of ForwardIndex, each in a file of its own. Indexes with word ids of variable length have ``word_starts`` and
``words`` in place of the first two, so that neither version misreads an index of the other."""
LINE_END = -1
"""Ends a line among the word ids."""
Ints = NDArray[np.int64]


def forward_file_name(array_name: str) -> str:
    return f"forward_{array_name}.npy"


@dataclass(frozen=True)
class ForwardIndex:
    """Words, edges and salient phrases by document. Values of document d are ``[starts[d]:starts[d + 1]]``."""

    word_id_starts: Ints
    """Shape (documents + 1,)."""
    word_ids: NDArray[np.int32]
    """Word ids of the model, with LINE_END after every line; a document with a word unknown to the model, or with
    irregular white space, has LINE_END only. Shape (words + lines,)."""
    edge_starts: Ints
    """Shape (documents + 1,)."""
    edge_rows: NDArray[np.int32]
    """Row of each phrase in the graph, shape (edges,)."""
    edge_weights: NDArray[np.float32]
    """BM25, shape (edges,)."""
    salient_starts: Ints
    """Shape (documents + 1,)."""
    salient_rows: NDArray[np.int32]
    """Row of each salient phrase in the graph, shape (salient phrases of all documents,)."""
    salience: NDArray[np.float64]
    """Shape (salient phrases of all documents,)."""
    versions: NDArray[np.uint64]
    """Content version of each document, shape (documents,)."""

    def has_words(self, documents: Ints) -> NDArray[np.bool_]:
        """Return whether the words of each document are stored here, shape (documents,)."""
        return np.asarray(self.word_id_starts[documents + 1] - self.word_id_starts[documents] != 1)

    def get_lines(self, documents: Ints) -> EncodedLines:
        """Return the words of documents for which ``has_words`` is true."""
        word_ids = self.word_ids[csr_positions(self.word_id_starts, documents)].astype(np.int64)
        ends = np.cumsum(self.word_id_starts[documents + 1] - self.word_id_starts[documents])
        words_before = np.concatenate([[0], np.cumsum(word_ids != LINE_END)])
        return EncodedLines(word_ids, np.diff(words_before[ends], prepend=0))

    def get_edges(self, documents: Ints) -> PhraseWeights:
        """Return the phrases of documents with their BM25."""
        return _gather_phrase_weights(self.edge_starts, self.edge_rows, self.edge_weights, documents)

    def get_salience(self, documents: Ints) -> PhraseWeights:
        """Return the salient phrases of documents with their salience."""
        return _gather_phrase_weights(self.salient_starts, self.salient_rows, self.salience, documents)

    def is_consistent(self, document_count: int) -> bool:
        """Return whether the sizes of the arrays fit each other and ``document_count``; a torn write does not pass."""
        groups = (
            (self.word_id_starts, (self.word_ids,)),
            (self.edge_starts, (self.edge_rows, self.edge_weights)),
            (self.salient_starts, (self.salient_rows, self.salience)),
        )
        return len(self.versions) == document_count and all(
            len(starts) == document_count + 1 and all(int(starts[-1]) == len(values) for values in arrays)
            for starts, arrays in groups
        )


def _gather_phrase_weights(starts: Ints, rows: NDArray[Any], values: NDArray[Any], documents: Ints) -> PhraseWeights:
    indexes = csr_positions(starts, documents)
    counts = starts[documents + 1] - starts[documents]
    return PhraseWeights(rows[indexes].astype(np.int64), values[indexes].astype(np.float64), counts)


def load_forward_index(folder: Path, document_count: int) -> ForwardIndex | None:
    """Open the forward index of a graph folder, or return None if it has none in this layout.

    Raise OSError or ValueError if a file is missing or cut short.
    """
    if not (folder / forward_file_name(FORWARD_ARRAYS[0])).exists():
        return None
    forward_index = ForwardIndex(
        **{name: memory_map_array(folder / forward_file_name(name)) for name in FORWARD_ARRAYS}
    )
    if not forward_index.is_consistent(document_count):
        raise ValueError(f"the forward arrays in {folder} are inconsistent")
    return forward_index
