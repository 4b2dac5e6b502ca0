"""Documents that are decoded only as far as they are read, for comparisons of large sets.

A comparison of two sets of 1,000 documents needs the words, edges and salience of every document, but shows the text
of a handful and the spans of a few dozen phrases. ``DocumentColumns`` gives the first as arrays over many documents,
``LazyDocument`` reads the stored document when another field is asked for, and ``LazySalientPhrases`` keeps the salient
phrases of a stored document as they are stored until one of them is read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import starmap
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from indexer.documents import PAIR_SEPARATOR, AnalysedDocument, Document, SalientPhrase, TextPhrase

Positions = NDArray[np.int64]
"""Positions of documents in their DocumentColumns, shape (documents,)."""


class EncodedLines(NamedTuple):
    """Words of several documents as ids, one document after another."""

    word_ids: NDArray[np.int64]
    """Word ids of the epoch's model, with -1 after the last word of each line; shape (words + lines,)."""
    word_counts: NDArray[np.int64]
    """Words of each document, shape (documents,)."""


class PhraseWeights(NamedTuple):
    """Phrases of several documents with a number each, one document after another, in the order stored."""

    rows: NDArray[np.int64]
    """Row of each phrase in the phrase graph, shape (phrases of all documents,)."""
    values: NDArray[np.float64]
    """BM25 or salience of each phrase, shape (phrases of all documents,)."""
    counts: NDArray[np.int64]
    """Phrases of each document, shape (documents,)."""


class DocumentColumns(ABC):
    """Column access to many documents of one epoch, addressed by position."""

    @abstractmethod
    def get_lines(self, positions: Positions) -> EncodedLines:
        """Return the words of each document."""

    @abstractmethod
    def get_edges(self, positions: Positions) -> PhraseWeights:
        """Return the phrases of each document with their BM25."""

    @abstractmethod
    def get_salience(self, positions: Positions) -> PhraseWeights:
        """Return the salient phrases of each document with their salience."""

    @abstractmethod
    def find_phrase_row(self, phrase: str) -> int | None:
        """Return the row of a phrase in the phrase graph, or None if no document has the phrase."""

    @abstractmethod
    def get_phrase(self, row: int) -> str:
        """Return the phrase of a row."""

    @abstractmethod
    def get_tokens(self, position: int) -> str:
        """Return the tokens of a document, as ``AnalysedDocument.tokens``."""

    @abstractmethod
    def read_document(self, position: int) -> AnalysedDocument:
        """Read a document from the store, with all its fields."""


class LazyDocument(AnalysedDocument):
    """An analysed document that reads tokens, phrases, weights and salient phrases when they are asked for."""

    __slots__ = ("_degree", "_document", "_tokens", "_version", "columns", "position")
    __setattr__ = object.__setattr__  # the base class is frozen, which would forbid __init__ as well

    def __init__(
        self, columns: DocumentColumns, position: int, id: str, acl: tuple[str, ...], degree: float, version: str
    ) -> None:
        self.columns = columns
        self.position = position
        self._document = _LazyContent(columns, position, id, acl)
        self._degree = degree
        self._version = version
        self._tokens: str | None = None

    @property
    def document(self) -> Document:
        return self._document

    @property
    def degree(self) -> float:
        return self._degree

    @property
    def version(self) -> str:
        return self._version

    @property
    def tokens(self) -> str:
        if self._tokens is None:  # asked for again by each phrase that is located
            self._tokens = self.columns.get_tokens(self.position)
        return self._tokens

    @property
    def phrases(self) -> tuple[str, ...]:
        return self.columns.read_document(self.position).phrases

    @property
    def weights(self) -> tuple[float, ...]:
        return self.columns.read_document(self.position).weights

    @property
    def salient(self) -> Sequence[SalientPhrase]:
        return self.columns.read_document(self.position).salient

    @property
    def text_phrases(self) -> Sequence[TextPhrase]:
        return self.columns.read_document(self.position).text_phrases

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AnalysedDocument) and _has_equal_fields(self, other, AnalysedDocument)

    __hash__ = None  # type: ignore[assignment]  # as a document's facets have none


