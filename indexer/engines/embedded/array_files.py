"""Arrays of an epoch on disk: read as they were written, made to be filled, saved whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray


def raw(path: Path, kind: type[np.generic]) -> NDArray[Any]:
    """What stands in a file of nothing but numbers, mapped."""
    if path.stat().st_size == 0:
        return np.zeros(0, dtype=kind)
    return np.memmap(path, dtype=kind, mode="r")


def create(path: Path, size: int, kind: type[np.generic]) -> NDArray[Any]:
    """An array of this size to be filled, mapped."""
    if size == 0:
        save(path, np.zeros(0, dtype=kind))
        return np.zeros(0, dtype=kind)
    created: NDArray[Any] = open_memmap(path, mode="w+", dtype=kind, shape=(size,))
    return created


def save(path: Path, values: NDArray[np.generic]) -> None:
    np.save(path, values, allow_pickle=False)
