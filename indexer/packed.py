"""Very many strings in one piece of memory: an object for each takes five times the room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

_END = ord("\n")


def pack(strings: Sequence[str]) -> NDArray[np.uint8]:
    """Strings as one UTF-8 byte array, a newline after each (none holds one)."""
    joined = "".join(s.replace("\n", " ") + "\n" for s in strings)
    return np.frombuffer(joined.encode("utf-8", "surrogatepass"), dtype=np.uint8)


def unpack(data: NDArray[np.uint8]) -> list[str]:
    return data.tobytes().decode("utf-8", "surrogatepass").split("\n")[:-1]


class Packed(Sequence[str]):
    """Strings of which few are looked at; each is made when it is."""

    def __init__(self, data: NDArray[np.uint8]) -> None:
        """``data`` as ``pack`` makes it."""
        self._data = data
        ends = np.flatnonzero(data == _END)
        self._ends = ends.astype(np.int32) if len(data) < 2**31 else ends

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        places = range(len(self))[at]
        return self._string(places) if isinstance(places, int) else [self._string(place) for place in places]

    def __iter__(self) -> Iterator[str]:
        return iter(unpack(self._data))

    def _string(self, at: int) -> str:
        start = int(self._ends[at - 1]) + 1 if at else 0
        return self._data[start : int(self._ends[at])].tobytes().decode("utf-8", "surrogatepass")
