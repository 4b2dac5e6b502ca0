"""The numeric core asked about one problem: seeds, calibration, and the scores of fixed relevance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from indexer.errors import BadParameter
from worker.methods.base import Problem, Sorting
from worker.methods.ranked_lists import ranked
from worker.solver.calibration import Calibration, calibrate, log_margin
from worker.solver.common_problem import CommonProblem
from worker.solver.distinct_problem import DistinctProblem
from worker.solver.parameters import Parameters
from worker.solver.seeds import pair_seeds
from worker.solver.subgraph import Flags, Floats, Subgraph


@dataclass(frozen=True, eq=False)
class Prepared:
    """One pair ready to solve; flags have shape (P, 1)."""

    graph: Subgraph
    in_a: Flags
    in_b: Flags
    calibration: Calibration


def prepare(problem: Problem, method: str) -> Prepared:
    graph, p = problem.graph, problem.parameters
    if graph is None:
        raise BadParameter(f"{method} needs the phrase-document graph", fix="use --method containment without one")
    seeds = pair_seeds(
        graph, problem.side_a, problem.side_b, alpha=p.alpha, delta=p.background(problem.documents),
        background=problem.background if problem.background.any() else None,
    )  # fmt: skip
    in_a, in_b = problem.in_a[:, np.newaxis], problem.in_b[:, np.newaxis]
    return Prepared(graph, in_a, in_b, calibrate(graph, seeds, in_a, in_b, p))


@dataclass(frozen=True, eq=False)
class Selected:
    """C, Q and Q' of one pair with their scores, all of shape (P,)."""

    common: Flags
    distinct_a: Flags
    distinct_b: Flags
    commonality: Floats
    distinction: Floats
    """Of a; that of b is its negative."""
    margin: Floats

    def sorting(
        self, problem: Problem, relevance: Floats, *, iterations: int = 0, rounds: int = 0, notes: tuple[str, ...] = ()
    ) -> Sorting:
        """``relevance`` (P, 2) in units of an average salient phrase."""
        return Sorting(
            phrases=problem.phrases,
            common=ranked(problem.phrases, self.common, self.commonality),
            distinct_a=ranked(problem.phrases, self.distinct_a, self.distinction),
            distinct_b=ranked(problem.phrases, self.distinct_b, -self.distinction),
            relevance_a=relevance[:, 0],
            relevance_b=relevance[:, 1],
            margin=self.margin,
            iterations=iterations,
            rounds=rounds,
            notes=notes,
        )


def select_by_means(problem: Problem, f: Floats, parameters: Parameters) -> Selected:
    """The constraints of Eqs. 8 and 9 on relevance (P, 2) that is already known."""
    in_a, in_b = problem.in_a[:, np.newaxis], problem.in_b[:, np.newaxis]
    first = CommonProblem(in_a, in_b, 0.0, "product")
    common = first.select(f)
    second = DistinctProblem(in_a, in_b, common, parameters, "ratio")
    distinct = second.select(f)
    scores = first.scores(f)
    margin = log_margin(scores, first.cut(f))[:, 0]
    return Selected(common[:, 0], distinct[:, 0], distinct[:, 1], scores[:, 0], second.scores(f)[:, 0], margin)
