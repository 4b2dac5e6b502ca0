"""Arrays on disk: written once in order, read in parts, so that memory holds only a part."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from indexer.errors import Unavailable

_SLICE = 1 << 20


class Spill:
    """Grows by ``append``; its file has no name and goes away with it."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        self._size = 0
        weakref.finalize(self, self._file.close)

    def append(self, values: NDArray[np.int32]) -> None:
        _write(self._file, values.tobytes())
        self._size += len(values)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, key: slice) -> NDArray[np.int32]:
        start, stop, _ = key.indices(self._size)
        return self._read(start, max(stop - start, 0))

    def take(self, positions: NDArray[np.int64]) -> NDArray[np.int32]:
        """Values at any positions, shape of ``positions``; the file is read once from front to back."""
        order = np.argsort(positions, kind="stable")
        ascending = positions[order]
        values = np.empty(len(positions), dtype=np.int32)
        for start in range(0, self._size, _SLICE):
            inside = slice(*np.searchsorted(ascending, [start, start + _SLICE]))
            if inside.start < inside.stop:
                values[order[inside]] = self[start : start + _SLICE][ascending[inside] - start]
        return values

    def _read(self, start: int, count: int) -> NDArray[np.int32]:
        # not from where the file stands: processes that share it would move each other
        return np.frombuffer(os.pread(self._file.fileno(), 4 * count, 4 * start), dtype=np.int32)


class Shelf:
    """Several arrays at a time, put one lot after the other; a process forked since reads any of them."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        self._lots: list[tuple[int, list[tuple[str, int]]]] = []
        self._end = 0
        weakref.finalize(self, self._file.close)

    def __len__(self) -> int:
        return len(self._lots)

    def put(self, arrays: Sequence[NDArray[Any]]) -> None:
        data = b"".join([array.tobytes() for array in arrays])
        _write(self._file, data)
        self._lots.append((self._end, [(array.dtype.str, len(array)) for array in arrays]))
        self._end += len(data)

    def get(self, lot: int) -> list[NDArray[Any]]:
        at, arrays = self._lots[lot]
        found = []
        for kind, size in arrays:
            data = os.pread(self._file.fileno(), np.dtype(kind).itemsize * size, at)
            found.append(np.frombuffer(data, dtype=kind))
            at += len(data)
        return found


def _write(file: IO[bytes], data: bytes) -> None:
    try:
        file.seek(0, 2)
        file.write(data)
        file.flush()
    except OSError as error:
        where = tempfile.gettempdir()
        raise Unavailable(f"cannot write to {where}: {error.strerror}", fix="free space there or set TMPDIR") from None
