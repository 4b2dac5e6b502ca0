"""How often words follow each other in some texts: by substrings of a few, by numbers of very many.

A phrase does not run over the end of a line, nor from one text into the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from worker.explain.text.encoded_text import MANY, Coded


class Sequences(Protocol):
    def count(self, words: Sequence[str]) -> int:
        """Occurrences of two or more words in a row, overlapping ones included."""

    def holds(self, words: Sequence[str]) -> bool:
        """Whether there are any."""


def sequences(coded: Coded) -> Sequences:
    return InNumbers(coded) if coded.size >= MANY and coded.lined is not None else InText(coded.tokens)


class InText:
    def __init__(self, tokens: Sequence[str]) -> None:
        self._tokens = tokens

    def count(self, words: Sequence[str]) -> int:
        wanted = f" {'  '.join(words)} "
        if words[0] not in words[1:]:
            return self._padded.count(wanted)
        found, at = 0, self._padded.find(wanted)  # may overlap itself, which a plain count does not see
        while at >= 0:
            found, at = found + 1, self._padded.find(wanted, at + 1)
        return found

    def holds(self, words: Sequence[str]) -> bool:
        return f" {'  '.join(words)} " in self._padded

    @cached_property
    def _padded(self) -> str:
        return padded(self._tokens)


def padded(tokens: Sequence[str]) -> str:
    """All tokens and ends of lines, each between two spaces: a phrase is found by a plain substring count."""
    lines = "\n".join(tokens).replace("\n", " \n ")
    return f" {lines.replace(' ', '  ')} "


class InNumbers:
    """Goes only to the places of a phrase's rarest word."""

    def __init__(self, coded: Coded) -> None:
        assert coded.lined is not None
        self._number = coded.number
        self._codes = coded.lined
        """Numbers of the words, -1 at the end of each line."""
        self._places, self._starts = _by_number(self._codes)

    def count(self, words: Sequence[str]) -> int:
        return len(self._found(words))

    def holds(self, words: Sequence[str]) -> bool:
        return len(self._found(words)) > 0

    def _found(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Where the sequence begins."""
        numbers = [self._number(word) for word in words]
        spans = [(self._starts[n + 1], self._starts[n + 2]) for n in numbers]
        rarest = min(range(len(words)), key=lambda at: spans[at][1] - spans[at][0])
        begins = self._places[slice(*spans[rarest])] - rarest
        begins = begins[(begins >= 0) & (begins <= len(self._codes) - len(words))]
        for at, number in enumerate(numbers):
            if at != rarest:
                begins = begins[self._codes[begins + at] == number]
        return begins


def _by_number(codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places of each number from -1 on, ascending, and where those of each begin."""
    from scipy.sparse import csr_array

    # a sparse matrix of one row, turned round: sorts by counting
    size = len(codes)
    row = csr_array((np.arange(size), codes + 1, np.array([0, size])), shape=(1, int(codes.max(initial=-1)) + 2))
    turned = row.tocsc()
    return turned.data, turned.indptr.astype(np.int64)
