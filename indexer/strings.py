"""Many strings in two arrays, so that they can be memory-mapped and read one at a time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

_BLOCK = 64
"""Sorted strings from one that is kept at hand to the next."""

_FACTOR, _TOGETHER = 0x9E3779B97F4A7C15, 16_384
"""Of hashes, and strings hashed at a time."""


@dataclass(frozen=True)
class Strings:
    """String i is the UTF-8 of ``blob[starts[i]:starts[i + 1]]``."""

    starts: NDArray[np.int64]
    """Shape (strings + 1,)."""
    blob: NDArray[np.uint8]

    @classmethod
    def of(cls, strings: Iterable[str]) -> Strings:
        return cls._of_raw([string.encode() for string in strings])

    @classmethod
    def _of_raw(cls, encoded: Sequence[bytes]) -> Strings:
        starts = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(string) for string in encoded], out=starts[1:])
        return cls(starts, np.frombuffer(b"".join(encoded), dtype=np.uint8))

    @cached_property
    def _bytes(self) -> memoryview:
        return self.blob.data

    @cached_property
    def _starts(self) -> memoryview:
        return self.starts.data  # a memoryview gives plain numbers, and one at a time that is quicker

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, i: int) -> str:
        return str(self._bytes[int(self.starts[i]) : int(self.starts[i + 1])], "utf-8")

    def take(self, numbers: NDArray[np.integer]) -> list[str]:
        data = self._bytes
        ends = self.starts[numbers + 1].tolist()
        return [str(data[start:end], "utf-8") for start, end in zip(self.starts[numbers].tolist(), ends, strict=True)]

    def all(self) -> list[str]:
        return self.take(np.arange(len(self)))

    def position(self, string: str) -> int:
        """Where it stands, or would stand, in strings that are sorted by code point."""
        wanted = string.encode("utf-8", "surrogatepass")
        block = _BLOCK * bisect_left(self._first_of_blocks, wanted)
        low, high = max(block - _BLOCK, 0), min(block, len(self))
        return bisect_left(range(high), wanted, low, key=self._raw)

    @cached_property
    def _first_of_blocks(self) -> list[bytes]:
        """So that few strings need to be read to find one."""
        return [self._raw(i) for i in range(0, len(self), _BLOCK)]

    def find_many(self, strings: Sequence[str]) -> NDArray[np.int64]:
        """The number of each of many, or -1; shape (strings,)."""
        raw = [string.encode("utf-8", "surrogatepass") for string in strings]
        known, order = self._hashed
        hashes = _hashes(self._of_raw(raw))
        first, after = (np.searchsorted(known, hashes, side=side) for side in ("left", "right"))
        likely = np.append(order, -1)[first].tolist()
        found = [
            self._among(name, order[low:high]) if high - low > 1 else at if high > low and self._raw(at) == name else -1
            for name, at, low, high in zip(raw, likely, first.tolist(), after.tolist(), strict=True)
        ]
        return np.array(found, dtype=np.int64)

    def _among(self, name: bytes, numbers: NDArray[np.int64]) -> int:
        return next((at for at in numbers.tolist() if self._raw(at) == name), -1)

    @cached_property
    def _hashed(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Hashes ascending, and which string each is of."""
        hashes = _hashes(self)
        order = np.argsort(hashes, kind="stable")
        return hashes[order], order

    def _raw(self, i: int) -> bytes:
        return bytes(self._bytes[self._starts[i] : self._starts[i + 1]])

    def find(self, string: str) -> int:
        """Its number in sorted strings, or -1."""
        at = self.position(string)
        return at if at < len(self) and self[at] == string else -1


def _hashes(strings: Strings) -> NDArray[np.uint64]:
    """A number of each string's bytes, the same for equal ones and hardly ever for others; shape (strings,)."""
    starts = strings.starts
    longest = int(np.diff(starts).max(initial=0))
    power = np.cumprod(np.full(longest, _FACTOR, dtype=np.uint64))
    found = [np.zeros(0, dtype=np.uint64)]
    for first in range(0, len(strings), _TOGETHER):
        own = starts[first : first + _TOGETHER + 1]
        within = np.arange(own[-1] - own[0]) - np.repeat(own[:-1] - own[0], np.diff(own))
        parts = (strings.blob[own[0] : own[-1]].astype(np.uint64) + np.uint64(1)) * power[within]
        sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(parts)])
        found.append(np.diff(sums[own - own[0]]))  # all modulo 2 ** 64
    return np.concatenate(found)
