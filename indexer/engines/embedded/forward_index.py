"""The forward index of an epoch: what comparing large sets asks of every document, as memory-mapped arrays.

Documents have the numbers of the graph, phrases its rows. An index that was built without it is read as well, only
sets of it more slowly.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.engines.embedded.phrase_graph import mapped
from indexer.engines.embedded.varints import decoded
from indexer.engines.shelf import Weights, Words
from indexer.ranges import ranges

ARRAYS = (
    *("word_starts", "words", "edge_starts", "edge_rows", "edge_weights"),
    *("salient_starts", "salient_rows", "salience", "versions"),
)
LINE_END = 0
"""Code of the end of a line; a word has the code after its number in the model."""
Ints = NDArray[np.int64]


def file_name(name: str) -> str:
    return f"forward_{name}.npy"


@dataclass(frozen=True)
class Forward:
    word_starts: Ints
    """Document d has the bytes ``[word_starts[d]:word_starts[d + 1]]`` of ``words``; shape (documents + 1,)."""
    words: NDArray[np.uint8]
    """Codes in as few bytes as each needs, a line end after every line. Of a document that cannot be coded (one with a
    word unknown to the model) only a line end."""
    edge_starts: Ints
    """Shape (documents + 1,), of the next two."""
    edge_rows: NDArray[np.int32]
    edge_weights: NDArray[np.float32]
    salient_starts: Ints
    salient_rows: NDArray[np.int32]
    salience: NDArray[np.float64]
    versions: NDArray[np.uint64]
    """Content version of each document, shape (documents,)."""

    def coded(self, documents: Ints) -> NDArray[np.bool_]:
        """Which of the documents have their words here."""
        return np.asarray(self.word_starts[documents + 1] - self.word_starts[documents] != 1)

    def lined(self, documents: Ints) -> Words:
        data = self.words[ranges(self.word_starts, documents)]
        codes, ends = decoded(data)
        last = np.cumsum(self.word_starts[documents + 1] - self.word_starts[documents]) - 1
        seen = np.concatenate([[0], np.cumsum(codes != LINE_END)])
        total = seen[np.searchsorted(ends, last, side="right")]
        return Words(codes - 1, np.diff(total, prepend=0))

    def edges(self, documents: Ints) -> Weights:
        return _weights(self.edge_starts, self.edge_rows, self.edge_weights, documents)

    def salient(self, documents: Ints) -> Weights:
        return _weights(self.salient_starts, self.salient_rows, self.salience, documents)

    def is_sound(self, documents: int) -> bool:
        """Whether the arrays fit each other and so many documents."""
        held = (
            (self.word_starts, (self.words,)),
            (self.edge_starts, (self.edge_rows, self.edge_weights)),
            (self.salient_starts, (self.salient_rows, self.salience)),
        )
        return len(self.versions) == documents and all(
            len(starts) == documents + 1 and all(int(starts[-1]) == len(values) for values in arrays)
            for starts, arrays in held
        )


def _weights(starts: Ints, rows: NDArray[Any], values: NDArray[Any], documents: Ints) -> Weights:
    taken = ranges(starts, documents)
    sizes = starts[documents + 1] - starts[documents]
    return Weights(rows[taken].astype(np.int64), values[taken].astype(np.float64), sizes)


def load_forward(folder: Path, documents: int) -> Forward | None:
    """None where there is none. Raises OSError or ValueError when a file is missing or cut short."""
    if not (folder / file_name(ARRAYS[0])).exists():
        return None
    forward = Forward(**{name: mapped(folder / file_name(name)) for name in ARRAYS})
    if not forward.is_sound(documents):
        raise ValueError(f"the forward arrays in {folder} do not fit each other")
    return forward
