"""The subgraph a pair is solved on: which documents, which edges.

Documents are reached from both sides. The engine hands over ``PRESELECT`` times N of them by the
sum of what both sides send; of these the first N by the *product* of first-order relevance to a and
to b stay (ties by id), so that a document has to speak to both. Degrees are the whole corpus's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from indexer.engines.base import Groups, Neighbourhood, NeighbourhoodRequest, Reader
from indexer.lazy_sequences import Lazily
from worker.explain.candidates import Candidates
from worker.explain.resolver import GUEST_PREFIX, Resolved
from worker.solver.subgraph import Subgraph

PRESELECT = 3
Ranking = Literal["product", "total"]
"""How documents are ranked: ``total``, the sum, is there to be measured against."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two sides and the phrases they are compared by."""

    a: Resolved
    b: Resolved
    candidates: Candidates

    def boosts(self) -> tuple[dict[str, float], dict[str, float]]:
        """What each side sends along each of its candidates, scaled to a largest of 1."""
        a, b = (_boosts(self.candidates.phrases, sent) for sent in self.candidates.sent)
        return a, b


@dataclass(frozen=True, eq=False)
class LocalGraph:
    """The subgraph with names: rows are ``phrases``, columns ``ids``."""

    graph: Subgraph
    phrases: tuple[str, ...]
    ids: tuple[str, ...]
    titles: Sequence[str]
    own_a: NDArray[np.int64]
    """Columns of side a's documents."""
    own_b: NDArray[np.int64]
    weights: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
    """Edges before normalising: rows, columns, BM25."""
    reached: int
    left_out: float

    @property
    def third(self) -> int:
        """How many documents belong to neither side."""
        return len(self.ids) - len({*self.own_a.tolist(), *self.own_b.tolist()})

    def indexed(self) -> list[str]:
        """The ids of its documents, without guests."""
        return [id for id in self.ids if not id.startswith(GUEST_PREFIX)]


def reach(reader: Reader, pairs: Sequence[Pair], *, size: int, groups: Groups = None) -> Neighbourhood:
    """What the engine finds around the pairs, in one request: for one pair what it is solved on, for several
    all that they are solved on."""
    boosts = [pair.boosts() for pair in pairs]
    request = NeighbourhoodRequest(
        a=_largest(a for a, b in boosts if a and b),
        b=_largest(b for a, b in boosts if a and b),
        include=tuple(dict.fromkeys(id for pair in pairs for id in (*pair.a.ids, *pair.b.ids))),
        limit=PRESELECT * size,
        groups=groups,
    )
    return reader.neighbourhood(request) if request.a and request.b else _nothing()


def local_graph(
    pair: Pair,
    found: Neighbourhood,
    *,
    size: int,
    without: frozenset[str] = frozenset(),
    alone: bool = True,
    ranking: Ranking = "product",
) -> LocalGraph:
    """The graph of ``size`` documents besides the two sides.

    Documents of ``without`` are left out, as if the engine had not found them. ``alone`` says whether ``found`` is
    around this pair only: then it knows how many documents were reached in all.
    """
    edges = _Edges.of(found, pair.candidates.phrases)
    for side, weights in ((pair.a, pair.candidates.edges_a), (pair.b, pair.candidates.edges_b)):
        edges.add_missing(side, weights)
    relevance = _first_order(edges, pair.candidates, ranking)
    own = dict.fromkeys(edges.at(name) for side in (pair.a, pair.b) for name in side.columns)
    kept = _closest(edges, relevance, size, list(own), without)
    reached = found.reached if alone else int(np.count_nonzero(relevance > 0))
    return edges.graph(pair, kept, reached)


def _boosts(phrases: Sequence[str], sent: NDArray[np.float64]) -> dict[str, float]:
    top = float(sent.max(initial=0.0))
    return {p: v / top for p, v in zip(phrases, sent.tolist(), strict=True) if v > 0}


def _largest(boosts: Iterable[dict[str, float]]) -> dict[str, float]:
    merged: dict[str, float] = {}
    for one in boosts:
        for phrase, boost in one.items():
            merged[phrase] = max(boost, merged.get(phrase, 0.0))
    return merged


def _nothing() -> Neighbourhood:
    """A side has no phrase with an edge: nothing can be reached."""
    empty = np.zeros(0, dtype=np.int64)
    return Neighbourhood((), (), np.zeros(0), (), empty, empty, np.zeros(0), 0)


