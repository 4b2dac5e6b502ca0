"""Measurements of solving on a neighbourhood against the full graph, and against the paper's algorithm there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from worker.benchmark.environment import BenchEnvironment, build_ms_figures
from worker.benchmark.rows import MeasuredFigures
from worker.comparer import Comparer
from worker.explain.candidates import PairCandidates
from worker.explain.full_graph import CorpusGraph
from worker.explain.neighbourhood import SidePair, build_local_graph, fetch_neighbourhood
from worker.explain.resolver import resolve_sides
from worker.explain.spec import ComparisonSpec
from worker.solver.calibration import calibrate_relevance
from worker.solver.paper_common import solve_common
from worker.solver.paper_distinct import solve_distinct
from worker.solver.parameters import DEFAULT, PAPER
from worker.solver.seeds import Seeds, SeedSide, build_pair_seeds
from worker.solver.subgraph import Flags, Subgraph


@dataclass(frozen=True, eq=False)
class SolveCase:
    """A pair on a graph, ready to be solved."""

    graph: Subgraph
    a: SeedSide
    b: SeedSide
    in_a: Flags
    """Flags of the salient phrases of a, shape (phrases, 1)."""
    in_b: Flags
    """Flags of the salient phrases of b, shape (phrases, 1)."""

    def build_seeds(self, delta: float) -> Seeds:
        return build_pair_seeds(self.graph, self.a, self.b, alpha=PAPER.alpha, delta=delta)

    def solve_relevance(self) -> None:
        """Solve the relevance of every phrase and document to both sides, as a comparison does."""
        calibrate_relevance(self.graph, self.build_seeds(0.0), self.in_a, self.in_b, DEFAULT)

    def solve_paper_problems(self) -> None:
        """Solve the paper's two problems by its algorithm and stopping rule."""
        seeds = self.build_seeds(PAPER.delta)
        common = solve_common(self.graph, seeds, self.in_a, self.in_b, PAPER)
        solve_distinct(self.graph, seeds, self.in_a, self.in_b, common.selected, PAPER)


def measure_solve(environment: BenchEnvironment, engine_kind: str) -> MeasuredFigures:
    """Measure solving on neighbourhoods against solving on the full graph; graphs are built beforehand."""
    local, full = _build_local_and_full_cases(environment, engine_kind)
    steps = {"ours": lambda case: local[case].solve_relevance(), "full": lambda case: full[case].solve_relevance()}
    times = environment.time_steps(steps, len(local))
    small, large = local[0].graph, full[0].graph
    note = (
        f"{small.phrase_count:,} x {small.document_count:,} against "
        f"{large.phrase_count:,} x {large.document_count:,}, {large.edge_count:,} edges"
    )
    return build_ms_figures(times["ours"], times["full"], note)


def measure_paper_problems(environment: BenchEnvironment, engine_kind: str) -> MeasuredFigures:
    """Measure a whole comparison against nothing but the paper's two problems on a full graph in memory."""
    _, full = _build_local_and_full_cases(environment, engine_kind)
    steps = {"ours": environment.build_cold_step(engine_kind), "paper": lambda case: full[case].solve_paper_problems()}
    times = environment.time_steps(steps, len(full))
    return build_ms_figures(times["ours"], times["paper"], "the graph is in memory; only solving is timed")


def _build_local_and_full_cases(
    environment: BenchEnvironment, engine_kind: str
) -> tuple[list[SolveCase], list[SolveCase]]:
    """Return a case for every pair on its neighbourhood, and on the full graph."""
    comparer, specs = environment.get_comparer(engine_kind), environment.build_specs(engine_kind)
    pairs = [_resolve_pair(comparer, spec) for spec in specs]
    local = [_build_local_case(spec, pair) for spec, pair in zip(specs, pairs, strict=True)]
    return local, _build_full_cases(pairs)


def _resolve_pair(comparer: Comparer, spec: ComparisonSpec) -> SidePair:
    reader = comparer.engine.open_reader(spec.index)
    a, b = resolve_sides(reader, [spec.a, spec.b], limits=comparer.limits)
    return SidePair(a, b, PairCandidates.from_sides(a, b, spec.k))


def _build_local_case(spec: ComparisonSpec, pair: SidePair) -> SolveCase:
    neighbourhood = fetch_neighbourhood(pair.a.reader, [pair], size=spec.neighbours)
    graph = build_local_graph(pair, neighbourhood, size=spec.neighbours)
    rows = {phrase: i for i, phrase in enumerate(graph.phrases)}
    return SolveCase(
        graph.subgraph, SeedSide(graph.columns_a.tolist()), SeedSide(graph.columns_b.tolist()),
        _flag_phrases(rows, pair.candidates.salient_a), _flag_phrases(rows, pair.candidates.salient_b),
    )  # fmt: skip


def _build_full_cases(pairs: Sequence[SidePair]) -> list[SolveCase]:
    """Return a case for every pair on one full graph: pairs differ in seeds and flags only."""
    reader = pairs[0].a.reader
    corpus_graph = CorpusGraph.from_reader(reader, None)
    graph = Subgraph.from_edges(*corpus_graph.edges, reader.model.degree, corpus_graph.degrees)
    columns = {id: column for column, id in enumerate(corpus_graph.ids)}
    rows = reader.model.phrase_ids
    return [
        SolveCase(
            graph, SeedSide([columns[id] for id in pair.a.ids]), SeedSide([columns[id] for id in pair.b.ids]),
            _flag_phrases(rows, pair.candidates.salient_a), _flag_phrases(rows, pair.candidates.salient_b),
        )
        for pair in pairs
    ]  # fmt: skip


def _flag_phrases(row_by_phrase: Mapping[str, int], phrases: Sequence[str]) -> Flags:
    """Return which rows of a graph are among the phrases, shape (len(rows), 1)."""
    flags = np.zeros((len(row_by_phrase), 1), dtype=np.bool_)
    flags[[row_by_phrase[phrase] for phrase in phrases if phrase in row_by_phrase]] = True
    return flags
