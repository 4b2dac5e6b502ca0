"""Many short runs of numbers in one array, and where each begins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def starts_of(sizes: NDArray[np.int64] | Sequence[int]) -> NDArray[np.int64]:
    """Where runs of these sizes begin, and the end of the last; shape (runs + 1,)."""
    starts = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def ranges(starts: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The positions ``starts[i]:starts[i + 1]`` of every i of ``numbers``, one after another."""
    sizes = starts[numbers + 1] - starts[numbers]
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    shifts: NDArray[np.int64] = np.repeat(starts[numbers] - (ends - sizes), sizes)
    return shifts + np.arange(total, dtype=np.int64)
