"""Arrays on disk: one ``.npy`` file each, and raw files of numbers during a build."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import DTypeLike, NDArray


def memory_map_array(path: Path) -> NDArray[Any]:
    """Memory-map a ``.npy`` file for reading. Raise OSError or ValueError if it is missing or broken."""
    # a plain view: the memmap subclass makes every slice dearer
    array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False).view(np.ndarray)
    return array


def memory_map_raw_file(path: Path, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Memory-map a file of bare numbers, without a header, for reading."""
    if path.stat().st_size == 0:
        return np.zeros(0, dtype=dtype)
    return np.memmap(path, dtype=dtype, mode="r")


def create_mapped_array(path: Path, size: int, dtype: DTypeLike) -> NDArray[Any]:
    """Create a ``.npy`` file of ``size`` numbers and memory-map it for writing. Raise OSError if the disk is full."""
    if size == 0:
        save_array(path, np.zeros(0, dtype=dtype))
        return np.zeros(0, dtype=dtype)
    array: NDArray[Any] = open_memmap(path, mode="w+", dtype=dtype, shape=(size,))
    # a page for which a full disk has no room would end the process
    with path.open("r+b") as file:
        os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    return array


def save_array(path: Path, values: NDArray[np.generic]) -> None:
    """Write an array as a ``.npy`` file."""
    np.save(path, values, allow_pickle=False)
