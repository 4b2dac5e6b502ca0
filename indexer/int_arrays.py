"""Sets of integer keys, by sorting: faster than hashing for the millions of keys mining has."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

LOW = 0xFFFFFFFF
"""Keys are two numbers in one: the first << 32 | the second."""


def distinct(keys: Ints) -> Ints:
    """The distinct keys, ascending."""
    ordered = np.sort(keys)
    return ordered[_starts(ordered)]


def counted(keys: Ints) -> tuple[Ints, Ints]:
    """The distinct keys, ascending, and how often each occurs."""
    ordered = np.sort(keys)
    starts = np.flatnonzero(_starts(ordered))
    return ordered[starts], np.diff(np.append(starts, len(ordered)))


def _starts(ordered: Ints) -> NDArray[np.bool_]:
    starts = np.ones(len(ordered), dtype=np.bool_)
    starts[1:] = ordered[1:] != ordered[:-1]
    return starts
