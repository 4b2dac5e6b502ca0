"""Sequences of strings that are decoded when they are read: by a callback, or from one of two compact tables.

``NewlineStringTable`` takes a fifth of the memory of a list of ``str``. ``OffsetStringTable`` can be memory-mapped and
finds a string by reading a few others; a dict would have to be built, and held, by every process.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

_NEWLINE = ord("\n")

_BLOCK_SIZE = 64
"""One of this many sorted strings is kept in memory, to narrow a search."""
_HASH_FACTOR = 0x9E3779B97F4A7C15
"""Base of the polynomial hash of a string's bytes, modulo 2**64."""
_HASH_BATCH_SIZE = 16_384
"""Strings hashed at a time."""


class LazySequence(Sequence[str]):
    """Strings that a callback reads one by one: of a neighbourhood's hundreds of titles an answer names a handful."""

    def __init__(self, size: int, read_item: Callable[[int], str]) -> None:
        """``read_item`` returns the string at an index from 0 to ``size`` - 1."""
        self._indexes, self._read_item = range(size), read_item

    def __len__(self) -> int:
        return len(self._indexes)

    @overload
    def __getitem__(self, key: int) -> str: ...
    @overload
    def __getitem__(self, key: slice) -> list[str]: ...
    def __getitem__(self, key: int | slice) -> str | list[str]:
        indexes = self._indexes[key]
        return self._read_item(indexes) if isinstance(indexes, int) else [self._read_item(i) for i in indexes]


def pack_strings(strings: Sequence[str]) -> NDArray[np.uint8]:
    """Return the strings as one UTF-8 byte array with a newline after each; a newline inside becomes a space."""
    joined = "".join(s.replace("\n", " ") + "\n" for s in strings)
    return np.frombuffer(joined.encode("utf-8", "surrogatepass"), dtype=np.uint8)


def unpack_strings(data: NDArray[np.uint8]) -> list[str]:
    """Return the strings that ``pack_strings`` packed."""
    return data.tobytes().decode("utf-8", "surrogatepass").split("\n")[:-1]


class NewlineStringTable(Sequence[str]):
    """Strings in one byte array, as ``pack_strings`` makes it, each decoded when it is read."""

    def __init__(self, data: NDArray[np.uint8]) -> None:
        self._data = data
        ends = np.flatnonzero(data == _NEWLINE)
        self._ends = ends.astype(np.int32) if len(data) < 2**31 else ends

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, key: int) -> str: ...
    @overload
    def __getitem__(self, key: slice) -> list[str]: ...
    def __getitem__(self, key: int | slice) -> str | list[str]:
        indexes = range(len(self))[key]
        return self._read_string(indexes) if isinstance(indexes, int) else [self._read_string(i) for i in indexes]

    def __iter__(self) -> Iterator[str]:
        return iter(unpack_strings(self._data))

    def _read_string(self, i: int) -> str:
        start = int(self._ends[i - 1]) + 1 if i else 0
        return self._data[start : int(self._ends[i])].tobytes().decode("utf-8", "surrogatepass")


@dataclass(frozen=True)
class OffsetStringTable:
    """Strings in two arrays: string i is the UTF-8 of ``blob[starts[i]:starts[i + 1]]``."""

    starts: NDArray[np.int64]
    """Shape (strings + 1,)."""
    blob: NDArray[np.uint8]

    @classmethod
    def from_strings(cls, strings: Iterable[str]) -> OffsetStringTable:
        return cls._from_bytes([string.encode() for string in strings])

    @classmethod
    def _from_bytes(cls, encoded: Sequence[bytes]) -> OffsetStringTable:
        starts = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(string) for string in encoded], out=starts[1:])
        return cls(starts, np.frombuffer(b"".join(encoded), dtype=np.uint8))

    @cached_property
    def _blob_view(self) -> memoryview:
        return self.blob.data

    @cached_property
    def _starts_view(self) -> memoryview:
        return self.starts.data  # read one at a time, a memoryview is faster: it returns plain ints

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, i: int) -> str:
        return str(self._blob_view[self._starts_view[i] : self._starts_view[i + 1]], "utf-8")

    def take(self, rows: NDArray[np.integer]) -> list[str]:
        """Return the strings of these rows."""
        data = self._blob_view
        ends = self.starts[rows + 1].tolist()
        return [str(data[start:end], "utf-8") for start, end in zip(self.starts[rows].tolist(), ends, strict=True)]

    def to_list(self) -> list[str]:
        return self.take(np.arange(len(self)))

    def find(self, string: str) -> int:
        """Return the row of a string, or -1; the strings must be sorted by code point."""
        row = self.find_insertion_point(string)
        return row if row < len(self) and self[row] == string else -1

    def find_insertion_point(self, string: str) -> int:
        """Return the row where a string is, or would be inserted; the strings must be sorted by code point."""
        encoded = string.encode("utf-8", "surrogatepass")
        block = _BLOCK_SIZE * bisect_left(self._block_heads, encoded)
        low, high = max(block - _BLOCK_SIZE, 0), min(block, len(self))
        return bisect_left(range(high), encoded, low, key=self._read_bytes)

    @cached_property
    def _block_heads(self) -> list[bytes]:
        """First string of each block of ``_BLOCK_SIZE``, so that a search reads few others."""
        return [self._read_bytes(i) for i in range(0, len(self), _BLOCK_SIZE)]

    def find_many(self, strings: Sequence[str]) -> NDArray[np.int64]:
        """Return the row of each string, or -1, in any order of the table; shape (strings,)."""
        encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
        known, order = self._sorted_hashes
        hashes = hash_strings(self._from_bytes(encoded))
        first, after = (np.searchsorted(known, hashes, side=side) for side in ("left", "right"))
        first_rows = np.append(order, -1)[first].tolist()
        rows = [
            self._find_among(string, order[low:high])
            if high - low > 1
            else (row if high > low and self._read_bytes(row) == string else -1)
            for string, row, low, high in zip(encoded, first_rows, first.tolist(), after.tolist(), strict=True)
        ]
        return np.array(rows, dtype=np.int64)

    def _find_among(self, string: bytes, rows: NDArray[np.int64]) -> int:
        return next((row for row in rows.tolist() if self._read_bytes(row) == string), -1)

    @cached_property
    def _sorted_hashes(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Hashes of all strings, ascending, and the row of each."""
        hashes = hash_strings(self)
        order = np.argsort(hashes, kind="stable")
        return hashes[order], order

    def _read_bytes(self, i: int) -> bytes:
        return bytes(self._blob_view[self._starts_view[i] : self._starts_view[i + 1]])


def hash_strings(strings: OffsetStringTable) -> NDArray[np.uint64]:
    """Return a polynomial hash of the bytes of each string, shape (strings,)."""
    starts = strings.starts
    max_length = int(np.diff(starts).max(initial=0))
    powers = np.cumprod(np.full(max_length, _HASH_FACTOR, dtype=np.uint64))
    hashes = [np.zeros(0, dtype=np.uint64)]
    for first in range(0, len(strings), _HASH_BATCH_SIZE):
        own = starts[first : first + _HASH_BATCH_SIZE + 1]
        within = np.arange(own[-1] - own[0]) - np.repeat(own[:-1] - own[0], np.diff(own))
        terms = (strings.blob[own[0] : own[-1]].astype(np.uint64) + np.uint64(1)) * powers[within]
        sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(terms)])
        hashes.append(np.diff(sums[own - own[0]]))  # all modulo 2 ** 64
    return np.concatenate(hashes)
