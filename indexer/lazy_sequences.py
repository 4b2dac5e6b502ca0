"""Strings of which few are looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import overload


class Lazily(Sequence[str]):
    """Each is read when it is looked at: of a neighbourhood's hundreds of titles an answer names a handful."""

    def __init__(self, size: int, read: Callable[[int], str]) -> None:
        """``read`` gives the string of a place from 0 to ``size`` - 1."""
        self._places, self._read = range(size), read

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        places = self._places[at]
        return self._read(places) if isinstance(places, int) else [self._read(place) for place in places]
