"""Counting word sequences in texts: as substrings of short texts, by word ids in long ones.

A sequence does not continue over the end of a line, nor from one text into the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from worker.explain.text.encoded_text import MIN_WORDS_FOR_ID_SEARCH, EncodedText


class NgramCounter(Protocol):
    """Counts sequences of two or more words."""

    def count(self, words: Sequence[str]) -> int:
        """Return how often the words occur in a row, overlapping occurrences included."""

    def contains(self, words: Sequence[str]) -> bool:
        """Return whether the words occur in a row."""

    def may_contain_letters(self, letters: str) -> bool:
        """Return False if the letters surely occur nowhere, not even in several words written together."""


def make_ngram_counter(encoded_text: EncodedText) -> NgramCounter:
    """Return the faster counter for a text of this size."""
    if encoded_text.word_count >= MIN_WORDS_FOR_ID_SEARCH and encoded_text.word_ids_with_line_ends is not None:
        return WordIdCounter(encoded_text)
    return SubstringCounter(encoded_text.tokens)


class SubstringCounter:
    """Counts substrings of the padded tokens."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self._tokens = tokens

    def count(self, words: Sequence[str]) -> int:
        sequence = f" {'  '.join(words)} "
        if words[0] not in words[1:]:
            return self._padded.count(sequence)
        count, start = 0, self._padded.find(sequence)  # it may overlap itself, which str.count does not see
        while start >= 0:
            count, start = count + 1, self._padded.find(sequence, start + 1)
        return count

    def contains(self, words: Sequence[str]) -> bool:
        return f" {'  '.join(words)} " in self._padded

    def may_contain_letters(self, letters: str) -> bool:
        return letters in self._letters

    @cached_property
    def _letters(self) -> str:
        return "".join("".join(self._tokens).split())

    @cached_property
    def _padded(self) -> str:
        return join_padded_tokens(self._tokens)


def join_padded_tokens(token_strings: Sequence[str]) -> str:
    """Join all tokens and line ends, each between two spaces, so that a phrase can be counted as a substring."""
    lines = "\n".join(token_strings).replace("\n", " \n ")
    return f" {lines.replace(' ', '  ')} "


class WordIdCounter:
    """Counts by word ids, looking only at the positions of a sequence's rarest word."""

    def __init__(self, encoded_text: EncodedText) -> None:
        assert encoded_text.word_ids_with_line_ends is not None
        self._get_word_id = encoded_text.get_word_id
        self._ids_by_line = encoded_text.word_ids_with_line_ends
        self._positions, self._starts = _group_positions_by_id(self._ids_by_line)

    def count(self, words: Sequence[str]) -> int:
        return len(self._find_starts(words))

    def contains(self, words: Sequence[str]) -> bool:
        return len(self._find_starts(words)) > 0

    def may_contain_letters(self, letters: str) -> bool:
        return True  # in a long text the search for letters would take longer than what it may save

    def _find_starts(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Return the positions in ``word_ids_with_line_ends`` where the sequence starts."""
        word_ids = [self._get_word_id(word) for word in words]
        ranges = [(self._starts[id + 1], self._starts[id + 2]) for id in word_ids]
        rarest = min(range(len(words)), key=lambda i: ranges[i][1] - ranges[i][0])
        starts = self._positions[slice(*ranges[rarest])] - rarest
        starts = starts[(starts >= 0) & (starts <= len(self._ids_by_line) - len(words))]
        for i, id in enumerate(word_ids):
            if i != rarest:
                starts = starts[self._ids_by_line[starts + i] == id]
        return starts


def _group_positions_by_id(ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the positions of all ids, grouped by id from -1 on and ascending, and where each group starts."""
    from scipy.sparse import csr_array

    # transposing a sparse matrix of one row is a counting sort
    size = len(ids)
    row = csr_array((np.arange(size), ids + 1, np.array([0, size])), shape=(1, int(ids.max(initial=-1)) + 2))
    transposed = row.tocsc()
    return transposed.data, transposed.indptr.astype(np.int64)
