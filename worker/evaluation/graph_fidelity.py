"""How far a neighbourhood is from the whole graph: a report, not a goal.

For each pair relevance and lists are computed on the full graph and on neighbourhoods of several sizes
and both rankings. Reported: the error of the relevance of one-sided phrases to the side that lacks
them, the overlap of the lists, and the time of building and solving.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.comparer import Comparer
from worker.evaluation.metrics import weighted_auc
from worker.explain.candidates import Candidates
from worker.explain.full_graph import full_graph
from worker.explain.neighbourhood import LocalGraph, Pair, Ranking, local_graph, reach
from worker.explain.pair_features import pose
from worker.explain.resolver import resolve
from worker.explain.side import Side
from worker.methods import METHODS
from worker.methods.base import Sorting
from worker.solver.parameters import PRESETS
from worker.solver.propagation import propagate
from worker.solver.seeds import pair_seeds

Progress = Callable[[int, int], None]


@dataclass
class _Row:
    errors: list[float] = field(default_factory=list)
    common: list[float] = field(default_factory=list)
    distinct: list[float] = field(default_factory=list)
    implied: list[float] = field(default_factory=list)
    ms: list[float] = field(default_factory=list)
    margins: list[tuple[float, bool]] = field(default_factory=list)


@dataclass(frozen=True)
class Asked:
    """A pair of ids, and which phrases are known to be semantic (True) or distinct (False)."""

    a: str
    b: str
    semantic: dict[str, bool] = field(default_factory=dict)


def evaluate_fidelity(
    comparer: Comparer,
    index: str,
    pairs: Sequence[Asked],
    *,
    preset: str = "default",
    sizes: Sequence[int] = (50, 100, 200, 300, 1000),
    rankings: Sequence[Ranking] = ("product", "total"),
    progress: Progress | None = None,
) -> dict[str, Any]:
    """A row per size and ranking, and one for the full graph itself."""
    reader = comparer.engine.open(index)
    rows: dict[tuple[str, int], _Row] = {("full", 0): _Row()}
    rows |= {(ranking, size): _Row() for ranking in rankings for size in sizes}
    for done, asked in enumerate(pairs):
        a, b = resolve(reader, [Side.document(asked.a), Side.document(asked.b)], limits=comparer.limits)
        pair = Pair(a, b, Candidates.of(a, b, None))
        whole = _solve(pair, full_graph(pair), preset, asked, rows["full", 0])
        found = {size: reach(reader, [pair], size=size) for size in sizes}
        for ranking in rankings:
            for size in sizes:
                start = time.perf_counter()
                graph = local_graph(pair, found[size], size=size, ranking=ranking)
                row = rows[ranking, size]
                near = _solve(pair, graph, preset, asked, row)
                row.ms.append(1000 * (time.perf_counter() - start))
                _compare(row, pair, whole, near)
        if progress:
            progress(done + 1, len(pairs))
    return {"pairs": len(pairs), "preset": preset, "rows": [_figures(*key, row) for key, row in rows.items()]}


@dataclass(frozen=True, eq=False)
class _Solved:
    f: NDArray[np.float64]
    """Relevance of the candidates to a and to b, shape (candidates, 2)."""
    sorting: Sorting

    def list(self, name: str) -> set[str]:
        return {self.sorting.phrases[i] for i in getattr(self.sorting, name).index.tolist()}


def _solve(pair: Pair, graph: LocalGraph, preset: str, asked: Asked, row: _Row) -> _Solved:
    parameters = PRESETS[preset]
    problem = pose(pair, graph, parameters)
    sorting = METHODS["cda"].sort(problem)
    seeds = pair_seeds(graph.graph, problem.side_a, problem.side_b, alpha=parameters.alpha)
    f = propagate(graph.graph, seeds, parameters.alpha, tolerance=1e-9, limit=50).f[: len(pair.candidates.phrases)]
    margin = dict(zip(sorting.phrases, sorting.margin.tolist(), strict=True))
    row.margins += [(margin[p], known) for p, known in asked.semantic.items() if p in margin]
    return _Solved(f, sorting)


def _compare(row: _Row, pair: Pair, whole: _Solved, near: _Solved) -> None:
    words_a, words_b = pair.a.wording, pair.b.wording
    counts = [(words_a.count(p) > 0, words_b.count(p) > 0) for p in pair.candidates.phrases]
    for i, (in_a, in_b) in enumerate(counts):
        side = 1 if in_a and not in_b else 0
        if in_a != in_b and whole.f[i, side] > 0:
            row.errors.append(abs(near.f[i, side] / whole.f[i, side] - 1))
    shared = {p for p, (in_a, in_b) in zip(pair.candidates.phrases, counts, strict=True) if in_a and in_b}
    row.common.append(_jaccard(whole.list("common"), near.list("common")))
    row.implied.append(_jaccard(whole.list("common") - shared, near.list("common") - shared))
    row.distinct += [_jaccard(whole.list(name), near.list(name)) for name in ("distinct_a", "distinct_b")]


def _jaccard(one: set[str], other: set[str]) -> float:
    return len(one & other) / len(one | other) if one or other else 1.0


def _figures(ranking: str, size: int, row: _Row) -> dict[str, Any]:
    margins = np.array([m for m, _ in row.margins])
    known = np.array([k for _, k in row.margins], dtype=bool)
    return {
        "documents": ranking,
        "size": size,
        "auc": weighted_auc(margins, known, np.ones(len(known))) if len(known) else 0.5,
        "error_median": float(np.median(row.errors)) if row.errors else 0.0,
        "error_p95": float(np.percentile(row.errors, 95)) if row.errors else 0.0,
        "jaccard_common": _mean(row.common),
        "jaccard_implied": _mean(row.implied),
        "jaccard_distinct": _mean(row.distinct),
        "ms": float(np.median(row.ms)) if row.ms else 0.0,
    }


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else 1.0
