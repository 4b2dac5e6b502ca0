"""Phrase pairs: two phrases that are repeatedly close to each other in one document."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indexer.int_arrays import LOW_32_BITS, Ints, unique_keys
from indexer.text.phrase_search import PAIR_WINDOW

MAX_CHANCE_MEETINGS = 3
"""Two phrases that are close to each other this often or less in a document are no pair."""


def count_close_pairs(documents: Ints, positions: Ints, phrases: NDArray[np.int32]) -> tuple[Ints, Ints, Ints, Ints]:
    """Return document, first and second phrase (the smaller id first) and count of every pair, each of shape (pairs,).

    The arguments describe the segments of a batch of documents, by document and position ascending. The count of a
    pair is how often the rarer of its members has the other at most ``PAIR_WINDOW`` words away.
    """
    nothing = np.zeros(0, dtype=np.int64)
    if len(documents) == 0:
        return nothing, nothing, nothing, nothing
    keys, row, counts = np.unique(documents << 32 | phrases, return_inverse=True, return_counts=True)
    frequent = np.flatnonzero(counts[row] > MAX_CHANCE_MEETINGS)
    neighbours = [
        _find_close_segments(documents[frequent], positions[frequent], row[frequent], step)
        for step in range(1, PAIR_WINDOW + 1)
    ]
    first = frequent[np.concatenate([left for left, _ in neighbours])]
    second = frequent[np.concatenate([right for _, right in neighbours])]
    swap = row[first] > row[second]
    first, second = np.where(swap, second, first), np.where(swap, first, second)
    pairs, pair = np.unique(row[first] << 32 | row[second], return_inverse=True)
    meetings = np.minimum(
        _count_distinct_members(pair, first, len(pairs)), _count_distinct_members(pair, second, len(pairs))
    )
    is_close = meetings > MAX_CHANCE_MEETINGS
    first_keys, second_keys = keys[pairs[is_close] >> 32], keys[pairs[is_close] & LOW_32_BITS]
    return first_keys >> 32, first_keys & LOW_32_BITS, second_keys & LOW_32_BITS, meetings[is_close]


def _find_close_segments(documents: Ints, positions: Ints, phrase_rows: Ints, step: int) -> tuple[Ints, Ints]:
    """Return the segments i and i + ``step`` that are close to each other in one document and differ in phrase."""
    left = np.arange(len(documents) - step) if len(documents) > step else np.zeros(0, dtype=np.int64)
    right = left + step
    is_near = documents[left] == documents[right]
    is_near &= (positions[right] - positions[left] <= PAIR_WINDOW) & (phrase_rows[left] != phrase_rows[right])
    return left[is_near], right[is_near]


def _count_distinct_members(pair_numbers: Ints, member_numbers: Ints, pair_count: int) -> Ints:
    """Return how many different members each pair has, shape (size,)."""
    keys = unique_keys(pair_numbers << 32 | member_numbers)
    return np.bincount(keys >> 32, minlength=pair_count)
