"""A prefix tree (trie) of phrases in sorted arrays, walked for all positions of a text at once.

A trie or Aho-Corasick library would walk strings, position by position in Python; this takes word ids and numpy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.int_arrays import Ints
from indexer.text.tokenizer import Mark

_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class _TrieLevel:
    """Edges of the trie from one depth to the next."""

    keys: Ints
    """``node << 32 | word id``, ascending; the row of a key is the node it leads to."""
    phrase: NDArray[np.int32]
    """Phrase that ends at each node, or -1."""
    bloom_filter: NDArray[np.bool_]
    """False at the hash of a key that is surely not among ``keys``: saves most of the binary searches."""


class PhraseTrie:
    """Phrases as word ids, to be found in encoded texts."""

    def __init__(self, starts: Ints, word_ids: NDArray[np.int32], vocabulary_size: int) -> None:
        """Phrase p is ``word_ids[starts[p]:starts[p + 1]]``."""
        lengths = np.diff(starts)
        self.max_length = int(lengths.max(initial=1))
        self.single_word_phrase = np.full(vocabulary_size + 1, -1, dtype=np.int32)
        """Phrase that a word is by itself, or -1; the last entry is that of unknown words."""
        single = np.flatnonzero(lengths == 1)
        self.single_word_phrase[word_ids[starts[single]]] = single
        self.is_first_word = np.zeros(vocabulary_size + 1, dtype=np.bool_)
        multi = np.flatnonzero(lengths > 1)
        self.is_first_word[word_ids[starts[multi]]] = True
        self.levels: list[_TrieLevel] = []
        node = word_ids[starts[multi]].astype(np.int64)
        for depth in range(1, self.max_length):
            deep = lengths[multi] > depth
            multi, node = multi[deep], node[deep]
            keys = node << 32 | word_ids[starts[multi] + depth]
            unique, node = np.unique(keys, return_inverse=True)
            phrase = np.full(len(unique), -1, dtype=np.int32)
            ends = lengths[multi] == depth + 1
            phrase[node[ends]] = multi[ends]
            self.levels.append(_TrieLevel(unique, phrase, _build_bloom_filter(unique)))

    def find_matches(
        self, word_ids: NDArray[np.int32], marks: NDArray[np.uint8]
    ) -> tuple[Ints, Ints, NDArray[np.int32]]:
        """Return position, length and phrase of every occurrence of a multi-word phrase, nested ones included.

        ``word_ids`` has shape (tokens,), ``marks`` (tokens + 1,).
        """
        positions = np.flatnonzero(self.is_first_word[word_ids])
        node = word_ids[positions].astype(np.int64)
        matches: list[tuple[Ints, Ints, NDArray[np.int32]]] = []
        for depth, level in enumerate(self.levels, start=1):
            inside = positions + depth < len(word_ids)
            positions, node = positions[inside], node[inside]
            keep = (marks[positions + depth] & Mark.BOUNDARY) == 0
            positions, node = positions[keep], node[keep]
            keys = node << 32 | word_ids[positions + depth]
            keep = level.bloom_filter[_find_filter_positions(keys, len(level.bloom_filter))]
            positions, keys = positions[keep], keys[keep]
            row = np.minimum(np.searchsorted(level.keys, keys), max(len(level.keys) - 1, 0))
            keep = level.keys[row] == keys if len(level.keys) else np.zeros(len(keys), np.bool_)
            positions, node = positions[keep], row[keep]
            phrase = level.phrase[node]
            ends = phrase >= 0
            matches.append((positions[ends], np.full(int(ends.sum()), depth + 1, np.int64), phrase[ends]))
        if not matches:
            return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int32)
        position, length, phrase = (np.concatenate(column) for column in zip(*matches, strict=True))
        return position, length, phrase


def _choose_bloom_filter_bits(key_count: int) -> int:
    return max(8, int(np.ceil(np.log2(max(key_count, 1)))) + 3)


def _build_bloom_filter(keys: Ints) -> NDArray[np.bool_]:
    bloom_filter = np.zeros(1 << _choose_bloom_filter_bits(len(keys)), dtype=np.bool_)
    bloom_filter[_find_filter_positions(keys, len(bloom_filter))] = True
    return bloom_filter


def _find_filter_positions(keys: Ints, filter_size: int) -> NDArray[np.uint64]:
    """Return the position of each key in a filter whose length is a power of two."""
    shift = np.uint64(64 - (filter_size.bit_length() - 1))
    return (keys.view(np.uint64) * _HASH_FACTOR) >> shift
