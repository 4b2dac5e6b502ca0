"""The whole corpus as one graph: every phrase, every document. For the shell and Python only.

The matrix is put together from the index once an epoch, with the weights the epoch was built on, and
kept while the process lives; once documents have been added or deleted, it is put together each time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.engines.base import Groups, Reader
from indexer.model.phrase_model import PhraseModel
from worker.explain.neighbourhood import LocalGraph, Pair
from worker.solver.subgraph import Subgraph


@dataclass(frozen=True, eq=False)
class WholeGraph:
    """Edges of all documents, phrases numbered as in the model."""

    model: PhraseModel
    groups: Groups
    ids: tuple[str, ...]
    titles: tuple[str, ...]
    degrees: NDArray[np.float64]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, reader: Reader, groups: Groups) -> WholeGraph:
        number = reader.model.phrase_ids
        ids: list[str] = []
        titles: list[str] = []
        degrees: list[float] = []
        rows: list[int] = []
        weights: list[float] = []
        sizes: list[int] = []
        for document in reader.scan(groups):
            ids.append(document.document.id)
            titles.append(document.document.title)
            degrees.append(document.degree)
            held = [(number[p], w) for p, w in zip(document.phrases, document.weights, strict=True) if p in number]
            rows.extend(row for row, _ in held)
            weights.extend(weight for _, weight in held)
            sizes.append(len(held))
        columns = np.repeat(np.arange(len(sizes)), np.array(sizes, dtype=np.int64))
        return cls(
            reader.model, groups, tuple(ids), tuple(titles), np.array(degrees),
            np.array(rows, dtype=np.int64), columns.astype(np.int64), np.array(weights),
        )  # fmt: skip


_KEPT: list[WholeGraph] = []
"""At most one."""


def full_graph(pair: Pair, groups: Groups = None, without: frozenset[str] = frozenset()) -> LocalGraph:
    """The candidates first, then every other phrase; guests are added as documents of their own."""
    whole = _whole(pair.a.reader, groups)
    model, first = whole.model, pair.candidates.numbers
    order = np.concatenate([first, np.setdiff1d(np.arange(len(model.phrases)), first)])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    left = [i for i, id in enumerate(whole.ids) if id in without]
    kept = ~np.isin(whole.columns, left)
    rows, columns, weights = place[whole.rows[kept]], whole.columns[kept], whole.weights[kept]
    ids, titles, degrees = list(whole.ids), list(whole.titles), whole.degrees.tolist()
    phrase_degrees = model.degree[order]
    at = {id: i for i, id in enumerate(ids)}
    for side in (pair.a, pair.b):
        name = side.columns[0] if side.columns else ""
        if not side.guest or name in at:
            continue
        document = side.documents[0]
        held = np.array([place[model.phrase_ids[p]] for p in document.phrases], dtype=np.int64)
        rows, weights = np.concatenate([rows, held]), np.concatenate([weights, document.weights])
        columns = np.concatenate([columns, np.full(len(held), len(ids))])
        phrase_degrees[held] += document.weights
        at[name] = len(ids)
        ids.append(name)
        titles.append(document.document.title)
        degrees.append(document.degree)
    return LocalGraph(
        graph=Subgraph.from_edges(rows, columns, weights, phrase_degrees, np.array(degrees)),
        phrases=tuple(model.phrases[i] for i in order),
        ids=tuple(ids),
        titles=tuple(titles),
        own_a=np.array([at[name] for name in pair.a.columns], dtype=np.int64),
        own_b=np.array([at[name] for name in pair.b.columns], dtype=np.int64),
        weights=(rows, columns, weights),
        reached=len(whole.ids),
        left_out=0.0,
    )


def _whole(reader: Reader, groups: Groups) -> WholeGraph:
    for kept in _KEPT:
        if kept.model is reader.model and kept.groups == groups and reader.info.drift == 0:
            return kept
    whole = WholeGraph.of(reader, groups)
    _KEPT[:] = [whole] if reader.info.drift == 0 else []
    return whole
