"""The neighbourhood as nodes and edges, for drawing."""

from __future__ import annotations

from typing import Any

import numpy as np

from worker.explain.neighbourhood import LocalGraph
from worker.explain.resolved_side import AD_HOC_PREFIX
from worker.methods.base import MethodResult, PairProblem

MAX_DOCUMENTS_PER_GROUP = 40
"""Documents shown of side a, of side b and of neither; more cannot be distinguished in a drawing."""


def build_graph_view(graph: LocalGraph, problem: PairProblem, result: MethodResult) -> dict[str, Any]:
    """Return nodes and edges as JSON: the candidates with their list, and the documents with the most edge weight."""
    rows, columns, weights = graph.edges
    side = {**dict.fromkeys(graph.columns_b.tolist(), "b"), **dict.fromkeys(graph.columns_a.tolist(), "a")}
    shown = _select_shown_columns(graph, side, np.bincount(columns, weights, len(graph.ids)).tolist())
    names = {j: f"d{n}" for n, j in enumerate(shown)}
    candidates = np.flatnonzero(problem.is_candidate).tolist()
    keys = {i: f"p{i}" for i in candidates}
    lists = {"common": result.common, "distinct_a": result.distinct_a, "distinct_b": result.distinct_b}
    where = {result.phrases[i]: name for name, ranked in lists.items() for i in ranked.indices.tolist()}
    nodes: list[dict[str, Any]] = [
        {
            "key": names[j],
            "kind": "document",
            "id": _get_public_id(graph.ids[j]),
            "title": graph.titles[j],
            "side": side.get(j),
        }
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


def _select_shown_columns(graph: LocalGraph, side_by_column: dict[int, str], load_by_column: list[float]) -> list[int]:
    """Return the columns with the largest ``load_by_column`` of side a, of side b and of neither."""
    order = sorted(range(len(graph.ids)), key=lambda j: (-load_by_column[j], graph.ids[j]))
    return [
        j
        for kind in ("a", "b", None)
        for j in [j for j in order if side_by_column.get(j) == kind][:MAX_DOCUMENTS_PER_GROUP]
    ]


def _get_public_id(id: str) -> str:
    return "" if id.startswith(AD_HOC_PREFIX) else id
