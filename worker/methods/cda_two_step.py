"""CDA-TwoStep: relevance is learned first (lambda = 0), then the phrases are selected."""

from __future__ import annotations

from dataclasses import dataclass

from worker.methods.base import Problem, Sorting
from worker.methods.relevance import prepare, select_by_means


@dataclass(frozen=True)
class CDATwoStep:
    """The paper's mean thresholds, whatever the preset's."""

    name: str = "cda_two_step"

    def sort(self, problem: Problem) -> Sorting:
        calibration = prepare(problem, self.name).calibration
        found = calibration.alone
        selected = select_by_means(problem, found.f, problem.parameters)
        relevance = calibration.relative(found.f)
        return selected.sorting(problem, relevance, iterations=int(found.iterations[0]), rounds=1)
