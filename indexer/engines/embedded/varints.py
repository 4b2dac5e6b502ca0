"""Whole numbers in as few bytes as each needs: most words of a text are frequent ones, with small numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_BITS, _MORE = 7, 128
"""Each byte holds seven bits, the lowest first; all but the last of a number say that more follow."""


def encoded(values: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Numbers of at least 0 as bytes."""
    sizes = sizes_of(values)
    ends = np.cumsum(sizes)
    out = np.zeros(int(ends[-1]) if len(ends) else 0, dtype=np.uint8)
    first = ends - sizes
    for part in range(int(sizes.max(initial=0))):
        here = np.flatnonzero(sizes > part)
        more = np.where(sizes[here] > part + 1, _MORE, 0)
        out[first[here] + part] = (values[here] >> (_BITS * part)) & (_MORE - 1) | more
    return out


def sizes_of(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Bytes of each number."""
    sizes, bound = np.ones(len(values), dtype=np.int64), _MORE
    while len(values) and bound <= int(values.max()):
        sizes += values >= bound
        bound <<= _BITS
    return sizes


def decoded(data: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The numbers, and where the last byte of each stands."""
    ends = np.flatnonzero(data < _MORE)
    values = data[ends].astype(np.int64)
    if len(ends) == len(data):
        return values, ends
    first = np.empty_like(ends)
    first[:1] = 0
    first[1:] = ends[:-1] + 1
    at, back = np.flatnonzero(ends > first), 1
    while len(at):  # each number from its last byte to its first
        values[at] = values[at] << _BITS | (data[ends[at] - back] & (_MORE - 1))
        back += 1
        at = at[ends[at] - back >= first[at]]
    return values, ends
