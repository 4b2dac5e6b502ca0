"""The subgraph a pair is solved on: its documents and edges.

The engine finds documents that both sides reach and returns ``PRESELECTION_FACTOR`` times N of them, ranked by the
phrases they contain: each counts what a walk of one step brings to it from both sides. Of these the first N by the
*product* of their first-order relevance to a and to b remain (ties by id), so that a document has to be relevant to
both. Degrees are those of the whole corpus.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.engines.base import Reader
from indexer.engines.search_types import Groups, Neighbourhood, NeighbourhoodRequest
from indexer.lazy_sequences import LazySequence
from worker.explain.candidates import PairCandidates
from worker.explain.resolved_side import AD_HOC_PREFIX, ResolvedSide
from worker.solver.subgraph import Subgraph

PRESELECTION_FACTOR = 1.5
"""A larger one costs time and changes no figure of the evaluation by more than chance does."""
NeighbourRanking = Literal["product", "total"]
"""How documents are ranked; ``total``, the sum, exists for evaluation."""


@dataclass(frozen=True, eq=False)
class SidePair:
    """Two sides and their candidate phrases."""

    a: ResolvedSide
    b: ResolvedSide
    candidates: PairCandidates

    def query_boosts(self) -> tuple[dict[str, float], dict[str, float]]:
        """Return the boost of each candidate for side a and for side b, the largest being 1."""
        a, b = (_scale_boosts(self.candidates.phrases, weights) for weights in self.candidates.first_step_weights)
        return a, b


class EdgeList(NamedTuple):
    """Edges between phrases and documents, each array of shape (edges,)."""

    rows: NDArray[np.int64]
    """Phrases."""
    columns: NDArray[np.int64]
    """Documents."""
    weights: NDArray[np.float64]
    """BM25, not normalised."""


@dataclass(frozen=True, eq=False)
class LocalGraph:
    """The subgraph of a pair with names: rows are ``phrases``, columns ``ids``."""

    subgraph: Subgraph
    phrases: tuple[str, ...]
    ids: Sequence[str]
    titles: Sequence[str]
    columns_a: NDArray[np.int64]
    """Columns of side a's documents."""
    columns_b: NDArray[np.int64]
    """Columns of side b's documents."""
    edges: EdgeList
    reached_count: int
    """Documents reached from both sides in the whole index; a lower bound where an engine stops counting."""
    left_out_share: float
    """Share of the candidates' edge weight that lies outside the subgraph."""

    @property
    def neighbour_count(self) -> int:
        """Documents that belong to neither side."""
        return len(self.ids) - len({*self.columns_a.tolist(), *self.columns_b.tolist()})

    def indexed_ids(self) -> list[str]:
        """Return the ids of its documents without the ad-hoc ones."""
        return [id for id in self.ids if not id.startswith(AD_HOC_PREFIX)]


def fetch_neighbourhood(
    reader: Reader, pairs: Sequence[SidePair], *, size: int, groups: Groups = None
) -> Neighbourhood:
    """Fetch the documents around the pairs in one request; for several pairs, the union of their neighbourhoods."""
    boosts = [pair.query_boosts() for pair in pairs]
    request = NeighbourhoodRequest(
        boosts_a=_merge_boosts(a for a, b in boosts if a and b),
        boosts_b=_merge_boosts(b for a, b in boosts if a and b),
        include=tuple(dict.fromkeys(id for pair in pairs for id in (*pair.a.ids, *pair.b.ids))),
        limit=math.ceil(PRESELECTION_FACTOR * size),
        groups=groups,
    )
    if request.boosts_a and request.boosts_b:
        return reader.find_neighbourhood(request)
    no_edges = np.zeros(0, dtype=np.int64)  # no phrase of a side has an edge: nothing can be reached
    return Neighbourhood((), (), np.zeros(0), (), no_edges, no_edges, np.zeros(0), 0)


