"""Variants of CDA in the paper's tables, each with one part of the full model replaced.

All use the paper's mean thresholds, whatever the preset's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from worker.methods.base import Method, MethodResult, PairProblem
from worker.methods.cda import sort_by_means
from worker.methods.method_results import divide_by_mean
from worker.methods.relevance import prepare_and_calibrate_pair, select_by_means


@dataclass(frozen=True)
class CDANoGraph(Method):
    """CDA-NoGraph: the paper's measures and thresholds on BM25 itself, no propagation.

    Assumed: the scores are the graph's edge weights, so a phrase that does not occur has 0.
    """

    name: ClassVar[str] = "cda_no_graph"
    title: ClassVar[str] = "no graph"

    def sort_phrases(self, problem: PairProblem) -> MethodResult:
        a, b = problem.a, problem.b
        selection = select_by_means(problem, np.column_stack([a.bm25, b.bm25]))
        relevance = [divide_by_mean(side.bm25, side.is_salient) for side in (a, b)]
        return selection.to_result(problem, np.column_stack(relevance))


@dataclass(frozen=True)
class CDAAlterMea(Method):
    """CDA-AlterMea: the full model with the alternative measures, sum and difference.

    The update rules follow from the measures: ``f = S g + lambda y`` for the common problem and
    ``f = max(0, S g + lambda (y - y'))`` for the distinct one.
    """

    name: ClassVar[str] = "cda_alter_mea"
    title: ClassVar[str] = "other measure"

    def sort_phrases(self, problem: PairProblem) -> MethodResult:
        prepared = prepare_and_calibrate_pair(problem, self.name)
        return sort_by_means(problem, prepared, common_measure="sum", distinct_measure="difference")


@dataclass(frozen=True)
class CDATwoStep(Method):
    """CDA-TwoStep: relevance is learned first (lambda = 0), then the phrases are selected."""

    name: ClassVar[str] = "cda_two_step"
    title: ClassVar[str] = "two steps"

    def sort_phrases(self, problem: PairProblem) -> MethodResult:
        calibration = prepare_and_calibrate_pair(problem, self.name).calibration
        f, iterations = calibration.relevance.f, int(calibration.relevance.iterations[0])
        selection = select_by_means(problem, f)
        return selection.to_result(problem, calibration.divide_by_mean(f), iterations=iterations, rounds=1)
