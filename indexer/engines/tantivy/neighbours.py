"""The neighbourhood of two sides from the graph's arrays: see NeighbourhoodRequest for what it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.engines.base import Neighbourhood, NeighbourhoodRequest
from indexer.engines.tantivy.snapshot import Snapshot

PhraseRow = Callable[[str], int | None]
"""Row of a phrase in the graph; None for one without edges."""


@dataclass(frozen=True)
class _Edges:
    """The edges of the asked phrases: those only in ``a`` first, then those in both, then those only in ``b``."""

    order: NDArray[np.int64]
    """The asked phrases as their edges follow each other: indices, shape (phrases,)."""
    sizes: NDArray[np.int64]
    """How many edges each of them has, shape (phrases,)."""
    boosts: NDArray[np.float64]
    """Boost of each, those of both sides added, shape (phrases,)."""
    documents: NDArray[np.int64]
    weights: NDArray[np.float32]
    only_a: int
    """How many edges come before the first of a phrase in both."""
    in_a: int
    """How many edges come before the first of a phrase only in b."""

    def rows(self, edges: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which of the asked phrases some edges belong to: very many are gathered, few are handed over."""
        return self.order[np.searchsorted(np.cumsum(self.sizes), edges, side="right")]


def neighbourhood(snapshot: Snapshot, row: PhraseRow, request: NeighbourhoodRequest) -> Neighbourhood:
    phrases = tuple(dict.fromkeys([*request.a, *request.b]))
    edges = _gather(snapshot, row, request, phrases)
    visible = snapshot.visible(request.groups)
    reached = _reached_from_both(edges, snapshot.size, visible)
    best = _best(reached, edges, snapshot, request.limit)
    included = _included(snapshot, request.include, visible)
    wanted = np.zeros(snapshot.size, dtype=np.bool_)
    wanted[included] = True
    chosen = np.concatenate([included, best[~wanted[best]]])
    wanted[chosen] = True
    kept = np.flatnonzero(wanted[edges.documents])
    column = np.empty(snapshot.size, dtype=np.int64)  # read where it is wanted only
    column[chosen] = np.arange(len(chosen))
    ids, titles, degrees = snapshot.describe(chosen)
    return Neighbourhood(
        ids=tuple(ids),
        titles=titles,
        degrees=degrees,
        phrases=phrases,
        rows=edges.rows(kept),
        columns=column[edges.documents[kept]],
        weights=edges.weights[kept].astype(np.float64),
        reached=len(reached),
    )


def _gather(snapshot: Snapshot, row: PhraseRow, request: NeighbourhoodRequest, phrases: tuple[str, ...]) -> _Edges:
    graph, added = snapshot.graph, snapshot.added_postings

    def part(i: int) -> int:
        return 0 if phrases[i] not in request.b else 1 if phrases[i] in request.a else 2

    order = sorted(range(len(phrases)), key=part)
    documents, weights, sizes = [], [], [0] * len(phrases)
    for at, i in enumerate(order):
        number = row(phrases[i])
        if number is not None:
            start, end = graph.starts[number], graph.starts[number + 1]
            documents.append(graph.documents[start:end])
            weights.append(graph.weights[start:end])
            sizes[at] += int(end - start)
        if phrases[i] in added:
            documents.append(added[phrases[i]][0])
            weights.append(added[phrases[i]][1])
            sizes[at] += len(added[phrases[i]][0])
    parts = [part(i) for i in order]
    boosts = np.array([request.a.get(phrases[i], 0.0) + request.b.get(phrases[i], 0.0) for i in order])
    return _Edges(
        order=np.array(order, dtype=np.int64),
        sizes=np.array(sizes, dtype=np.int64),
        boosts=boosts,
        documents=np.concatenate(documents, dtype=np.int64) if documents else np.zeros(0, dtype=np.int64),
        weights=np.concatenate(weights) if weights else np.zeros(0, dtype=np.float32),
        only_a=sum(size for size, side in zip(sizes, parts, strict=True) if side == 0),
        in_a=sum(size for size, side in zip(sizes, parts, strict=True) if side < 2),
    )


def _reached_from_both(edges: _Edges, size: int, visible: NDArray[np.bool_] | None) -> NDArray[np.int64]:
    from_a = np.zeros(size, dtype=np.bool_)
    from_a[edges.documents[: edges.in_a]] = True
    from_b = np.zeros(size, dtype=np.bool_)
    from_b[edges.documents[edges.only_a :]] = True
    from_a &= from_b
    if visible is not None:
        from_a &= visible
    return np.flatnonzero(from_a)


def _best(reached: NDArray[np.int64], edges: _Edges, snapshot: Snapshot, limit: int) -> NDArray[np.int64]:
    """The ``limit`` reached documents of largest total, ties by id."""
    weights = edges.weights * np.repeat(edges.boosts, edges.sizes)
    totals = np.bincount(edges.documents, weights=weights, minlength=snapshot.size)[reached]
    if 0 < limit < len(reached):
        cut = np.partition(totals, len(totals) - limit)[len(totals) - limit]
        likely = totals >= cut
        reached, totals = reached[likely], totals[likely]
    by_id = reached if snapshot.id_order is None else snapshot.id_order[reached]
    return reached[np.lexsort((by_id, -totals))[:limit]]


def _included(snapshot: Snapshot, include: tuple[str, ...], visible: NDArray[np.bool_] | None) -> NDArray[np.int64]:
    numbers = snapshot.numbers(list(dict.fromkeys(include)))
    numbers = numbers[numbers >= 0]
    return numbers if visible is None else numbers[visible[numbers]]
