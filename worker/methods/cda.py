"""CDA: the full model. Relevance from the graph and the selection, learned together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from worker.methods.base import Method, MethodResult, PairProblem
from worker.methods.log_evidence import sort_by_evidence
from worker.methods.relevance import PairSelection, PreparedPair, prepare_and_calibrate_pair
from worker.solver.calibration import compute_log_margin
from worker.solver.paper_common import CommonMeasure, solve_common
from worker.solver.paper_distinct import DistinctMeasure, solve_distinct
from worker.solver.parameters import Parameters


@dataclass(frozen=True)
class CDA(Method):
    """The preset decides: mean thresholds as in the paper, or a cut in the log domain."""

    name: ClassVar[str] = "cda"
    title: ClassVar[str] = "graph (cda)"

    def ranks_text_phrases(self, parameters: Parameters) -> bool:
        return parameters.threshold == "log"

    def sort_phrases(self, problem: PairProblem) -> MethodResult:
        prepared = prepare_and_calibrate_pair(problem, self.name)
        if problem.parameters.threshold == "log":
            return sort_by_evidence(problem, prepared)
        return sort_by_means(problem, prepared)


def sort_by_means(
    problem: PairProblem, prepared: PreparedPair, *,
    common_measure: CommonMeasure = "product", distinct_measure: DistinctMeasure = "ratio",
) -> MethodResult:  # fmt: skip
    """Run Algorithm 1: solve the common problem, then the distinct one without C."""
    graph, in_a, in_b, parameters = prepared.graph, prepared.in_a, prepared.in_b, problem.parameters
    seeds = prepared.calibration.seeds
    common = solve_common(graph, seeds, in_a, in_b, parameters, measure=common_measure)
    distinct = solve_distinct(graph, seeds, in_a, in_b, common.selected, parameters, measure=distinct_measure)
    selection = PairSelection(
        common.selected[:, 0], distinct.selected_a[:, 0], distinct.selected_b[:, 0],
        common.scores[:, 0], distinct.scores[:, 0], compute_log_margin(common.scores, common.threshold)[:, 0],
    )  # fmt: skip
    solutions = (common.solution, distinct.solution)
    return selection.to_result(
        problem,
        prepared.calibration.divide_by_mean(common.solution.f),
        iterations=max(int(solution.inner_steps[0]) for solution in solutions),
        rounds=max(int(solution.outer_rounds[0]) for solution in solutions),
        notes=tuple(parameters.build_notes()),
    )
