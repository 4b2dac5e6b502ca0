"""Solving on a neighbourhood against solving on the whole graph, and against the paper's algorithm there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from worker.benchmark.environment import BenchEnvironment, build_ms_figures
from worker.benchmark.rows import MeasuredFigures
from worker.benchmark.timing import time_interleaved
from worker.comparer import Comparer
from worker.explain.candidates import PairCandidates
from worker.explain.full_graph import CorpusGraph
from worker.explain.neighbourhood import SidePair, build_local_graph, fetch_neighbourhood
from worker.explain.resolver import resolve_sides
from worker.explain.spec import ComparisonSpec
from worker.solver.calibration import calibrate_relevance
from worker.solver.common_problem import solve_common
from worker.solver.distinct_problem import solve_distinct
from worker.solver.parameters import DEFAULT, PAPER
from worker.solver.seeds import Seeds, SeedSide, build_pair_seeds
from worker.solver.subgraph import Flags, Subgraph


@dataclass(frozen=True, eq=False)
class SolveCase:
    """One pair on one graph, ready to be solved; flags have shape (phrases, 1)."""

    graph: Subgraph
    a: SeedSide
    b: SeedSide
    in_a: Flags
    in_b: Flags

    def build_seeds(self, delta: float) -> Seeds:
        return build_pair_seeds(self.graph, self.a, self.b, alpha=PAPER.alpha, delta=delta)

    def solve_relevance(self) -> None:
        """The solve of a comparison: relevance of every phrase and document to both sides."""
        calibrate_relevance(self.graph, self.build_seeds(0.0), self.in_a, self.in_b, DEFAULT)

    def solve_paper_problems(self) -> None:
        """The paper's algorithm, stopped by its own rule."""
        seeds = self.build_seeds(PAPER.delta)
        common = solve_common(self.graph, seeds, self.in_a, self.in_b, PAPER)
        solve_distinct(self.graph, seeds, self.in_a, self.in_b, common.selected, PAPER)


def measure_solve(environment: BenchEnvironment, kind: str) -> MeasuredFigures:
    """The same solve on both graphs, each put together beforehand."""
    local, whole = _build_cases(environment, kind)
    steps = {"ours": lambda case: local[case].relevance(), "whole": lambda case: whole[case].relevance()}
    times = time_interleaved(steps, len(local), environment.budget_seconds)
    graph, full = local[0].graph, whole[0].graph
    note = (
        f"{graph.phrase_count:,} x {graph.document_count:,} against "
        f"{full.phrase_count:,} x {full.document_count:,}, {full.edge_count:,} edges"
    )
    return build_ms_figures(times["ours"], times["whole"], note)


def measure_paper(environment: BenchEnvironment, kind: str) -> MeasuredFigures:
    """A whole comparison against nothing but the paper's two problems on a graph that stands ready."""
    _, whole = _build_cases(environment, kind)
    steps = {"ours": environment.build_cold_step(kind), "paper": lambda case: whole[case].both_problems()}
    times = time_interleaved(steps, len(whole), environment.budget_seconds)
    return build_ms_figures(times["ours"], times["paper"], "the graph is in memory; nothing but its solve is counted")


def _build_cases(environment: BenchEnvironment, kind: str) -> tuple[list[SolveCase], list[SolveCase]]:
    """Every pair on its neighbourhood and on the whole graph."""
    comparer, questions = environment.get_comparer(kind), environment.build_specs(kind)
    pairs = [_resolve_pair(comparer, question) for question in questions]
    return [_build_local_case(q, pair) for q, pair in zip(questions, pairs, strict=True)], _build_full_cases(pairs)


def _resolve_pair(comparer: Comparer, question: ComparisonSpec) -> SidePair:
    reader = comparer.engine.open_reader(question.index)
    a, b = resolve_sides(reader, [question.a, question.b], limits=comparer.limits)
    return SidePair(a, b, PairCandidates.from_sides(a, b, question.k))


def _build_local_case(question: ComparisonSpec, pair: SidePair) -> SolveCase:
    found = fetch_neighbourhood(pair.a.reader, [pair], size=question.neighbours)
    graph = build_local_graph(pair, found, size=question.neighbours)
    row = {phrase: i for i, phrase in enumerate(graph.phrases)}
    return SolveCase(
        graph.subgraph, SeedSide(graph.columns_a.tolist()), SeedSide(graph.columns_b.tolist()),
        _build_flags(row, pair.candidates.salient_a), _build_flags(row, pair.candidates.salient_b),
    )  # fmt: skip


def _build_full_cases(pairs: Sequence[SidePair]) -> list[SolveCase]:
    """The graph is made once: which pair is asked about changes seeds and flags only."""
    reader = pairs[0].a.reader
    whole = CorpusGraph.from_reader(reader, None)
    graph = Subgraph.from_edges(*whole.edges, reader.model.degree, whole.degrees)
    at = {id: column for column, id in enumerate(whole.ids)}
    row = reader.model.phrase_ids
    return [
        SolveCase(
            graph, SeedSide([at[id] for id in pair.a.ids]), SeedSide([at[id] for id in pair.b.ids]),
            _build_flags(row, pair.candidates.salient_a), _build_flags(row, pair.candidates.salient_b),
        )
        for pair in pairs
    ]  # fmt: skip


def _build_flags(row: Mapping[str, int], own: Sequence[str]) -> Flags:
    chosen = np.zeros((len(row), 1), dtype=np.bool_)
    chosen[[row[phrase] for phrase in own if phrase in row]] = True
    return chosen
