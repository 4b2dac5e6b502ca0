"""CDA-AlterMea: the full model with the alternative measures, sum and difference."""

from __future__ import annotations

from dataclasses import dataclass

from worker.methods.base import Problem, Sorting
from worker.methods.cda import by_means
from worker.methods.relevance import prepare


@dataclass(frozen=True)
class CDAAlterMea:
    """The update rules follow from the measures: ``f = S g + lambda y`` for the common problem and
    ``f = max(0, S g + lambda (y - y'))`` for the distinct one. Mean thresholds, whatever the preset's.
    """

    name: str = "cda_alter_mea"

    def sort(self, problem: Problem) -> Sorting:
        ready = prepare(problem, self.name)
        return by_means(problem, ready, problem.parameters, common_measure="sum", distinct_measure="difference")
