"""The salient phrases of a stored document, made into objects only when looked at.

A comparison of two sets reads a hundred thousand of them and shows the places of a few dozen. Kept as bytes, the rest
is nothing that the garbage collector has to go through.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import starmap
from typing import Any, overload

import orjson

from indexer.documents import Salient


class StoredSalient(Sequence[Salient]):
    """Equal to a tuple of the same ones."""

    __slots__ = ("_packed", "_places", "_unpacked", "phrases", "salience")

    def __init__(self, rows: Sequence[Sequence[Any]]) -> None:
        """``rows`` as ``codec.pack`` writes them: phrase, salience, count, places."""
        self.phrases: tuple[str, ...] = tuple([row[0] for row in rows])
        self.salience: tuple[float, ...] = tuple([row[1] for row in rows])
        self._packed = orjson.dumps(rows)
        self._unpacked: list[list[Any]] | None = None
        self._places: dict[str, tuple[tuple[str, int, int], ...]] = {}

    def __len__(self) -> int:
        return len(self.phrases)

    @overload
    def __getitem__(self, at: int) -> Salient: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Salient, ...]: ...
    def __getitem__(self, at: int | slice) -> Salient | tuple[Salient, ...]:
        rows = self._rows()[at]
        return tuple(starmap(_salient, rows)) if isinstance(at, slice) else _salient(*rows)

    def __iter__(self) -> Iterator[Salient]:
        return starmap(_salient, self._rows())

    def places(self, phrase: str) -> tuple[tuple[str, int, int], ...]:
        """Where a phrase stands, if it is one of them; an answer asks for the same ones several times."""
        if phrase not in self.phrases:
            return ()
        found = self._places.get(phrase)
        if found is None:
            found = self._places[phrase] = tuple(map(tuple, self._rows()[self.phrases.index(phrase)][3]))
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # as Salient has none

    def __repr__(self) -> str:
        return repr(tuple(self))

    def _rows(self) -> list[list[Any]]:
        if self._unpacked is None:
            self._unpacked = orjson.loads(self._packed)
        return self._unpacked


def _salient(phrase: str, salience: float, count: int, at: Sequence[Sequence[Any]]) -> Salient:
    return Salient(phrase, salience, count, tuple(map(tuple, at)))


def weighed(salient: Sequence[Salient]) -> Iterable[tuple[str, float]]:
    """Each phrase with its salience."""
    if isinstance(salient, StoredSalient):
        return zip(salient.phrases, salient.salience, strict=True)
    return [(one.phrase, one.salience) for one in salient]


def first_places(salient: Sequence[Salient], phrase: str) -> Sequence[tuple[str, int, int]]:
    """Where the phrase stands, if it is one of them."""
    if isinstance(salient, StoredSalient):
        return salient.places(phrase)
    return next((one.at for one in salient if one.phrase == phrase), ())