def build_local_graph(
    pair: SidePair,
    neighbourhood: Neighbourhood,
    *,
    size: int,
    excluded_ids: frozenset[str] = frozenset(),
    is_single_pair: bool = True,
    ranking: NeighbourRanking = "product",
) -> LocalGraph:
    """Build the graph of the two sides and of the ``size`` best documents besides them.

    Documents of ``excluded_ids`` are ignored. ``is_single_pair``: whether ``neighbourhood`` was fetched for this pair
    alone, so that its count of reached documents is this pair's.
    """
    named_ids = {*pair.a.ids, *pair.b.ids, *excluded_ids}
    edges = _EdgeTable.from_neighbourhood(neighbourhood, pair.candidates.phrases, named_ids)
    for side, weights in ((pair.a, pair.candidates.edges_a), (pair.b, pair.candidates.edges_b)):
        edges.add_missing_documents(side, weights)
    relevance = _compute_document_relevance(edges, pair.candidates, ranking)
    own_columns = dict.fromkeys(edges.column_by_id[id] for side in (pair.a, pair.b) for id in side.graph_ids)
    excluded_columns = [edges.column_by_id[id] for id in excluded_ids if id in edges.column_by_id]
    columns = _select_graph_columns(edges, relevance, size, list(own_columns), excluded_columns)
    reached = neighbourhood.reached_count if is_single_pair else int(np.count_nonzero(relevance > 0))
    return edges.build_graph(pair, columns, reached)


def _scale_boosts(phrases: Sequence[str], weights: NDArray[np.float64]) -> dict[str, float]:
    top = float(weights.max(initial=0.0))
    return {p: v / top for p, v in zip(phrases, weights.tolist(), strict=True) if v > 0}


def _merge_boosts(boosts: Iterable[dict[str, float]]) -> dict[str, float]:
    """Return the largest boost of each phrase."""
    merged: dict[str, float] = {}
    for boost_by_phrase in boosts:
        for phrase, boost in boost_by_phrase.items():
            merged[phrase] = max(boost, merged.get(phrase, 0.0))
    return merged


@dataclass
class _EdgeTable:
    """Documents and edges while the graph is being built."""

    ids: Sequence[str]
    column_by_id: dict[str, int]
    """Column of each document of the sides and of each excluded one, as far as they are here."""
    titles: Sequence[str]
    degrees: NDArray[np.float64]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    weights: NDArray[np.float64]

    @classmethod
    def from_neighbourhood(
        cls, neighbourhood: Neighbourhood, phrases: Sequence[str], named_ids: Collection[str]
    ) -> _EdgeTable:
        """Take over the documents and those edges that belong to ``phrases``."""
        # the last element takes the phrases that the neighbourhood lacks
        row_by_found = np.full(len(neighbourhood.phrases) + 1, -1, dtype=np.int64)
        row_by_found[[neighbourhood.row_by_phrase.get(phrase, -1) for phrase in phrases]] = np.arange(len(phrases))
        rows = row_by_found[neighbourhood.rows]
        known = np.flatnonzero(rows >= 0)
        return cls(
            neighbourhood.ids,
            neighbourhood.find_columns(named_ids),
            neighbourhood.titles,
            neighbourhood.degrees,
            rows[known],
            neighbourhood.columns[known],
            neighbourhood.weights[known],
        )

    def add_missing_documents(self, side: ResolvedSide, edge_weights: NDArray[np.float64]) -> None:
        """Add the side's documents that the engine did not return: ad-hoc ones, and those it left out.

        ``edge_weights``: BM25 of the candidates in the side's documents, shape (phrases, documents).
        """
        missing = [i for i, id in enumerate(side.graph_ids) if id not in self.column_by_id]
        if not missing:
            return
        rows, columns = np.nonzero(edge_weights[:, missing])
        self.rows = np.concatenate([self.rows, rows])
        self.columns = np.concatenate([self.columns, columns + len(self.ids)])
        self.weights = np.concatenate([self.weights, edge_weights[:, missing][rows, columns]])
        self.degrees = np.concatenate([self.degrees, [side.documents[i].degree for i in missing]])
        self.column_by_id.update((side.graph_ids[i], len(self.ids) + n) for n, i in enumerate(missing))
        self.ids = _concatenate_lazily(self.ids, [side.graph_ids[i] for i in missing])
        self.titles = _concatenate_lazily(self.titles, [side.documents[i].document.title for i in missing])

    def build_graph(self, pair: SidePair, selected_columns: NDArray[np.int64], reached_count: int) -> LocalGraph:
        """Build the graph of the ``selected_columns``, in their order."""
        new_columns = np.full(len(self.ids), -1, dtype=np.int64)
        new_columns[selected_columns] = np.arange(len(selected_columns))
        columns = new_columns[self.columns]
        inside = np.flatnonzero(columns >= 0)
        rows, columns, weights = self.rows[inside], columns[inside], self.weights[inside]
        sides = (pair.a, pair.b)
        own = [new_columns[[self.column_by_id[id] for id in side.graph_ids]] for side in sides]
        degrees = pair.candidates.degrees
        # the edges of an ad-hoc document are not in the stored degrees of its phrases
        if any(side.is_ad_hoc for side in sides):
            is_ad_hoc = np.zeros(len(selected_columns), dtype=bool)
            for side, side_columns in zip(sides, own, strict=True):
                is_ad_hoc[side_columns] |= side.is_ad_hoc
            extra = np.flatnonzero(is_ad_hoc[columns])
            degrees = degrees + np.bincount(rows[extra], weights[extra], len(degrees))
        total = float(degrees.sum())
        order = selected_columns.tolist()
        return LocalGraph(
            subgraph=Subgraph.from_edges(rows, columns, weights, degrees, self.degrees[selected_columns]),
            phrases=pair.candidates.phrases,
            ids=LazySequence(len(order), lambda i: self.ids[order[i]]),
            titles=LazySequence(len(order), lambda i: self.titles[order[i]]),
            columns_a=own[0],
            columns_b=own[1],
            edges=EdgeList(rows, columns, weights),
            reached_count=reached_count,
            left_out_share=max(0.0, 1.0 - float(weights.sum()) / total) if total > 0 else 0.0,
        )


