"""The neighbourhood as nodes and edges, for drawing."""

from __future__ import annotations

from typing import Any

import numpy as np

from worker.explain.neighbourhood import LocalGraph
from worker.explain.resolver import GUEST_PREFIX
from worker.methods.base import Problem, Sorting

MOST_DOCUMENTS = 40
"""More third documents, or documents of a side, than this cannot be told apart in a picture."""


def picture(graph: LocalGraph, problem: Problem, sorting: Sorting) -> dict[str, Any]:
    """The candidates by list, the sides, and the third documents that carry most weight."""
    rows, columns, weights = graph.weights
    side = {**dict.fromkeys(graph.own_b.tolist(), "b"), **dict.fromkeys(graph.own_a.tolist(), "a")}
    shown = _shown(graph, side, np.bincount(columns, weights, len(graph.ids)).tolist())
    names = {j: f"d{n}" for n, j in enumerate(shown)}
    candidates = np.flatnonzero(problem.candidates).tolist()
    keys = {i: f"p{i}" for i in candidates}
    lists = {"common": sorting.common, "distinct_a": sorting.distinct_a, "distinct_b": sorting.distinct_b}
    where = {sorting.phrases[i]: name for name, ranked in lists.items() for i in ranked.index.tolist()}
    nodes: list[dict[str, Any]] = [
        {"key": names[j], "kind": "document", "id": _id(graph.ids[j]), "title": graph.titles[j], "side": side.get(j)}
        for j in shown
    ]
    nodes += [
        {"key": keys[i], "kind": "phrase", "phrase": graph.phrases[i], "list": where.get(graph.phrases[i])}
        for i in candidates
    ]
    edges = [
        {"phrase": keys[i], "document": names[j], "weight": round(w, 4)}
        for i, j, w in zip(rows.tolist(), columns.tolist(), weights.tolist(), strict=True)
        if j in names and i in keys
    ]
    return {"nodes": nodes, "edges": edges}


def _shown(graph: LocalGraph, side: dict[int, str], load: list[float]) -> list[int]:
    """The heaviest documents of each kind: side a, side b, third ones."""
    order = sorted(range(len(graph.ids)), key=lambda j: (-load[j], graph.ids[j]))
    return [j for kind in ("a", "b", None) for j in [j for j in order if side.get(j) == kind][:MOST_DOCUMENTS]]


def _id(id: str) -> str:
    return "" if id.startswith(GUEST_PREFIX) else id
