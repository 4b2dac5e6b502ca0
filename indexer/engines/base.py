"""The seam: what an engine must do. Two stand behind it, Elasticsearch and tantivy.

An engine holds named indexes. An index has one current *epoch*: a whole build with its phrase
model, swapped in at once. Between epochs documents may be added, replaced and deleted.

Rights: ``groups=None`` reads everything; otherwise a document is visible when its ``acl`` is
empty or shares a group with ``groups``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from indexer.documents import AnalysedDocument
from indexer.engines.date_histogram import Interval
from indexer.engines.query_tree import BY_ID, BY_SCORE, Query, Sort, flat_score, whole_order
from indexer.model.phrase_model import PhraseModel

if TYPE_CHECKING:
    from indexer.engines.attached_source import Source

Groups = frozenset[str] | None
FACET_VALUES = 1000
"""At most so many values of a facet are counted."""


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """What is known of an index without reading its documents."""

    name: str
    epoch: str
    documents: int
    """Live documents now."""
    phrases: int
    edges: int
    created: str
    """When the epoch was built, ISO 8601 UTC."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """The settings it was built with (language, min_support, k, mu, ...)."""
    drift: float = 0.0
    """Share of documents added, replaced or deleted since the epoch was built."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which documents: words (any may match), facet values, a date range, and whatever else a query says."""

    words: tuple[str, ...] = ()
    """Lemmas, matched against the tokens and ranked by BM25."""
    facets: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Every named facet must hold one of its values."""
    date_from: str | None = None
    date_to: str | None = None
    """Inclusive; a day (``2011-03-14``) includes all of that day."""
    query: Query | None = None
    """Must match as well; its score is added to that of the words."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One page of a search, everything about it decided."""

    selection: Selection
    size: int
    offset: int
    facets: Sequence[str]
    """Whose values are to be counted."""
    groups: Groups
    order: tuple[Sort, ...]
    """The whole order, ties included."""
    histograms: Sequence[Interval]
    flat: float | None
    """The score of every hit, where it is one and the same and the order does not name it."""


@dataclass(frozen=True, slots=True)
class Hit:
    id: str
    score: float
    document: AnalysedDocument


@dataclass(frozen=True, slots=True)
class SearchResult:
    total: int
    hits: tuple[Hit, ...]
    facets: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Counts of facet values over all matching documents, most frequent first."""
    histograms: Mapping[Interval, Mapping[int, int]] = field(default_factory=dict)
    """Matching documents by date: first millisecond of a bucket -> count, buckets that hold some, in order."""


@dataclass(frozen=True, slots=True)
class NeighbourhoodRequest:
    """Which documents, and which edges of them.

    The document set, the same for every engine: documents that hold at least one phrase of
    ``a`` *and* one of ``b``, the ``limit`` with the largest sum of boost times weight over both
    sides (a phrase of both sides counts on each), ties by id ascending; then ``include``
    (always, wherever it ranks).
    """

    a: Mapping[str, float]
    """Phrase -> boost (> 0) of the one side."""
    b: Mapping[str, float]
    include: tuple[str, ...]
    limit: int
    groups: Groups = None


@dataclass(frozen=True)
class Neighbourhood:
    """Documents in order (``include`` first, then by rank) with their edges to the asked phrases."""

    ids: tuple[str, ...]
    titles: Sequence[str]
    """An engine may cut a title after 300 characters."""
    degrees: NDArray[np.float64]
    """Whole-corpus degree of each document, shape (documents,)."""
    phrases: tuple[str, ...]
    """The asked phrases, those of ``a`` first, then those only in ``b``."""
    rows: NDArray[np.int64]
    """Edges: index into ``phrases``, shape (edges,)."""
    columns: NDArray[np.int64]
    """Edges: index into ``ids``."""
    weights: NDArray[np.float64]
    """Edges: the engine's BM25 of the phrase in the document, without the boost."""
    reached: int
    """How many documents were reached from both sides in all (a lower bound if the engine stops counting)."""

    @cached_property
    def at(self) -> Mapping[str, int]:
        """Column of each document."""
        return {id: i for i, id in enumerate(self.ids)}

    @cached_property
    def row(self) -> Mapping[str, int]:
        """Row of each phrase."""
        return {phrase: i for i, phrase in enumerate(self.phrases)}


