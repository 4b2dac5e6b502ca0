"""Difference between comparisons on a neighbourhood and on the full graph: a report without a goal.

For each pair, relevance and lists are computed on the full graph and on neighbourhoods of several sizes and both
rankings. Reported are the relative error of the relevance of one-sided phrases to the side that lacks them, the overlap
of the lists, and the time of building and solving.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.comparer import Comparer
from worker.evaluation.gold import GoldPair
from worker.evaluation.quality_metrics import CaseProgress, compute_auc
from worker.explain.candidates import PairCandidates
from worker.explain.full_graph import build_full_graph
from worker.explain.neighbourhood import LocalGraph, NeighbourRanking, SidePair, build_local_graph, fetch_neighbourhood
from worker.explain.pair_features import build_problem
from worker.explain.resolver import resolve_sides
from worker.explain.side import Side
from worker.methods.base import MethodResult, RankedList
from worker.methods.registry import METHODS
from worker.solver.parameters import PRESETS
from worker.solver.propagation import propagate_iteratively
from worker.solver.seeds import build_pair_seeds


@dataclass
class _GraphResult:
    """Values collected over pairs for one way to choose the documents of the graph."""

    relevance_errors: list[float] = field(default_factory=list)
    common_overlaps: list[float] = field(default_factory=list)
    distinct_overlaps: list[float] = field(default_factory=list)
    implied_overlaps: list[float] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    margins: list[tuple[float, bool]] = field(default_factory=list)
    """Margin of each labelled one-sided phrase, and whether it is semantic."""


@dataclass(frozen=True)
class FidelityPair:
    """Ids of two documents, with labelled phrases that occur in one of them."""

    a: str
    b: str
    semantic: dict[str, bool] = field(default_factory=dict)
    """Phrase -> whether it is semantic; otherwise it is distinct."""

    @classmethod
    def from_gold(cls, pair: GoldPair) -> FidelityPair:
        semantic = {phrase: label == "semantic" for phrase, label in pair.labels.items() if label != "surface"}
        return cls(pair.a.document.id, pair.b.document.id, semantic)


def evaluate_fidelity(
    comparer: Comparer,
    index: str,
    pairs: Sequence[FidelityPair],
    *,
    preset: str = "default",
    sizes: Sequence[int] = (50, 100, 200, 300, 1000),
    rankings: Sequence[NeighbourRanking] = ("product", "total"),
    progress: CaseProgress | None = None,
) -> dict[str, Any]:
    """Return a row per size and ranking, and one for the full graph itself."""
    reader = comparer.engine.open_reader(index)
    results: dict[tuple[str, int], _GraphResult] = {("full", 0): _GraphResult()}
    results |= {(ranking, size): _GraphResult() for ranking in rankings for size in sizes}
    for done, ids in enumerate(pairs):
        a, b = resolve_sides(reader, [Side.from_id(ids.a), Side.from_id(ids.b)], limits=comparer.limits)
        pair = SidePair(a, b, PairCandidates.from_sides(a, b, None))
        full = _solve_and_record_margins(pair, build_full_graph(pair), preset, ids.semantic, results["full", 0])
        neighbourhoods = {size: fetch_neighbourhood(reader, [pair], size=size) for size in sizes}
        for ranking in rankings:
            for size in sizes:
                start = time.perf_counter()
                graph = build_local_graph(pair, neighbourhoods[size], size=size, ranking=ranking)
                result = results[ranking, size]
                local = _solve_and_record_margins(pair, graph, preset, ids.semantic, result)
                result.milliseconds.append(1000 * (time.perf_counter() - start))
                _record_differences(result, pair, full, local)
        if progress:
            progress(done + 1, len(pairs))
    rows = [_summarise_result(*key, result) for key, result in results.items()]
    return {"pairs": len(pairs), "preset": preset, "rows": rows}


@dataclass(frozen=True, eq=False)
class _SolvedPair:
    """Relevance and lists of one pair on one graph."""

    relevance: NDArray[np.float64]
    """Relevance of the candidates to a and to b, shape (candidates, 2)."""
    result: MethodResult

    def get_phrases(self, list_name: str) -> set[str]:
        """Return the phrases of the list ``common``, ``distinct_a`` or ``distinct_b``."""
        ranked: RankedList = getattr(self.result, list_name)
        return {self.result.phrases[i] for i in ranked.indices.tolist()}


def _solve_and_record_margins(
    pair: SidePair, graph: LocalGraph, preset: str, is_semantic_by_phrase: dict[str, bool], result: _GraphResult
) -> _SolvedPair:
    """Solve a pair on a graph and add the margins of its labelled phrases to ``result``."""
    parameters = PRESETS[preset]
    problem = build_problem([pair], graph, parameters)
    solution = METHODS["cda"].sort_phrases(problem)
    seeds = build_pair_seeds(graph.subgraph, problem.a.seed, problem.b.seed, alpha=parameters.alpha)
    f = propagate_iteratively(graph.subgraph, seeds, parameters.alpha, tolerance=1e-9, max_steps=50).f[
        : len(pair.candidates.phrases)
    ]
    margin = dict(zip(solution.phrases, solution.margin.tolist(), strict=True))
    result.margins += [(margin[p], is_semantic) for p, is_semantic in is_semantic_by_phrase.items() if p in margin]
    return _SolvedPair(f, solution)


def _record_differences(result: _GraphResult, pair: SidePair, full: _SolvedPair, local: _SolvedPair) -> None:
    text_a, text_b = pair.a.text, pair.b.text
    occurs = [(text_a.count(p) > 0, text_b.count(p) > 0) for p in pair.candidates.phrases]
    for i, (in_a, in_b) in enumerate(occurs):
        side = 1 if in_a and not in_b else 0
        if in_a != in_b and full.relevance[i, side] > 0:
            result.relevance_errors.append(abs(local.relevance[i, side] / full.relevance[i, side] - 1))
    shared = {p for p, (in_a, in_b) in zip(pair.candidates.phrases, occurs, strict=True) if in_a and in_b}
    common_full, common_local = full.get_phrases("common"), local.get_phrases("common")
    result.common_overlaps.append(_compute_jaccard(common_full, common_local))
    result.implied_overlaps.append(_compute_jaccard(common_full - shared, common_local - shared))
    result.distinct_overlaps += [
        _compute_jaccard(full.get_phrases(name), local.get_phrases(name)) for name in ("distinct_a", "distinct_b")
    ]


def _compute_jaccard(a: set[str], b: set[str]) -> float:
    return len(a & b) / len(a | b) if a or b else 1.0


def _summarise_result(ranking: str, size: int, result: _GraphResult) -> dict[str, Any]:
    margins = np.array([margin for margin, _ in result.margins])
    semantic = np.array([is_semantic for _, is_semantic in result.margins], dtype=bool)
    return {
        "documents": ranking,
        "size": size,
        "auc": compute_auc(margins, semantic),
        "error_median": float(np.median(result.relevance_errors)) if result.relevance_errors else 0.0,
        "error_p95": float(np.percentile(result.relevance_errors, 95)) if result.relevance_errors else 0.0,
        "jaccard_common": _mean(result.common_overlaps),
        "jaccard_implied": _mean(result.implied_overlaps),
        "jaccard_distinct": _mean(result.distinct_overlaps),
        "ms": float(np.median(result.milliseconds)) if result.milliseconds else 0.0,
    }


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else 1.0
