"""The neighbourhood of two sides from the graph's arrays: see NeighbourhoodRequest for what it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.engines.base import Neighbourhood, NeighbourhoodRequest
from indexer.engines.embedded.snapshot import Snapshot

PhraseRow = Callable[[str], int | None]
"""Row of a phrase in the graph; None for one without edges."""


@dataclass(frozen=True)
class _Edges:
    """The edges of the asked phrases: those only in ``a`` first, then those in both, then those only in ``b``."""

    order: NDArray[np.int64]
    """The asked phrases as their edges follow each other: indices, shape (phrases,)."""
    starts: NDArray[np.int64]
    """Where the edges of each of them begin, and where the last end; shape (phrases + 1,)."""
    boosts: NDArray[np.float64]
    """Boost of each, those of both sides added, shape (phrases,)."""
    documents: NDArray[np.int64]
    weights: NDArray[np.float32]
    only_a: int
    """How many phrases come before the first in both."""
    in_a: int
    """How many come before the first only in b."""

    def of(self, wanted: NDArray[np.bool_]) -> _Edges:
        """The edges of the wanted documents, in the same order; ``wanted`` has shape (size,)."""
        kept = np.flatnonzero(wanted[self.documents])
        return replace(
            self,
            starts=np.searchsorted(kept, self.starts),
            documents=self.documents[kept],
            weights=self.weights[kept],
        )

    def of_each(self, values: NDArray[Any]) -> NDArray[Any]:
        """A value of each phrase, shape (phrases,), as one of each edge, shape (edges,)."""
        return np.repeat(values, np.diff(self.starts))


def neighbourhood(snapshot: Snapshot, row: PhraseRow, request: NeighbourhoodRequest) -> Neighbourhood:
    phrases = tuple(dict.fromkeys([*request.a, *request.b]))
    edges = _gather(snapshot, row, request, phrases)
    visible = snapshot.visible(request.groups)
    wanted = _reached_from_both(edges, snapshot.size, visible)
    reached = np.flatnonzero(wanted)
    included = _included(snapshot, request.include, visible)
    wanted[included] = True
    edges = edges.of(wanted)  # most lead to documents that only one side reaches
    best = _best(reached, edges, snapshot, request.limit)
    wanted[:] = False
    wanted[included] = True
    chosen = np.concatenate([included, best[~wanted[best]]])
    wanted[chosen] = True
    edges = edges.of(wanted)
    column = np.empty(snapshot.size, dtype=np.int64)  # read where it is wanted only
    column[chosen] = np.arange(len(chosen))
    ids, titles, degrees = snapshot.describe(chosen)
    return Neighbourhood(
        ids=tuple(ids),
        titles=titles,
        degrees=degrees,
        phrases=phrases,
        rows=edges.of_each(edges.order),
        columns=column[edges.documents],
        weights=edges.weights.astype(np.float64),
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
        starts=np.cumsum([0, *sizes]),
        boosts=boosts,
        documents=np.concatenate(documents, dtype=np.int64) if documents else np.zeros(0, dtype=np.int64),
        weights=np.concatenate(weights) if weights else np.zeros(0, dtype=np.float32),
        only_a=sum(side == 0 for side in parts),
        in_a=sum(side < 2 for side in parts),
    )


def _reached_from_both(edges: _Edges, size: int, visible: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """Which documents are, shape (size,)."""
    from_a = np.zeros(size, dtype=np.bool_)
    from_a[edges.documents[: edges.starts[edges.in_a]]] = True
    from_b = np.zeros(size, dtype=np.bool_)
    from_b[edges.documents[edges.starts[edges.only_a] :]] = True
    from_a &= from_b
    if visible is not None:
        from_a &= visible
    return from_a


def _best(reached: NDArray[np.int64], edges: _Edges, snapshot: Snapshot, limit: int) -> NDArray[np.int64]:
    """The ``limit`` reached documents of largest total, ties by id."""
    weights = edges.weights * edges.of_each(edges.boosts)
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
