"""Finds the neighbourhood of two sides in the phrase graph; NeighbourhoodRequest defines it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.engines.embedded.snapshot import EpochSnapshot
from indexer.engines.search_types import Groups, Neighbourhood, NeighbourhoodRequest

FindPhraseRow = Callable[[str], int | None]
"""Returns the row of a phrase in the graph, or None if it has none."""


@dataclass(frozen=True)
class _Edges:
    """Edges of the requested phrases: those only of side a first, then those of both, then those only of b."""

    order: NDArray[np.int64]
    """Indexes of the requested phrases in the order of their edges, shape (phrases,)."""
    starts: NDArray[np.int64]
    """First edge of each phrase in that order, and the end of the last; shape (phrases + 1,)."""
    boosts: NDArray[np.float64]
    """Boost of each phrase in that order, summed over both sides; shape (phrases,)."""
    documents: NDArray[np.int64]
    """Document number of each edge, shape (edges,)."""
    weights: NDArray[np.float32]
    """BM25 of each edge without the boost, shape (edges,)."""
    only_a_count: int
    """Number of phrases before the first of both sides."""
    in_a_count: int
    """Number of phrases before the first only of b."""

    def select_documents(self, is_selected: NDArray[np.bool_]) -> _Edges:
        """Return the edges of the selected documents, in order; ``is_selected`` has shape (size,)."""
        indexes = np.flatnonzero(is_selected[self.documents])
        return replace(
            self,
            starts=np.searchsorted(indexes, self.starts),
            documents=self.documents[indexes],
            weights=self.weights[indexes],
        )

    def spread_over_edges(self, phrase_values: NDArray[Any]) -> NDArray[Any]:
        """Spread one value per phrase, shape (phrases,), to one per edge, shape (edges,)."""
        return np.repeat(phrase_values, np.diff(self.starts))


def find_neighbourhood(
    snapshot: EpochSnapshot, find_row: FindPhraseRow, request: NeighbourhoodRequest
) -> Neighbourhood:
    """Return the neighbourhood that ``request`` asks for, in the state of ``snapshot``."""
    phrases = tuple(dict.fromkeys([*request.boosts_a, *request.boosts_b]))
    edges = _gather_edges(snapshot, find_row, request, phrases)
    visible = snapshot.mask_visible(request.groups)
    is_selected = _mask_reached_from_both(edges, snapshot.size, visible)
    reached = np.flatnonzero(is_selected)
    included = _find_included_numbers(snapshot, request.include, visible)
    is_selected[included] = True
    edges = edges.select_documents(is_selected)  # most lead to documents that only one side reaches
    best = _rank_reached(reached, edges, snapshot, request.limit)
    is_selected[:] = False
    is_selected[included] = True
    chosen = np.concatenate([included, best[~is_selected[best]]])
    is_selected[chosen] = True
    edges = edges.select_documents(is_selected)
    column = np.empty(snapshot.size, dtype=np.int64)  # read for chosen documents only
    column[chosen] = np.arange(len(chosen))
    ids, titles, degrees = snapshot.read_ids_titles_and_degrees(chosen)
    return Neighbourhood(
        ids=tuple(ids),
        titles=titles,
        degrees=degrees,
        phrases=phrases,
        rows=edges.spread_over_edges(edges.order),
        columns=column[edges.documents],
        weights=edges.weights.astype(np.float64),
        reached_count=len(reached),
    )


def count_holders(
    snapshot: EpochSnapshot, find_row: FindPhraseRow, phrases: Sequence[str], groups: Groups
) -> list[int]:
    """Return for each phrase the number of visible documents with an edge to it."""
    visible = snapshot.mask_visible(groups)
    counts = []
    for phrase in phrases:
        documents = _find_documents(snapshot, find_row, phrase)
        counts.append(len(documents) if visible is None else int(np.count_nonzero(visible[documents])))
    return counts


def _find_documents(snapshot: EpochSnapshot, find_row: FindPhraseRow, phrase: str) -> NDArray[np.int32]:
    """Return the numbers of the documents with an edge to the phrase, removed ones included."""
    graph, row = snapshot.graph, find_row(phrase)
    documents = graph.documents[:0] if row is None else graph.documents[graph.starts[row] : graph.starts[row + 1]]
    added = snapshot.added_postings.get(phrase)
    return documents if added is None else np.concatenate([documents, added[0]])


def _gather_edges(
    snapshot: EpochSnapshot, find_row: FindPhraseRow, request: NeighbourhoodRequest, phrases: tuple[str, ...]
) -> _Edges:
    graph, added = snapshot.graph, snapshot.added_postings

    def get_phrase_group(i: int) -> int:
        return 0 if phrases[i] not in request.boosts_b else 1 if phrases[i] in request.boosts_a else 2

    order = sorted(range(len(phrases)), key=get_phrase_group)
    documents, weights, sizes = [], [], [0] * len(phrases)
    for k, i in enumerate(order):
        row = find_row(phrases[i])
        if row is not None:
            start, end = graph.starts[row], graph.starts[row + 1]
            documents.append(graph.documents[start:end])
            weights.append(graph.weights[start:end])
            sizes[k] += int(end - start)
        if phrases[i] in added:
            documents.append(added[phrases[i]][0])
            weights.append(added[phrases[i]][1])
            sizes[k] += len(added[phrases[i]][0])
    groups = [get_phrase_group(i) for i in order]
    boosts = np.array([request.boosts_a.get(phrases[i], 0.0) + request.boosts_b.get(phrases[i], 0.0) for i in order])
    return _Edges(
        order=np.array(order, dtype=np.int64),
        starts=np.cumsum([0, *sizes]),
        boosts=boosts,
        documents=np.concatenate(documents, dtype=np.int64) if documents else np.zeros(0, dtype=np.int64),
        weights=np.concatenate(weights) if weights else np.zeros(0, dtype=np.float32),
        only_a_count=sum(group == 0 for group in groups),
        in_a_count=sum(group < 2 for group in groups),
    )


def _mask_reached_from_both(edges: _Edges, document_count: int, visible: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """Return which visible documents have an edge from both sides, shape (size,)."""
    from_a = np.zeros(document_count, dtype=np.bool_)
    from_a[edges.documents[: edges.starts[edges.in_a_count]]] = True
    from_b = np.zeros(document_count, dtype=np.bool_)
    from_b[edges.documents[edges.starts[edges.only_a_count] :]] = True
    from_a &= from_b
    if visible is not None:
        from_a &= visible
    return from_a


def _rank_reached(reached: NDArray[np.int64], edges: _Edges, snapshot: EpochSnapshot, limit: int) -> NDArray[np.int64]:
    """Return the ``limit`` reached documents with the largest sum of boosts, ties by id."""
    boosts = edges.spread_over_edges(edges.boosts)
    totals = np.bincount(edges.documents, weights=boosts, minlength=snapshot.size)[reached]
    if 0 < limit < len(reached):
        threshold = np.partition(totals, len(totals) - limit)[len(totals) - limit]
        is_above = totals >= threshold
        reached, totals = reached[is_above], totals[is_above]
    by_id = reached if snapshot.id_sort_keys is None else snapshot.id_sort_keys[reached]
    return reached[np.lexsort((by_id, -totals))[:limit]]


def _find_included_numbers(
    snapshot: EpochSnapshot, included_ids: tuple[str, ...], visible: NDArray[np.bool_] | None
) -> NDArray[np.int64]:
    """Return the numbers of the visible documents among ``included_ids``, in order."""
    numbers = snapshot.find_document_numbers(list(dict.fromkeys(included_ids)))
    numbers = numbers[numbers >= 0]
    return numbers if visible is None else numbers[visible[numbers]]
