"""Solving on a neighbourhood against solving on the whole graph, and against the paper's algorithm there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from worker.benchmark.environment import Setting, in_ms
from worker.benchmark.rows import Figures
from worker.benchmark.timing import interleaved
from worker.comparer import Comparer
from worker.explain.candidates import Candidates
from worker.explain.full_graph import WholeGraph
from worker.explain.neighbourhood import Pair, local_graph, reach
from worker.explain.resolver import resolve
from worker.explain.spec import Question
from worker.solver.calibration import calibrate
from worker.solver.common_problem import solve_common
from worker.solver.distinct_problem import solve_distinct
from worker.solver.parameters import DEFAULT, PAPER
from worker.solver.seeds import Seeds, Side, pair_seeds
from worker.solver.subgraph import Flags, Subgraph


@dataclass(frozen=True, eq=False)
class Posed:
    """One pair on one graph, ready to be solved; flags have shape (phrases, 1)."""

    graph: Subgraph
    a: Side
    b: Side
    in_a: Flags
    in_b: Flags

    def seeds(self, delta: float) -> Seeds:
        return pair_seeds(self.graph, self.a, self.b, alpha=PAPER.alpha, delta=delta)

    def relevance(self) -> None:
        """The solve of a comparison: relevance of every phrase and document to both sides."""
        calibrate(self.graph, self.seeds(0.0), self.in_a, self.in_b, DEFAULT)

    def both_problems(self) -> None:
        """The paper's algorithm, stopped by its own rule."""
        seeds = self.seeds(PAPER.delta)
        common = solve_common(self.graph, seeds, self.in_a, self.in_b, PAPER)
        solve_distinct(self.graph, seeds, self.in_a, self.in_b, common.selected, PAPER)


def solve(setting: Setting, kind: str) -> Figures:
    """The same solve on both graphs, each put together beforehand."""
    local, whole = _posed(setting, kind)
    steps = {"ours": lambda case: local[case].relevance(), "whole": lambda case: whole[case].relevance()}
    times = interleaved(steps, len(local), setting.budget)
    graph, full = local[0].graph, whole[0].graph
    note = (
        f"{graph.phrases:,} x {graph.documents:,} against {full.phrases:,} x {full.documents:,}, {full.edges:,} edges"
    )
    return in_ms(times["ours"], times["whole"], note)


def paper(setting: Setting, kind: str) -> Figures:
    """A whole comparison against nothing but the paper's two problems on a graph that stands ready."""
    _, whole = _posed(setting, kind)
    steps = {"ours": setting.cold(kind), "paper": lambda case: whole[case].both_problems()}
    times = interleaved(steps, len(whole), setting.budget)
    return in_ms(times["ours"], times["paper"], "the graph is in memory; nothing but its solve is counted")


def _posed(setting: Setting, kind: str) -> tuple[list[Posed], list[Posed]]:
    """Every pair on its neighbourhood and on the whole graph."""
    comparer, questions = setting.comparer(kind), setting.questions(kind)
    pairs = [_pair(comparer, question) for question in questions]
    return [_local(q, pair) for q, pair in zip(questions, pairs, strict=True)], _whole(pairs)


def _pair(comparer: Comparer, question: Question) -> Pair:
    reader = comparer.engine.open(question.index)
    a, b = resolve(reader, [question.a, question.b], limits=comparer.limits)
    return Pair(a, b, Candidates.of(a, b, question.k))


def _local(question: Question, pair: Pair) -> Posed:
    found = reach(pair.a.reader, [pair], size=question.neighbours)
    graph = local_graph(pair, found, size=question.neighbours)
    row = {phrase: i for i, phrase in enumerate(graph.phrases)}
    return Posed(
        graph.graph, Side(graph.own_a.tolist()), Side(graph.own_b.tolist()),
        _flags(row, pair.candidates.of_a), _flags(row, pair.candidates.of_b),
    )  # fmt: skip


def _whole(pairs: Sequence[Pair]) -> list[Posed]:
    """The graph is made once: which pair is asked about changes seeds and flags only."""
    reader = pairs[0].a.reader
    whole = WholeGraph.of(reader, None)
    graph = Subgraph.from_edges(whole.rows, whole.columns, whole.weights, reader.model.degree, whole.degrees)
    at = {id: column for column, id in enumerate(whole.ids)}
    row = reader.model.phrase_ids
    return [
        Posed(
            graph, Side([at[id] for id in pair.a.ids]), Side([at[id] for id in pair.b.ids]),
            _flags(row, pair.candidates.of_a), _flags(row, pair.candidates.of_b),
        )
        for pair in pairs
    ]  # fmt: skip


def _flags(row: Mapping[str, int], own: Sequence[str]) -> Flags:
    chosen = np.zeros((len(row), 1), dtype=np.bool_)
    chosen[[row[phrase] for phrase in own if phrase in row]] = True
    return chosen