@dataclass
class _Edges:
    """Documents and edges while the graph is put together."""

    ids: tuple[str, ...]
    found: Mapping[str, int]
    """Column of each document that the engine found; the hits of a page share it."""
    added: dict[str, int]
    """Column of each of the others."""
    titles: Sequence[str]
    degrees: NDArray[np.float64]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, found: Neighbourhood, phrases: Sequence[str]) -> _Edges:
        """What was found, as far as it concerns these phrases."""
        # the last is for phrases that were not found
        of_found = np.full(len(found.phrases) + 1, -1, dtype=np.int64)
        of_found[[found.row.get(phrase, -1) for phrase in phrases]] = np.arange(len(phrases))
        rows = of_found[found.rows]
        ours = np.flatnonzero(rows >= 0)
        return cls(
            found.ids,
            found.at,
            {},
            found.titles,
            found.degrees,
            rows[ours],
            found.columns[ours],
            found.weights[ours],
        )

    def at(self, name: str) -> int:
        """Column of a document."""
        column = self.found.get(name)
        return self.added[name] if column is None else column

    def has(self, name: str) -> bool:
        return name in self.found or name in self.added

    def add_missing(self, side: Resolved, weights: NDArray[np.float64]) -> None:
        """Documents of a side that the engine did not hand over: guests, and what it left out."""
        missing = [i for i, name in enumerate(side.columns) if not self.has(name)]
        if not missing:
            return
        rows, columns = np.nonzero(weights[:, missing])
        self.rows = np.concatenate([self.rows, rows])
        self.columns = np.concatenate([self.columns, columns + len(self.ids)])
        self.weights = np.concatenate([self.weights, weights[:, missing][rows, columns]])
        self.degrees = np.concatenate([self.degrees, [side.documents[i].degree for i in missing]])
        self.added.update((side.columns[i], len(self.ids) + n) for n, i in enumerate(missing))
        self.ids += tuple([side.columns[i] for i in missing])
        self.titles = _joined(self.titles, [side.documents[i].document.title for i in missing])

    def graph(self, pair: Pair, kept: NDArray[np.int64], reached: int) -> LocalGraph:
        """Of the ``kept`` columns, in their order."""
        place = np.full(len(self.ids), -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        columns = place[self.columns]
        inside = np.flatnonzero(columns >= 0)
        rows, columns, weights = self.rows[inside], columns[inside], self.weights[inside]
        sides = (pair.a, pair.b)
        own = [place[[self.at(name) for name in side.columns]] for side in sides]
        degrees = pair.candidates.degrees
        # a guest's edges are not in the stored degrees of its phrases
        if any(side.guest for side in sides):
            guest = np.zeros(len(kept), dtype=bool)
            for side, at in zip(sides, own, strict=True):
                guest[at] |= side.guest
            extra = np.flatnonzero(guest[columns])
            degrees = degrees + np.bincount(rows[extra], weights[extra], len(degrees))
        total = float(degrees.sum())
        of_kept = kept.tolist()
        return LocalGraph(
            graph=Subgraph.from_edges(rows, columns, weights, degrees, self.degrees[kept]),
            phrases=pair.candidates.phrases,
            ids=tuple([self.ids[i] for i in of_kept]),
            titles=Lazily(len(of_kept), lambda i: self.titles[of_kept[i]]),
            own_a=own[0],
            own_b=own[1],
            weights=(rows, columns, weights),
            reached=reached,
            left_out=max(0.0, 1.0 - float(weights.sum()) / total) if total > 0 else 0.0,
        )


def _joined(one: Sequence[str], other: Sequence[str]) -> Sequence[str]:
    first = len(one)
    return Lazily(first + len(other), lambda i: one[i] if i < first else other[i - first])


def _first_order(edges: _Edges, candidates: Candidates, ranking: Ranking) -> NDArray[np.float64]:
    """Each document's first-order relevance to a and to b, their product (or sum), shape (documents,).

    0 for a document that only one side reaches.
    """
    count = len(edges.ids)
    a, b = (np.bincount(edges.columns, edges.weights * sent[edges.rows], count) for sent in candidates.sent)
    joined = a * b if ranking == "product" else np.where((a > 0) & (b > 0), a + b, 0.0)
    per = edges.degrees if ranking == "product" else np.sqrt(edges.degrees)
    return np.divide(joined, per, out=np.zeros(count), where=per > 0)


def _closest(
    edges: _Edges, relevance: NDArray[np.float64], size: int, own: list[int], without: frozenset[str]
) -> NDArray[np.int64]:
    """Columns that stay: the sides' ``own``, then the first ``size`` by relevance, ties by id."""
    may_stay = relevance > 0
    may_stay[[*own, *(edges.at(id) for id in without if edges.has(id))]] = False
    third = np.flatnonzero(may_stay)
    # to 9 digits: the order in which numbers were added up must not decide
    scores = np.round(np.log(relevance[third]), 9)
    if len(third) > size:
        likely = scores >= np.partition(scores, len(scores) - size)[len(scores) - size]
        third, scores = third[likely], scores[likely]
    order = np.argsort(-scores, kind="stable")
    if (np.diff(scores[order]) == 0).any():
        order = np.array(sorted(range(len(third)), key=lambda i: (-scores[i], edges.ids[third[i]])), dtype=np.int64)
    return np.concatenate([np.sort(np.array(own, dtype=np.int64)), third[order[:size]]])
