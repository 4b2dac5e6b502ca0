"""The words of some phrases as one list, so that what is known of words is added up for all phrases at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from itertools import chain, repeat

import numpy as np

from indexer.int_arrays import csr_starts
from indexer.model.bm25 import split_phrase_words
from indexer.text.stopwords import ENGLISH_STOPWORDS
from worker.solver.subgraph import Flags, Floats, Indices


class SplitPhrases:
    """Some phrases and their words, those of a pair together."""

    def __init__(self, phrases: Sequence[str]) -> None:
        self.phrases = phrases
        words_by_phrase = list(map(split_phrase_words, phrases))
        self.lengths: Indices = np.array(list(map(len, words_by_phrase)), dtype=np.int64)
        """Words of each phrase, (P,)."""
        self.words = list(chain.from_iterable(words_by_phrase))
        """The words of one phrase after another, (W,)."""

    @cached_property
    def is_function_word(self) -> Flags:
        """Which words are function words of English, (W,)."""
        return self.find_members(ENGLISH_STOPWORDS)

    def look_up(self, values: Mapping[str, float]) -> Floats:
        """Return the number that each word has, else 0, (W,)."""
        return np.fromiter(map(values.get, self.words, repeat(0.0)), dtype=np.float64, count=len(self.words))

    def find_members(self, words: Collection[str]) -> Flags:
        """Return which words are among others, (W,)."""
        return np.fromiter(map(words.__contains__, self.words), dtype=bool, count=len(self.words))

    def compute_means(self, values: Floats | Flags) -> Floats:
        """Return the mean of each phrase, (P,), of what its words have, (W,)."""
        if not len(values):
            return np.zeros(0)
        return np.asarray(np.add.reduceat(values, self._starts, dtype=np.float64) / self.lengths)

    def find_maxima(self, values: Floats) -> Floats:
        """Return the maximum of each phrase, (P,), of what its words have, (W,)."""
        return np.asarray(np.maximum.reduceat(values, self._starts)) if len(values) else np.zeros(0)

    @cached_property
    def _starts(self) -> Indices:
        return csr_starts(self.lengths)[:-1]
