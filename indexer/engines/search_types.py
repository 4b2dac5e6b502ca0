"""Request and result types of the engines, and the rule of who may read a document."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from indexer.documents import AnalysedDocument
from indexer.engines.date_histogram import Interval
from indexer.engines.query_tree import Query, SortKey

Groups = frozenset[str] | None
"""Groups of a caller; None reads everything."""
MAX_FACET_VALUES = 1000
"""Maximum number of values counted for one facet."""
MAX_NEAREST = 1000
"""Largest ``k`` of a vector query."""
MAX_CANDIDATES = 10_000
"""Largest ``num_candidates`` of a vector query, as in Elasticsearch."""
FoundBy = Literal["words", "vector"]
"""Part of a search that found a document."""


def may_read(acl: Collection[str], groups: Groups) -> bool:
    """Return whether a caller in ``groups`` may read a document with this acl; an empty acl is public."""
    return groups is None or not acl or not groups.isdisjoint(acl)


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """Description of an index that is available without reading its documents.

    Stored with the index by field name: renaming a field breaks existing indexes.
    """

    name: str
    epoch: str
    documents: int
    """Number of live documents."""
    phrases: int
    edges: int
    created: str
    """Time the epoch was built, ISO 8601 UTC."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """Settings the epoch was built with (language, min_support, k, mu, ...)."""
    drift: float = 0.0
    """Share of documents added, replaced or deleted since the epoch was built."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Documents that match all of: any of the words, the facet values, the date range and the query."""

    words: tuple[str, ...] | None = None
    """Lemmas, matched against the tokens and ranked by BM25; one of them must match. None: any document."""
    facets: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Facet -> values, one of which the document must have."""
    date_from: str | None = None
    """First day or moment, inclusive."""
    date_to: str | None = None
    """Last day or moment, inclusive; a day (``2011-03-14``) includes all of that day."""
    query: Query | None = None
    """Further condition; its score is added to that of the words."""


@dataclass(frozen=True, slots=True)
class VectorQuery:
    """The ``k`` documents with the largest cosine between their vector and this one.

    They must also match the facets and dates of the selection that they are searched with, and the filters of its
    query (``rank_fusion.make_vector_selection``). Documents without a vector are not found.
    """

    vector: bytes
    """Of ``indexer.vectors.encode_vector``, with the dimensions of the index; empty for one that is near nothing."""
    k: int
    """From 1 to MAX_NEAREST."""
    num_candidates: int | None = None
    """Documents that an approximate search considers at least, from ``k`` to MAX_CANDIDATES; None: the engine's choice.
    An exact search considers all."""
    filter: Query | None = None
    """Condition on the documents found by the vector, not on those found by words."""
    min_cosine: float = -1.0
    """Documents with a smaller cosine are not found; only in an index with vectors made from texts."""


@dataclass(frozen=True, slots=True)
class TextQuery:
    """The ``k`` documents nearest in meaning to a text, in an index whose vectors were made from texts.

    A document that is no nearer than random ones is not found, nor is any by a text without a known word.
    """

    text: str
    k: int
    num_candidates: int | None = None
    """These, like all other fields, are those of the VectorQuery that it becomes."""
    filter: Query | None = None


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One page of a search with all defaults resolved; ``Reader.search`` builds it."""

    selection: Selection
    size: int
    offset: int
    facets: Sequence[str]
    """Facets whose values are counted."""
    groups: Groups
    order: tuple[SortKey, ...]
    """Complete order: the last key is the id."""
    histograms: Sequence[Interval]
    constant_score: float | None
    """Score of every hit if all score the same and the caller asked for no order; else None."""
    vector: VectorQuery | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A document found by a search."""

    id: str
    score: float
    document: AnalysedDocument
    found_by: frozenset[FoundBy] = frozenset()
    """Parts of a search with a vector that found it; empty for a search without one."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One page of hits with counts over all matching documents."""

    total: int
    """Number of matching documents."""
    hits: tuple[Hit, ...]
    facets: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Facet -> value -> documents, most frequent value first."""
    histograms: Mapping[Interval, Mapping[int, int]] = field(default_factory=dict)
    """Interval -> first millisecond of a bucket -> documents; non-empty buckets in chronological order."""


@dataclass(frozen=True, slots=True)
class NeighbourhoodRequest:
    """Definition of a neighbourhood, the same for every engine.

    It consists of the documents of ``include``, whatever their rank, and of the ``limit`` best documents that
    contain at least one phrase of side A *and* one of side B. These are ranked by the sum of the boosts of the phrases
    they contain, over both sides (a phrase of both sides counts on each), ties by id ascending.
    """

    boosts_a: Mapping[str, float]
    """Phrase -> boost (> 0) of side A."""
    boosts_b: Mapping[str, float]
    """Phrase -> boost (> 0) of side B."""
    include: tuple[str, ...]
    """Ids of documents to include; unknown and unreadable ones are left out."""
    limit: int
    groups: Groups = None


@dataclass(frozen=True)
class Neighbourhood:
    """Documents (``include`` first, then by rank) with their edges to the requested phrases."""

    ids: Sequence[str]
    titles: Sequence[str]
    """Titles of the documents; an engine may truncate them to 300 characters."""
    degrees: NDArray[np.float64]
    """Degree of each document in the graph of the whole corpus, shape (documents,)."""
    phrases: tuple[str, ...]
    """Requested phrases: those of side A, then those only of side B."""
    rows: NDArray[np.int64]
    """Phrase of each edge, index into ``phrases``, shape (edges,)."""
    columns: NDArray[np.int64]
    """Document of each edge, index into ``ids``, shape (edges,)."""
    weights: NDArray[np.float64]
    """BM25 of the phrase in the document as the engine computes it, without boost, shape (edges,)."""
    reached_count: int
    """Number of documents reached from both sides; a lower bound if the engine stops counting."""

    def find_columns(self, ids: Collection[str]) -> dict[str, int]:
        """Return the column of each of these documents that is here; to find ``include`` few others are read."""
        columns: dict[str, int] = {}
        for column, id in enumerate(self.ids):
            if id in ids:
                columns[id] = column
            if len(columns) == len(ids):
                break
        return columns

    @cached_property
    def row_by_phrase(self) -> Mapping[str, int]:
        """Row of each phrase."""
        return {phrase: i for i, phrase in enumerate(self.phrases)}
