"""An array of numbers on disk: written once in order, read in slices, so that memory holds only a slice."""

from __future__ import annotations

import os
import tempfile
import weakref

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
        try:
            self._file.seek(0, 2)
            self._file.write(values.tobytes())
            self._file.flush()
        except OSError as error:
            where = tempfile.gettempdir()
            raise Unavailable(
                f"cannot write to {where}: {error.strerror}", fix="free space there or set TMPDIR"
            ) from None
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
