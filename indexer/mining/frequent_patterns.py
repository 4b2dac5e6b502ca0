"""Frequent contiguous patterns (n-grams of lemmas), level by level over positions.

A pattern of one word is the word itself (its id is the lemma's). A longer pattern is a shorter one and the word after
it; it is frequent only if both patterns one word shorter are, so level n looks only where two frequent patterns of
level n - 1 begin one word apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.int_arrays import range_positions
from indexer.runtime.memory import trim_heap

MAX_LENGTH = 5
"""Words of the longest pattern."""
_PARTITION_SIZE = 1 << 20
"""Positions sorted at a time: bounds the memory of a level."""
_NO_PARTITION = 255
_HASH_FACTOR = 31

LevelVisitor = Callable[[int, NDArray[np.int32]], None]
"""Called with a level and the pattern that begins at each position, shape (tokens,); -1: none, not so at level 1."""


@dataclass(frozen=True)
class FrequentPatterns:
    """Row p of every array is pattern p; rows are ordered by length, the first ones are the words."""

    count: NDArray[np.int32]
    prefix: NDArray[np.int32]
    """The pattern without its last word (-1 for a word)."""
    suffix: NDArray[np.int32]
    """The pattern without its first word (-1 for a word)."""
    level_starts: NDArray[np.int64]
    """Patterns of length n are rows level_starts[n - 1] to level_starts[n], shape (max length + 1,)."""

    @property
    def size(self) -> int:
        return len(self.count)


def choose_min_support(token_count: int) -> int:
    """Return the minimum count of a frequent pattern: 10, less in a small corpus."""
    return int(np.clip(round(2.5 * np.log10(max(token_count, 1)) - 8), 2, 10))


def find_frequent_patterns(
    lemma_ids: NDArray[np.int32],
    marks: NDArray[np.uint8],
    vocabulary_size: int,
    min_support: int,
    max_length: int = MAX_LENGTH,
    visit: LevelVisitor | None = None,
    may_contain: NDArray[np.bool_] | None = None,
) -> FrequentPatterns:
    """Find every word, and every pattern of 2 to ``max_length`` words that occurs ``min_support`` times or more.

    ``lemma_ids`` are the tokens, ``marks`` those before each token and after the last; ``may_contain``, shape
    (vocabulary_size,), restricts the words of longer patterns.
    """
    count = [np.bincount(lemma_ids, minlength=vocabulary_size).astype(np.int32)]
    prefix = [np.full(vocabulary_size, -1, dtype=np.int32)]
    suffix = [np.full(vocabulary_size, -1, dtype=np.int32)]
    level_starts = [0, vocabulary_size]
    is_usable = count[0] >= min_support if may_contain is None else (count[0] >= min_support) & may_contain
    if visit:
        visit(1, lemma_ids)
    pattern_at = lemma_ids
    for n in range(1, max_length):
        pattern_at, *new = _extend_patterns(pattern_at, lemma_ids, marks, n, min_support, level_starts[-1], is_usable)
        for parts, part in zip((count, prefix, suffix), new, strict=True):
            parts.append(part)
        level_starts.append(level_starts[-1] + len(new[0]))
        if visit:
            visit(n + 1, pattern_at)
        trim_heap()
    return FrequentPatterns(
        np.concatenate(count), np.concatenate(prefix), np.concatenate(suffix), np.array(level_starts)
    )


def _extend_patterns(
    pattern_at: NDArray[np.int32],
    lemma_ids: NDArray[np.int32],
    marks: NDArray[np.uint8],
    pattern_length: int,
    min_support: int,
    first_new_id: int,
    is_usable_word: NDArray[np.bool_],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Return the patterns of length n + 1 by position, and their counts, prefixes and suffixes.

    ``first_new_id`` is the id of the first of them; ``is_usable_word`` says which words a pattern may contain.
    """
    longer_at = np.full(len(pattern_at), -1, dtype=np.int32)
    partitions = min(-(-max(len(pattern_at), 1) // _PARTITION_SIZE), _NO_PARTITION)
    partition_of = _assign_partitions(pattern_at, marks, pattern_length, partitions, is_usable_word)
    parts: list[tuple[NDArray[np.int32], ...]] = []
    for partition in range(partitions):
        positions = np.flatnonzero(partition_of == partition)
        part = _count_partition_patterns(
            pattern_at, lemma_ids, positions, pattern_length, min_support, first_new_id, longer_at
        )
        parts.append(part)
        first_new_id += len(part[0])
    counts, prefixes, suffixes = (np.concatenate(column) for column in zip(*parts, strict=True))
    return longer_at, counts, prefixes, suffixes


def _assign_partitions(
    pattern_at: NDArray[np.int32],
    marks: NDArray[np.uint8],
    pattern_length: int,
    partition_count: int,
    is_usable_word: NDArray[np.bool_],
) -> NDArray[np.uint8]:
    """Return the partition that counts the pattern at each position, ``_NO_PARTITION`` where none can be; (tokens,)."""
    partition_of = np.full(len(pattern_at), _NO_PARTITION, dtype=np.uint8)
    for start in range(0, len(pattern_at) - 1, _PARTITION_SIZE):
        end = min(start + _PARTITION_SIZE, len(pattern_at) - 1)
        here, following = pattern_at[start:end], pattern_at[start + 1 : end + 1]
        if pattern_length == 1:
            joinable = is_usable_word[here] & is_usable_word[following] & ((marks[start + 1 : end + 1] & 1) == 0)
        else:
            joinable = (here >= 0) & (following >= 0)
        # Of both patterns: one frequent word alone would make its partition too large.
        mixed = here[joinable].astype(np.int64) * _HASH_FACTOR + following[joinable]
        partition_of[start:end][joinable] = mixed % partition_count
    return partition_of


def _count_partition_patterns(
    pattern_at: NDArray[np.int32],
    lemma_ids: NDArray[np.int32],
    positions: NDArray[np.int64],
    pattern_length: int,
    min_support: int,
    first_new_id: int,
    longer_at: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Count the patterns that begin at ``positions``; write the ids of frequent ones into ``longer_at``."""
    # in place and freed early: this is where mining needs most memory
    keys = pattern_at[positions].astype(np.int64)
    keys <<= 32
    keys |= lemma_ids[positions + pattern_length]
    order = np.argsort(keys)  # brings equal keys together; which of them comes first does not matter
    keys = keys[order]
    first, counts = _find_frequent_runs(keys, min_support)
    occurrences = order[range_positions(first, counts)]
    longer_at[positions[occurrences]] = np.repeat(
        np.arange(first_new_id, first_new_id + len(first), dtype=np.int32), counts
    )
    return counts, (keys[first] >> 32).astype(np.int32), pattern_at[positions[order[first]] + 1]


def _find_frequent_runs(
    sorted_keys: NDArray[np.int64], min_support: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the first index and the count of each key that occurs ``min_support`` times or more."""
    is_first = np.ones(len(sorted_keys), dtype=np.bool_)
    np.not_equal(sorted_keys[1:], sorted_keys[:-1], out=is_first[1:])
    starts = np.flatnonzero(is_first)
    counts = np.diff(starts, append=len(sorted_keys)).astype(np.int32)
    frequent = counts >= min_support
    return starts[frequent], counts[frequent]
