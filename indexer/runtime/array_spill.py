"""Arrays in nameless temporary files: appended to, then read in parts, so that memory holds only a part.

Reads go by offset (``pread``), so that forked processes that share a file do not move each other's position;
``numpy.memmap`` needs a size in advance and counts towards the memory of a process.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from indexer.errors import Unavailable

_SLICE_LENGTH = 1 << 20
"""Values read at a time by ``ArraySpill.take``."""


class ArraySpill:
    """One int32 array on disk that grows by ``append`` and is removed with this object."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        self._length = 0
        weakref.finalize(self, self._file.close)

    def append(self, values: NDArray[np.int32]) -> None:
        _append_bytes(self._file, values.tobytes())
        self._length += len(values)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, key: slice) -> NDArray[np.int32]:
        start, stop, _ = key.indices(self._length)
        return self._read_range(start, max(stop - start, 0))

    def take(self, positions: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the values at any positions, in the shape of ``positions``; reads the file once from front to back."""
        order = np.argsort(positions, kind="stable")
        ascending = positions[order]
        values = np.empty(len(positions), dtype=np.int32)
        for start in range(0, self._length, _SLICE_LENGTH):
            inside = slice(*np.searchsorted(ascending, [start, start + _SLICE_LENGTH]))
            if inside.start < inside.stop:
                values[order[inside]] = self[start : start + _SLICE_LENGTH][ascending[inside] - start]
        return values

    def _read_range(self, start: int, count: int) -> NDArray[np.int32]:
        return np.frombuffer(os.pread(self._file.fileno(), 4 * count, 4 * start), dtype=np.int32)


class ArraySpool:
    """Groups of arrays on disk, appended one by one; processes forked afterwards can read them."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        self._groups: list[tuple[int, list[tuple[str, int]]]] = []
        """Offset in the file of each group, and dtype and length of its arrays."""
        self._end = 0
        weakref.finalize(self, self._file.close)

    def __len__(self) -> int:
        return len(self._groups)

    def append(self, arrays: Sequence[NDArray[Any]]) -> None:
        data = b"".join([array.tobytes() for array in arrays])
        _append_bytes(self._file, data)
        self._groups.append((self._end, [(array.dtype.str, len(array)) for array in arrays]))
        self._end += len(data)

    def read(self, group_number: int, array_count: int | None = None) -> list[NDArray[Any]]:
        """Return the arrays of a group, counted from 0 in the order they were appended, or the first few of them."""
        offset, layout = self._groups[group_number]
        arrays = []
        for dtype, length in layout[:array_count]:
            data = os.pread(self._file.fileno(), np.dtype(dtype).itemsize * length, offset)
            arrays.append(np.frombuffer(data, dtype=dtype))
            offset += len(data)
        return arrays


def _append_bytes(file: IO[bytes], data: bytes) -> None:
    """Append to the file, or raise Unavailable if the disk is full or fails."""
    with translate_temporary_file_errors():
        file.seek(0, 2)
        file.write(data)
        file.flush()


@contextmanager
def translate_temporary_file_errors() -> Iterator[None]:
    """Translate OSError into Unavailable, for writing temporary files."""
    try:
        yield
    except OSError as error:
        where = tempfile.gettempdir()
        raise Unavailable(f"cannot write to {where}: {error.strerror}", fix="free space there or set TMPDIR") from None
