"""Finding the model's phrases in coded text: a prefix tree in sorted arrays, walked for all positions at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class _Step:
    """The tree's edges from one level to the next."""

    keys: NDArray[np.int64]
    """Node << 32 | word, ascending."""
    phrase: NDArray[np.int32]
    """The phrase that ends here, or -1."""
    sieve: NDArray[np.bool_]
    """False: surely no such key. Spares most of the binary searches."""


class PhraseIndex:
    """Phrases as word numbers, to be found in texts."""

    def __init__(self, starts: NDArray[np.int64], words: NDArray[np.int32], vocabulary: int) -> None:
        """Phrase p is ``words[starts[p]:starts[p + 1]]``."""
        lengths = np.diff(starts)
        self.longest = int(lengths.max(initial=1))
        self.single = np.full(vocabulary + 1, -1, dtype=np.int32)
        one = np.flatnonzero(lengths == 1)
        self.single[words[starts[one]]] = one
        self.first = np.zeros(vocabulary + 1, dtype=np.bool_)
        multi = np.flatnonzero(lengths > 1)
        self.first[words[starts[multi]]] = True
        self.steps: list[_Step] = []
        node = words[starts[multi]].astype(np.int64)
        for depth in range(1, self.longest):
            deep = lengths[multi] > depth
            multi, node = multi[deep], node[deep]
            keys = node << 32 | words[starts[multi] + depth]
            unique, node = np.unique(keys, return_inverse=True)
            phrase = np.full(len(unique), -1, dtype=np.int32)
            ends = lengths[multi] == depth + 1
            phrase[node[ends]] = multi[ends]
            self.steps.append(_Step(unique, phrase, _sieve(unique)))

    def matches(
        self, words: NDArray[np.int32], marks: NDArray[np.uint8]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
        """Every occurrence of a multi-word phrase, nested ones included: position, length, phrase."""
        positions = np.flatnonzero(self.first[words])
        node = words[positions].astype(np.int64)
        found: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]] = []
        for depth, step in enumerate(self.steps, start=1):
            inside = positions + depth < len(words)
            positions, node = positions[inside], node[inside]
            keep = (marks[positions + depth] & 1) == 0
            positions, node = positions[keep], node[keep]
            keys = node << 32 | words[positions + depth]
            keep = step.sieve[_hash(keys, step.sieve)]
            positions, keys = positions[keep], keys[keep]
            row = np.minimum(np.searchsorted(step.keys, keys), max(len(step.keys) - 1, 0))
            keep = step.keys[row] == keys if len(step.keys) else np.zeros(len(keys), np.bool_)
            positions, node = positions[keep], row[keep]
            phrase = step.phrase[node]
            ends = phrase >= 0
            found.append((positions[ends], np.full(int(ends.sum()), depth + 1, np.int64), phrase[ends]))
        if not found:
            return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int32)
        at, length, phrase = (np.concatenate(column) for column in zip(*found, strict=True))
        return at, length, phrase


def _bits(size: int) -> int:
    return max(8, int(np.ceil(np.log2(max(size, 1)))) + 3)


def _sieve(keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    sieve = np.zeros(1 << _bits(len(keys)), dtype=np.bool_)
    sieve[_hash(keys, sieve)] = True
    return sieve


def _hash(keys: NDArray[np.int64], sieve: NDArray[np.bool_]) -> NDArray[np.uint64]:
    shift = np.uint64(64 - (len(sieve).bit_length() - 1))
    return (keys.view(np.uint64) * _ODD) >> shift
