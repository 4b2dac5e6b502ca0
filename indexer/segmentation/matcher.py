"""The phrases of documents: the segments of the best segmentation, and good phrases nested in them.

"Heterogeneous graph neural network" is one segment, yet a document that holds it is also about graph neural
networks: a phrase that the model marks as ``nested`` counts inside a longer segment too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.segmentation.best_segmentation import segment
from indexer.segmentation.phrase_trie import PhraseIndex
from indexer.text.tokenizer import Mark

Ints = NDArray[np.int64]


class Found(NamedTuple):
    """Occurrences of phrases in a line of tokens, by position (the longer first)."""

    position: Ints
    length: Ints
    phrase: NDArray[np.int32]

    def where(self, keep: NDArray[np.bool_]) -> Found:
        return Found(self.position[keep], self.length[keep], self.phrase[keep])


@dataclass(frozen=True)
class Matcher:
    """Reads coded tokens with a set of phrases."""

    index: PhraseIndex
    gain: NDArray[np.float64]
    """What a segment of this phrase adds to the score of a segmentation (> 0 for several words)."""
    nested: NDArray[np.bool_]
    """Counts inside a longer segment as well."""

    def all(self, words: NDArray[np.int32], marks: NDArray[np.uint8]) -> Found:
        """Every occurrence of every phrase, overlapping ones included."""
        at, length, phrase = self.index.matches(words, marks)
        single = self.index.single[words]
        alone = np.flatnonzero(single >= 0)
        at = np.concatenate([at, alone])
        length = np.concatenate([length, np.ones(len(alone), np.int64)])
        phrase = np.concatenate([phrase, single[alone]])
        order = np.argsort(at << 8 | (255 - length), kind="stable")
        return Found(at[order], length[order], phrase[order])

    def segments(self, tokens: int, found: Found) -> NDArray[np.bool_]:
        """Which occurrences are segments of the best segmentation."""
        multi = np.flatnonzero(found.length > 1)
        best = segment(tokens, found.position[multi], found.length[multi], self.gain[found.phrase[multi]])
        chosen = np.zeros(len(found.position), dtype=np.bool_)
        chosen[multi[best]] = True
        covered = cover(tokens, found.where(chosen))
        chosen[(found.length == 1) & (covered[found.position] < 0)] = True
        return chosen

    def counted(self, found: Found, chosen: NDArray[np.bool_], marks: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which occurrences count as the document's: segments, and nested phrases within one segment.

        Not what follows a hyphen: "self-supervised learning" is no supervised learning.
        """
        covered = cover(len(marks) - 1, found.where(chosen))
        first = covered[found.position]
        within = (first >= 0) & (first == covered[found.position + found.length - 1])
        within &= (marks[found.position] & Mark.HYPHEN) == 0
        return np.asarray(chosen | (within & self.nested[found.phrase]), dtype=np.bool_)


def cover(tokens: int, segments: Found) -> NDArray[np.int64]:
    """The segment (its row) that covers each token, -1 where none does, shape (tokens,)."""
    covered = np.full(tokens, -1, dtype=np.int64)
    for n in range(1, int(segments.length.max(initial=1)) + 1):
        rows = np.flatnonzero(segments.length == n)
        for i in range(n):
            covered[segments.position[rows] + i] = rows
    return covered


def uncut(tokens: int, found: Found, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which occurrences no segment reaches into from outside: the segments, and what is made up of whole ones."""
    segments = found.where(chosen)
    covered = cover(tokens, segments)
    end = found.position + found.length
    # -1, no segment, picks what was appended: it reaches nowhere
    first = np.append(segments.position, tokens)[covered[found.position]]
    last = np.append(segments.position + segments.length, 0)[covered[end - 1]]
    return np.asarray((first >= found.position) & (last <= end), dtype=np.bool_)