def _concatenate_lazily(first: Sequence[str], second: Sequence[str]) -> Sequence[str]:
    size = len(first)
    return LazySequence(size + len(second), lambda i: first[i] if i < size else second[i - size])


def _compute_document_relevance(
    edges: _EdgeTable, candidates: PairCandidates, ranking: NeighbourRanking
) -> NDArray[np.float64]:
    """Return the product (or sum) of each document's first-order relevance to a and to b, shape (documents,).

    It is 0 for a document that only one side reaches.
    """
    count = len(edges.ids)
    a, b = (
        np.bincount(edges.columns, edges.weights * sent[edges.rows], count) for sent in candidates.first_step_weights
    )
    combined = a * b if ranking == "product" else np.where((a > 0) & (b > 0), a + b, 0.0)
    divisor = edges.degrees if ranking == "product" else np.sqrt(edges.degrees)
    return np.divide(combined, divisor, out=np.zeros(count), where=divisor > 0)


def _select_graph_columns(
    edges: _EdgeTable,
    relevance: NDArray[np.float64],
    max_neighbours: int,
    own_columns: list[int],
    excluded_columns: list[int],
) -> NDArray[np.int64]:
    """Return the sides' ``own_columns``, then the first ``max_neighbours`` others by relevance, ties by id."""
    may_stay = relevance > 0
    may_stay[own_columns + excluded_columns] = False
    neighbours = np.flatnonzero(may_stay)
    # to 9 digits: the order in which numbers were added up must not decide
    scores = np.round(np.log(relevance[neighbours]), 9)
    if len(neighbours) > max_neighbours:
        is_likely = scores >= np.partition(scores, len(scores) - max_neighbours)[len(scores) - max_neighbours]
        neighbours, scores = neighbours[is_likely], scores[is_likely]
    order = np.argsort(-scores, kind="stable")
    ties = np.flatnonzero(np.diff(scores[order]) == 0)
    if len(ties):  # few ids are read
        tied = {i: edges.ids[int(neighbours[i])] for i in order[np.union1d(ties, ties + 1)].tolist()}
        ranked = sorted(order.tolist(), key=lambda i: (-scores[i], tied.get(i, "")))
        order = np.array(ranked, dtype=np.int64)
    return np.concatenate([np.sort(np.array(own_columns, dtype=np.int64)), neighbours[order[:max_neighbours]]])