class _LazyContent(Document):
    """The document of a LazyDocument: id and acl are known, the other fields are read when they are asked for."""

    __slots__ = ("_acl", "_id", "columns", "position")
    __setattr__ = object.__setattr__

    def __init__(self, columns: DocumentColumns, position: int, id: str, acl: tuple[str, ...]) -> None:
        self.columns = columns
        self.position = position
        self._id = id
        self._acl = acl

    @property
    def id(self) -> str:
        return self._id

    @property
    def acl(self) -> tuple[str, ...]:
        return self._acl

    def _read_document(self) -> Document:
        return self.columns.read_document(self.position).document

    @property
    def title(self) -> str:
        return self._read_document().title

    @property
    def text(self) -> str:
        return self._read_document().text

    @property
    def date(self) -> str | None:
        return self._read_document().date

    @property
    def url(self) -> str | None:
        return self._read_document().url

    @property
    def facets(self) -> Mapping[str, Sequence[str]]:
        return self._read_document().facets

    @property
    def extra(self) -> Mapping[str, Any]:
        return self._read_document().extra

    @property
    def revision(self) -> str | None:
        return self._read_document().revision

    @property
    def vector(self) -> bytes | None:
        return self._read_document().vector

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Document) and _has_equal_fields(self, other, Document)

    __hash__ = None  # type: ignore[assignment]


def _has_equal_fields(left: object, right: object, kind: type[Any]) -> bool:
    return all(getattr(left, field.name) == getattr(right, field.name) for field in fields(kind))


def find_shared_columns(documents: Sequence[AnalysedDocument]) -> tuple[DocumentColumns, Positions] | None:
    """Return the columns that all documents belong to and their positions, or None if they do not share any."""
    lazy = [document for document in documents if isinstance(document, LazyDocument)]
    if len(lazy) < len(documents) or len({document.columns for document in lazy}) != 1:
        return None
    return lazy[0].columns, np.array([document.position for document in lazy], dtype=np.int64)


class LazySalientPhrases(Sequence[SalientPhrase]):
    """The salient phrases of a stored document; equal to a tuple of equal phrases."""

    __slots__ = ("_rows", "counts", "phrases", "salience")

    def __init__(self, rows: Sequence[Sequence[Any]]) -> None:
        """``rows``: phrase, salience, count and spans of each, as ``document_codec`` stores them."""
        self.phrases: tuple[str, ...] = tuple([row[0] for row in rows])
        self.salience: tuple[float, ...] = tuple([row[1] for row in rows])
        self.counts: tuple[int, ...] = tuple([row[2] for row in rows])
        self._rows = rows

    def __len__(self) -> int:
        return len(self.phrases)

    @overload
    def __getitem__(self, index: int) -> SalientPhrase: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[SalientPhrase, ...]: ...
    def __getitem__(self, index: int | slice) -> SalientPhrase | tuple[SalientPhrase, ...]:
        rows = self._rows[index]
        return tuple(starmap(_build_salient, rows)) if isinstance(index, slice) else _build_salient(*rows)

    def __iter__(self) -> Iterator[SalientPhrase]:
        return starmap(_build_salient, self._rows)

    def get_spans(self, phrase: str) -> tuple[tuple[str, int, int], ...]:
        """Return the first spans of a phrase, none if it is not salient."""
        return tuple(map(tuple, self._rows[self.phrases.index(phrase)][3])) if phrase in self.phrases else ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # as SalientPhrase has none

    def __repr__(self) -> str:
        return repr(tuple(self))


def _build_salient(phrase: str, salience: float, count: int, spans: Sequence[Sequence[Any]]) -> SalientPhrase:
    return SalientPhrase(phrase, salience, count, tuple(map(tuple, spans)))


def get_phrase_salience(salient: Sequence[SalientPhrase]) -> Iterable[tuple[str, float]]:
    """Return each phrase with its salience, without decoding anything else of it."""
    if isinstance(salient, LazySalientPhrases):
        return zip(salient.phrases, salient.salience, strict=True)
    return [(one.phrase, one.salience) for one in salient]


def get_phrase_counts(salient: Sequence[SalientPhrase]) -> dict[str, int]:
    """Return how often each phrase occurs in the text; a phrase pair, of which the members are counted, has none."""
    if isinstance(salient, LazySalientPhrases):
        counts = dict(zip(salient.phrases, salient.counts, strict=True))
    else:
        counts = {one.phrase: one.count for one in salient}
    return {phrase: count for phrase, count in counts.items() if PAIR_SEPARATOR not in phrase}


def find_first_spans(salient: Sequence[SalientPhrase], phrase: str) -> Sequence[tuple[str, int, int]]:
    """Return the first spans (field, start, end) of a phrase, none if it is not among the salient ones."""
    if isinstance(salient, LazySalientPhrases):
        return salient.get_spans(phrase)
    return next((one.spans for one in salient if one.phrase == phrase), ())
