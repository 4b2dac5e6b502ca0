"""Helpers over int64 arrays: sets of packed keys by sorting, and rows of different lengths in one array (CSR).

Sorting beats hashing (``np.unique`` with counts, dicts) for the millions of keys that mining has.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

LOW_32_BITS = 0xFFFFFFFF
"""Mask of the second number of a packed key, ``first << 32 | second``."""


def unique_keys(keys: Ints) -> Ints:
    """Return the distinct keys, ascending."""
    ordered = np.sort(keys)
    return ordered[_mark_first_of_runs(ordered)]


def count_keys(keys: Ints) -> tuple[Ints, Ints]:
    """Return the distinct keys, ascending, and how often each occurs."""
    ordered = np.sort(keys)
    starts = np.flatnonzero(_mark_first_of_runs(ordered))
    return ordered[starts], np.diff(np.append(starts, len(ordered)))


def _mark_first_of_runs(ordered: Ints) -> NDArray[np.bool_]:
    is_first = np.ones(len(ordered), dtype=np.bool_)
    is_first[1:] = ordered[1:] != ordered[:-1]
    return is_first


def csr_starts(lengths: Ints | Sequence[int]) -> Ints:
    """Return the start of each row of these lengths and the end of the last one, shape (rows + 1,)."""
    starts = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def csr_positions(starts: Ints, rows: NDArray[np.integer]) -> Ints:
    """Return the positions ``starts[row]:starts[row + 1]`` of every row of ``rows``, concatenated."""
    return range_positions(starts[rows], starts[rows + 1] - starts[rows])


def range_positions(starts: NDArray[np.integer], lengths: NDArray[np.integer]) -> Ints:
    """Return the ``lengths[i]`` positions from ``starts[i]`` on of every range i, concatenated."""
    ends = np.cumsum(lengths, dtype=np.int64)
    positions: Ints = np.repeat(starts - (ends - lengths), lengths)
    positions += np.arange(len(positions), dtype=np.int64)
    return positions
