"""Match a set of phrases in encoded text: all occurrences, segments of the best segmentation, nested phrases.

"Heterogeneous graph neural network" is one segment, yet its document is also about graph neural networks: a phrase
that the model marks as nested counts inside a longer segment too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.int_arrays import Ints
from indexer.segmentation.best_segmentation import find_best_segmentation
from indexer.segmentation.phrase_trie import PhraseTrie
from indexer.text.tokenizer import Mark


class Occurrences(NamedTuple):
    """Phrase occurrences in a sequence of tokens, by position, longer ones first; arrays of shape (occurrences,)."""

    position: Ints
    """First token."""
    length: Ints
    """Tokens."""
    phrase: NDArray[np.int32]
    """Phrase id."""

    def select(self, keep: NDArray[np.bool_]) -> Occurrences:
        """Return the occurrences that a mask of shape (occurrences,) keeps."""
        return Occurrences(self.position[keep], self.length[keep], self.phrase[keep])


@dataclass(frozen=True)
class Matcher:
    """A set of phrases that can be found in encoded tokens; arrays of shape (phrases,)."""

    trie: PhraseTrie
    gains: NDArray[np.float64]
    """Contribution of a segment of the phrase to the score of a segmentation; above 0 for phrases of several words."""
    is_nested: NDArray[np.bool_]
    """Mask of the phrases that count inside a longer segment as well."""

    def find_all(self, word_ids: NDArray[np.int32], marks: NDArray[np.uint8]) -> Occurrences:
        """Return every occurrence of every phrase, overlapping ones included.

        ``word_ids`` has shape (tokens,), ``marks`` (tokens + 1,).
        """
        position, length, phrase = self.trie.find_matches(word_ids, marks)
        single = self.trie.single_word_phrase[word_ids]
        alone = np.flatnonzero(single >= 0)
        position = np.concatenate([position, alone])
        length = np.concatenate([length, np.ones(len(alone), np.int64)])
        phrase = np.concatenate([phrase, single[alone]])
        order = np.argsort(position << 8 | (255 - length), kind="stable")
        return Occurrences(position[order], length[order], phrase[order])

    def mark_segments(self, token_count: int, occurrences: Occurrences) -> NDArray[np.bool_]:
        """Return a mask of the occurrences that are segments of the best segmentation."""
        multi = np.flatnonzero(occurrences.length > 1)
        best = find_best_segmentation(
            token_count, occurrences.position[multi], occurrences.length[multi], self.gains[occurrences.phrase[multi]]
        )
        is_segment = np.zeros(len(occurrences.position), dtype=np.bool_)
        is_segment[multi[best]] = True
        covered = map_tokens_to_segments(token_count, occurrences.select(is_segment))
        is_segment[(occurrences.length == 1) & (covered[occurrences.position] < 0)] = True
        return is_segment

    def mark_counted(
        self, occurrences: Occurrences, is_segment: NDArray[np.bool_], marks: NDArray[np.uint8]
    ) -> NDArray[np.bool_]:
        """Return a mask of the occurrences that count for their document: segments, and nested phrases within one.

        A nested phrase after a hyphen does not count: "self-supervised learning" is not supervised learning.
        """
        covered = map_tokens_to_segments(len(marks) - 1, occurrences.select(is_segment))
        first = covered[occurrences.position]
        within = (first >= 0) & (first == covered[occurrences.position + occurrences.length - 1])
        within &= (marks[occurrences.position] & Mark.HYPHEN) == 0
        return np.asarray(is_segment | (within & self.is_nested[occurrences.phrase]), dtype=np.bool_)


def map_tokens_to_segments(token_count: int, segments: Occurrences) -> NDArray[np.int64]:
    """Return the row of the segment that covers each token, -1 where none does, shape (tokens,)."""
    covered = np.full(token_count, -1, dtype=np.int64)
    for n in range(1, int(segments.length.max(initial=1)) + 1):
        rows = np.flatnonzero(segments.length == n)
        for i in range(n):
            covered[segments.position[rows] + i] = rows
    return covered


def mark_uncut(token_count: int, occurrences: Occurrences, is_segment: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return a mask of the occurrences that no segment overlaps in part: segments, and sequences of whole segments."""
    segments = occurrences.select(is_segment)
    covered = map_tokens_to_segments(token_count, segments)
    end = occurrences.position + occurrences.length
    # -1 (no segment) selects the appended value, which overlaps nothing
    first = np.append(segments.position, token_count)[covered[occurrences.position]]
    last = np.append(segments.position + segments.length, 0)[covered[end - 1]]
    return np.asarray((first >= occurrences.position) & (last <= end), dtype=np.bool_)
