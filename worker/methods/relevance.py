"""The numeric core applied to one problem: seeds, calibration, and selection on fixed relevance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from indexer.errors import BadParameter
from worker.methods.base import MethodResult, PairProblem
from worker.methods.method_results import rank_phrases
from worker.solver.calibration import Calibration, calibrate_relevance, compute_log_margin
from worker.solver.paper_common import CommonProblem
from worker.solver.paper_distinct import DistinctProblem
from worker.solver.seeds import build_pair_seeds
from worker.solver.subgraph import Flags, Floats, Subgraph


@dataclass(frozen=True, eq=False)
class PreparedPair:
    """One pair ready to solve; flags of salient phrases have shape (P, 1)."""

    graph: Subgraph
    in_a: Flags
    in_b: Flags
    calibration: Calibration


def prepare_and_calibrate_pair(problem: PairProblem, method_name: str) -> PreparedPair:
    """Build the seeds of a pair and calibrate them; raise BadParameter, naming the method, if there is no graph."""
    graph, p = problem.graph, problem.parameters
    if graph is None:
        raise BadParameter(
            f"{method_name} needs the phrase-document graph", fix="without a graph, use --method containment"
        )
    seeds = build_pair_seeds(
        graph, problem.a.seed, problem.b.seed, alpha=p.alpha, delta=p.delta,
        background=problem.background if problem.background.any() else None,
    )  # fmt: skip
    in_a, in_b = problem.a.is_salient[:, np.newaxis], problem.b.is_salient[:, np.newaxis]
    return PreparedPair(graph, in_a, in_b, calibrate_relevance(graph, seeds, in_a, in_b, p))


@dataclass(frozen=True, eq=False)
class PairSelection:
    """C, Q and Q' of one pair with their scores, all of shape (P,)."""

    common: Flags
    distinct_a: Flags
    distinct_b: Flags
    commonality: Floats
    distinction: Floats
    """Score of phrases distinct of a; that of b is its negative."""
    margin: Floats

    def to_result(
        self,
        problem: PairProblem,
        relevance: Floats,
        *,
        iterations: int = 0,
        rounds: int = 0,
        notes: tuple[str, ...] = (),
    ) -> MethodResult:
        """Rank the selected phrases; ``relevance`` (P, 2) is in units of an average salient phrase."""
        return MethodResult(
            phrases=problem.phrases,
            common=rank_phrases(problem.phrases, self.common, self.commonality),
            distinct_a=rank_phrases(problem.phrases, self.distinct_a, self.distinction),
            distinct_b=rank_phrases(problem.phrases, self.distinct_b, -self.distinction),
            relevance_a=relevance[:, 0],
            relevance_b=relevance[:, 1],
            margin=self.margin,
            iterations=iterations,
            rounds=rounds,
            notes=notes,
        )


def select_by_means(problem: PairProblem, relevance: Floats) -> PairSelection:
    """Select under the constraints of Eqs. 8 and 9 on relevance f (P, 2) that is already known."""
    in_a, in_b = problem.a.is_salient[:, np.newaxis], problem.b.is_salient[:, np.newaxis]
    common_problem = CommonProblem(in_a, in_b, 0.0, "product")
    common = common_problem.flag_selected_phrases(relevance)
    distinct_problem = DistinctProblem(in_a, in_b, common, problem.parameters, "ratio")
    distinct = distinct_problem.flag_selected_phrases(relevance)
    scores = common_problem.compute_scores(relevance)
    margin = compute_log_margin(scores, common_problem.compute_threshold(relevance))[:, 0]
    distinction = distinct_problem.compute_scores(relevance)[:, 0]
    return PairSelection(common[:, 0], distinct[:, 0], distinct[:, 1], scores[:, 0], distinction, margin)
