"""CDA: the full model. Relevance from the graph and the selection, learned together."""

from __future__ import annotations

from dataclasses import dataclass

from worker.methods.base import Problem, Sorting
from worker.methods.log_evidence import by_logs
from worker.methods.relevance import Prepared, Selected, prepare
from worker.solver.calibration import log_margin
from worker.solver.common_problem import Common, solve_common
from worker.solver.common_problem import Measure as CommonMeasure
from worker.solver.distinct_problem import Distinct, solve_distinct
from worker.solver.distinct_problem import Measure as DistinctMeasure
from worker.solver.parameters import Parameters


@dataclass(frozen=True)
class CDA:
    """The preset decides: mean thresholds as in the paper, or a cut in the log domain."""

    name: str = "cda"

    def sort(self, problem: Problem) -> Sorting:
        ready = prepare(problem, self.name)
        if problem.parameters.threshold == "log":
            return by_logs(problem, ready)
        return by_means(problem, ready, problem.parameters)


def by_means(
    problem: Problem, ready: Prepared, parameters: Parameters, *,
    common_measure: CommonMeasure = "product", distinct_measure: DistinctMeasure = "ratio",
) -> Sorting:  # fmt: skip
    """Algorithm 1: the common problem, then the distinct one without C."""
    seeds = ready.calibration.seeds
    common = solve_common(ready.graph, seeds, ready.in_a, ready.in_b, parameters, measure=common_measure)
    distinct = solve_distinct(
        ready.graph, seeds, ready.in_a, ready.in_b, common.selected, parameters, measure=distinct_measure
    )
    selected = Selected(
        common.selected[:, 0], distinct.selected_a[:, 0], distinct.selected_b[:, 0],
        common.scores[:, 0], distinct.scores[:, 0], log_margin(common.scores, common.cut)[:, 0],
    )  # fmt: skip
    iterations, rounds = _counts(common, distinct)
    return selected.sorting(
        problem, ready.calibration.relative(common.solution.f),
        iterations=iterations, rounds=rounds, notes=tuple(parameters.notes()),
    )  # fmt: skip


def _counts(common: Common, distinct: Distinct) -> tuple[int, int]:
    solutions = (common.solution, distinct.solution)
    return max(int(s.inner[0]) for s in solutions), max(int(s.outer[0]) for s in solutions)