class Build(ABC):
    """A new epoch in the making; nothing of it is visible before ``commit``."""

    def write(self, documents: Iterable[AnalysedDocument]) -> None:
        self.write_prepared(map(self.prepare, documents))

    @staticmethod
    def prepare(analysed: AnalysedDocument) -> Any:
        """What can be done for one document by itself, in whatever process it was analysed."""
        return analysed

    @abstractmethod
    def write_prepared(self, prepared: Iterable[Any]) -> None:
        """Write what ``prepare`` gave for each document."""

    @abstractmethod
    def commit(self, model: PhraseModel, info: IndexInfo) -> None:
        """Store the model, make the build the current epoch, remove the previous one."""

    @abstractmethod
    def abort(self) -> None:
        """Remove what was written; the current epoch stays. Safe after ``commit``."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.abort()


class Reader(ABC):
    """One epoch of one index, open for reading.

    A reader never mixes epochs: once a new epoch has replaced its own, ``fetch`` and ``search``
    raise EpochChanged (and the others may), and the caller opens the index again.
    """

    info: IndexInfo
    """As of opening."""
    model: PhraseModel

    @abstractmethod
    def fetch(self, ids: Sequence[str], groups: Groups = None) -> list[AnalysedDocument | None]:
        """In the order asked for; None where there is none (or none for these groups). One request.

        ``weights`` come back as they were written, in single precision: those of the epoch's statistics.
        """

    def fetch_lightly(self, ids: Sequence[str], groups: Groups = None) -> list[AnalysedDocument | None]:
        """The same for very many documents of which few will be looked at closely; see ``indexer.engines.shelf``."""
        return self.fetch(ids, groups)

    @abstractmethod
    def scan(self, groups: Groups = None) -> Iterator[AnalysedDocument]:
        """Every live document, by id ascending (code point order)."""

    @abstractmethod
    def readable(self, groups: Groups, most: int) -> list[str]:
        """Ids of what these groups may read, ascending, the first so many."""

    @abstractmethod
    def facet_names(self, groups: Groups = None) -> list[str]:
        """Facets of what these groups may read, the one with the most frequent value first.

        Looked for among the thousand most frequent values of all facets. One request.
        """

    def search(
        self,
        selection: Selection,
        *,
        size: int = 10,
        offset: int = 0,
        facets: Sequence[str] = (),
        groups: Groups = None,
        sort: Sequence[Sort] = (),
        histograms: Sequence[Interval] = (),
    ) -> SearchResult:
        """In the order of ``sort``, ties by id; without one by score, or by id where all score the same.

        A hit's score is 0 when the order does not name it. One request.
        """
        query = selection.query
        flat = None if selection.words else 0.0 if query is None else flat_score(query)
        order = whole_order(tuple(sort)) if sort else BY_SCORE if flat is None else BY_ID
        flat = None if sort else flat
        return self.page(SearchRequest(selection, size, offset, facets, groups, order, histograms, flat))

    @abstractmethod
    def page(self, request: SearchRequest) -> SearchResult:
        """One page of a search; ``search`` makes the request. One request."""

    @abstractmethod
    def neighbourhood(self, request: NeighbourhoodRequest) -> Neighbourhood:
        """One request; see NeighbourhoodRequest for the definition of the set."""


class Engine(ABC):
    """One small interface; see the module docstring for the words used."""

    kind: str
    """``elasticsearch`` or ``tantivy``."""
    address: str

    requests: int = 0
    """How many requests (Elasticsearch) or look-ups (tantivy) its readers made: tests count these."""

    @abstractmethod
    def version(self) -> str:
        """The engine's version; raises EngineUnavailable when it cannot be reached."""

    def ping(self) -> None:
        """Raise EngineUnavailable when it does not answer at this moment."""
        self.version()

    @abstractmethod
    def indexes(self) -> list[str]: ...

    @abstractmethod
    def open(self, index: str) -> Reader:
        """The current epoch. The model is loaded once an epoch and shared by all readers of it;
        opening again while the epoch stands costs no request beyond the first, so a caller may
        keep a reader until it raises EpochChanged."""

    @abstractmethod
    def info(self, index: str) -> IndexInfo:
        """What ``open(index).info`` would tell, without the phrase model being loaded for it."""

    def source(self, info: IndexInfo) -> Source | None:
        """The index that this one was attached to, where it can be searched."""
        return None

    @abstractmethod
    def build(self, index: str) -> Build: ...

    @abstractmethod
    def drop(self, index: str) -> None: ...

    @abstractmethod
    def add(self, index: str, documents: Iterable[AnalysedDocument]) -> int:
        """Add or replace by id; visible when it returns. The number written."""

    @abstractmethod
    def delete(self, index: str, ids: Sequence[str]) -> int:
        """The number of documents that were there and are gone."""

    def time_requests(self, took: Callable[[float], None]) -> None:  # noqa: B027
        """Have ``took`` hear the seconds of each request to a server; an engine without one makes none."""

    def close(self) -> None:  # noqa: B027
        """Let go of connections and files."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()
