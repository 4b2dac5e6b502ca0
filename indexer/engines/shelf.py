"""Documents of a large set, read only as far as they are looked at.

A comparison of two sets asks a few things of every one of thousands of documents (words, phrases, salience) and shows
the text of a handful. An engine that keeps those few things as arrays puts the documents on a shelf: what is asked of
all is answered at once, and a document is read as it was stored when something else of it is wanted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.documents import AnalysedDocument, Document

Places = NDArray[np.int64]
"""Which documents of a shelf, shape (documents,)."""


class Words(NamedTuple):
    """The words of some documents, one document after another."""

    lined: NDArray[np.int64]
    """Their numbers in the epoch's model, and -1 after the last word of each line."""
    lengths: NDArray[np.int64]
    """Words of each document, shape (documents,)."""


class Weights(NamedTuple):
    """A number for some phrases of each of some documents, one document after another, in the order stored."""

    rows: NDArray[np.int64]
    """Which phrase, as the shelf numbers them."""
    values: NDArray[np.float64]
    sizes: NDArray[np.int64]
    """Phrases of each document, shape (documents,)."""


class Shelf(ABC):
    """Many documents of one epoch, named by their places."""

    @abstractmethod
    def words(self, places: Places) -> Words: ...

    @abstractmethod
    def edges(self, places: Places) -> Weights:
        """The phrases of each document with their BM25."""

    @abstractmethod
    def salience(self, places: Places) -> Weights:
        """The salient phrases of each document with their salience."""

    @abstractmethod
    def row(self, phrase: str) -> int | None:
        """The shelf's number of a phrase; None for one that no document has."""

    @abstractmethod
    def phrase(self, row: int) -> str: ...

    @abstractmethod
    def tokens(self, place: int) -> str: ...

    @abstractmethod
    def whole(self, place: int) -> AnalysedDocument:
        """A document as it was stored."""


class ShelvedDocument(AnalysedDocument):
    """Like any other; what it was not given is looked up when asked for."""

    __slots__ = ("place", "shelf")
    place: int
    shelf: Shelf

    @classmethod
    def of(
        cls, shelf: Shelf, place: int, id: str, acl: tuple[str, ...], degree: float, version: str
    ) -> AnalysedDocument:
        head, made, give = _Head.__new__(_Head), cls.__new__(cls), object.__setattr__
        for one in (head, made):
            give(one, "shelf", shelf)
            give(one, "place", place)
        give(head, "id", id)
        give(head, "acl", acl)
        give(made, "document", head)
        give(made, "degree", degree)
        give(made, "version", version)
        return made

    def __getattr__(self, name: str) -> Any:
        if name in ("shelf", "place"):  # a copy with other values stands on no shelf
            raise AttributeError(name)
        if name != "tokens":
            return getattr(self.shelf.whole(self.place), name)
        tokens = self.shelf.tokens(self.place)
        object.__setattr__(self, name, tokens)  # asked for again and again, by one phrase after another
        return tokens

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AnalysedDocument) and _values(self, AnalysedDocument) == _values(
            other, AnalysedDocument
        )

    __hash__ = None  # type: ignore[assignment]  # as a document's facets have none


class _Head(Document):
    """The document itself, of which id and rights are known."""

    __slots__ = ("place", "shelf")
    place: int
    shelf: Shelf

    def __getattr__(self, name: str) -> Any:
        if name in ("shelf", "place"):
            raise AttributeError(name)
        return getattr(self.shelf.whole(self.place).document, name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Document) and _values(self, Document) == _values(other, Document)

    __hash__ = None  # type: ignore[assignment]


def _values(one: object, kind: type[Any]) -> list[Any]:
    return [getattr(one, field.name) for field in fields(kind)]


def shelf_of(documents: Sequence[AnalysedDocument]) -> tuple[Shelf, Places] | None:
    """The one shelf that all of the documents stand on, and their places; None where they do not."""
    shelves = {getattr(document, "shelf", None) for document in documents}
    shelf = shelves.pop() if len(shelves) == 1 else None
    if shelf is None:
        return None
    return shelf, np.array([document.place for document in documents], dtype=np.int64)  # type: ignore[attr-defined]
