"""What mining has read of a corpus, kept for the analysis of the same documents.

The last pass of mining splits every document into phrases and weighs them, which is all that an analysis finds out
before it chooses. It stays on disk, by the batches that mining read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from indexer.mining.encoded_corpus import Corpus
from indexer.runtime.array_spill import Shelf
from indexer.segmentation.batch import Batch, Edges, Read
from indexer.segmentation.matcher import Found

Part = tuple[int, int, int]
"""A batch, and documents of it: the first and the last (exclusive), counted from the corpus's first."""
Arrays = tuple[NDArray[np.generic], ...]


@dataclass(frozen=True)
class Kept:
    """Of each batch its occurrences and its edges."""

    corpus: Corpus
    batches: list[tuple[int, int]]
    found: Shelf = field(default_factory=Shelf)
    edges: Shelf = field(default_factory=Shelf)

    def parts(self, size: int) -> Iterator[Part]:
        """At most ``size`` documents each, in order."""
        for number, (first, last) in enumerate(self.batches):
            for start in range(first, last, size):
                yield number, start, min(start + size, last)

    def occurrences(self, number: int) -> tuple[Found, NDArray[np.bool_]]:
        """Of a batch: every occurrence, and which of them are segments."""
        position, length, phrase, chosen = self.found.get(number)
        return Found(position.astype(np.int64), length.astype(np.int64), phrase), chosen

    def read(self, part: Part) -> Read:
        """What analysing these documents would read in them."""
        _, first, last = part
        return Read(self._batch(first, last), self._found(part), *self._edges(part))

    def _batch(self, first: int, last: int) -> Batch:
        corpus = self.corpus
        assert corpus.sizes is not None, "a corpus coded without sizes"
        start, end = corpus.offsets[[first, last]].tolist()
        words = corpus.words[start:end]
        return Batch(
            lemmas=list(map(corpus.lemmas.__getitem__, words.tolist())),
            words=words,
            marks=corpus.marks[start : end + 1],
            lengths=np.diff(corpus.offsets[first : last + 1]),
            sizes=corpus.sizes[2 * (start + first) : 2 * (end + last)],
        )

    def _found(self, part: Part) -> Found:
        number, first, last = part
        position, length, phrase, _ = self.found.get(number)
        tokens = self.corpus.offsets[[first, last]] - self.corpus.offsets[self.batches[number][0]]
        here = slice(*np.searchsorted(position, tokens))
        return Found(position[here].astype(np.int64) - tokens[0], length[here].astype(np.int64), phrase[here])

    def _edges(self, part: Part) -> tuple[Edges, NDArray[np.float64]]:
        number, first, last = part
        document, phrase, times, weights = self.edges.get(number)
        begin = self.batches[number][0]
        here = slice(*np.searchsorted(document, [first - begin, last - begin]))
        document, phrase, times = (one[here].astype(np.int64) for one in (document, phrase, times))
        return Edges(document - (first - begin), phrase, times), weights[here]


def packed_occurrences(found: Found, chosen: NDArray[np.bool_]) -> Arrays:
    """As ``Kept.found`` has them: positions are those of a batch, and fit."""
    return found.position.astype(np.int32), found.length.astype(np.uint8), found.phrase, chosen


def packed_edges(edges: Edges, weights: NDArray[np.float64]) -> Arrays:
    """As ``Kept.edges`` has them."""
    return (*(one.astype(np.int32) for one in (edges.document, edges.phrase, edges.times)), weights)
