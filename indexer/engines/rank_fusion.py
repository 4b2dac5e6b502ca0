"""Searches by words and by a vector: what each part has to find, and how their hits become one list.

The two parts score on scales that have nothing to do with each other, so only their ranks are merged (reciprocal rank
fusion): a document gets 1 / (RANK_CONSTANT + rank) from each part that found it, ranks counted from 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from indexer.engines.query_tree import BY_SCORE, Bool, Query, SortKey, find_constant_score
from indexer.engines.search_types import (
    MAX_CANDIDATES,
    MAX_NEAREST,
    FoundBy,
    IndexInfo,
    SearchRequest,
    Selection,
    TextQuery,
    VectorQuery,
)
from indexer.errors import BadParameter
from indexer.vectors import count_dimensions, read_dimensions, read_text_dimensions

RANK_CONSTANT: Final = 60
"""As in the paper of Cormack, Clarke and Büttcher (2009) and in Elasticsearch."""
MIN_WINDOW: Final = 100
"""Hits of the words that are ranked at least. A window of the page alone would give a document that is far down the
list of the words another score on each page."""
MIN_CANDIDATES: Final = 512
"""Documents that an approximate search considers at least: with fewer, the recall of the ten nearest of 6,502 random
vectors falls from 0.98 to 0.90 (256) and 0.74 (128)."""


class FusedHit(NamedTuple):
    """A document in the merged list."""

    id: str
    score: float
    found_by: frozenset[FoundBy]


def check_vector_query(query: VectorQuery | TextQuery, info: IndexInfo, sort: tuple[SortKey, ...]) -> None:
    """Raise BadParameter for a search by a vector or by meaning that this index cannot answer."""
    if isinstance(query, TextQuery):
        _require_text_vectors(info)
    else:
        _require_own_vectors(query, info)
    if not 1 <= query.k <= MAX_NEAREST:
        raise BadParameter(f"k must be a whole number from 1 to {MAX_NEAREST:,}")
    if query.num_candidates is not None and not query.k <= query.num_candidates <= MAX_CANDIDATES:
        raise BadParameter(f"num_candidates must be a whole number from k ({query.k:,}) to {MAX_CANDIDATES:,}")
    if sort:
        raise BadParameter(
            "a search by a vector cannot be sorted: its hits are the nearest ones, best first", fix="leave sort out"
        )


def _require_own_vectors(query: VectorQuery, info: IndexInfo) -> None:
    dimensions = read_dimensions(info.settings)
    if dimensions is None:
        if read_text_dimensions(info.settings) is not None:
            raise BadParameter(
                f"index {info.name!r} has vectors that are made from the words of its texts, which no model outside "
                "knows",
                fix="search by a text, or build the index from documents with vectors",
            )
        raise BadParameter(
            f"index {info.name!r} has no vectors",
            fix="search by words, or build the index from documents with vectors",
        )
    length = count_dimensions(query.vector)
    if length != dimensions:
        raise BadParameter(
            f"the vector has {length:,} numbers, those of index {info.name!r} have {dimensions:,}",
            fix="use the model that made the vectors of the documents",
        )


def _require_text_vectors(info: IndexInfo) -> None:
    if read_text_dimensions(info.settings) is not None:
        return
    if read_dimensions(info.settings) is not None:
        raise BadParameter(
            f"the documents of index {info.name!r} brought their own vectors: only the model that made these can make "
            "the vector of a text",
            fix="send the vector of the text, by that model",
        )
    raise BadParameter(
        f"index {info.name!r} cannot be searched by meaning",
        fix="search by words; or build the index anew, with the embedded engine or from documents with vectors",
    )


def choose_candidate_count(vector: VectorQuery) -> int:
    """Return how many documents an approximate search considers."""
    return min(max(vector.num_candidates or 0, vector.k, MIN_CANDIDATES), MAX_CANDIDATES)


def ranks_by_words(selection: Selection) -> bool:
    """Return whether a selection ranks what it matches, so that there is a list to merge with that of a vector."""
    if selection.words is not None:
        return True
    return selection.query is not None and find_constant_score(selection.query) is None


def make_vector_selection(request: SearchRequest) -> Selection:
    """Return what the documents nearest to the vector must match.

    The facets and dates of the selection hold for both parts. So do the ``filter`` and ``must_not`` clauses of its
    query; the rest of the query ranks, unless all its matches score the same: then all of it is a filter.
    """
    assert request.vector is not None, "called for a search by a vector"
    selection, query = request.selection, request.selection.query
    filters: list[Query] = [] if request.vector.filter is None else [request.vector.filter]
    excluded: tuple[Query, ...] = ()
    if query is not None and not ranks_by_words(selection):
        filters.append(query)
    elif isinstance(query, Bool):
        filters += query.filter
        excluded = query.must_not
    combined = Bool(filter=tuple(filters), must_not=excluded) if filters or excluded else None
    return replace(selection, words=None, query=combined)


def is_unlimited(selection: Selection) -> bool:
    """Return whether a selection without words matches every document."""
    is_dated = selection.date_from is not None or selection.date_to is not None
    return not selection.facets and not is_dated and selection.query is None


def choose_words_window(request: SearchRequest) -> int:
    """Return how many hits of the words are ranked; the same for all pages of a search."""
    assert request.vector is not None, "called for a search by a vector"
    return max(MIN_WINDOW, request.vector.k, request.size)


def make_words_request(request: SearchRequest) -> SearchRequest:
    """Return the search of the words alone: the hits that are ranked, none skipped, nothing counted."""
    return replace(
        request, size=choose_words_window(request), offset=0, facets=(), histograms=(), order=BY_SCORE, vector=None
    )


def fuse_ranks(words_ids: Sequence[str], vector_ids: Sequence[str]) -> list[FusedHit]:
    """Merge two lists of hits, best first; equal scores by id."""
    scores: dict[str, float] = {}
    found_by: dict[str, set[FoundBy]] = {}
    parts: tuple[tuple[FoundBy, Sequence[str]], ...] = (("words", words_ids), ("vector", vector_ids))
    for part, ids in parts:
        for rank, id in enumerate(ids, start=1):
            scores[id] = scores.get(id, 0.0) + 1.0 / (RANK_CONSTANT + rank)
            found_by.setdefault(id, set()).add(part)
    ranked = sorted(scores, key=lambda id: (-scores[id], id))
    return [FusedHit(id, scores[id], frozenset(found_by[id])) for id in ranked]
