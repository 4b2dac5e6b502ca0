"""The containment rule: common if in both texts, else distinct. Every other method must beat it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from worker.methods.base import Method, MethodResult, PairProblem
from worker.methods.method_results import build_result_with_rest_distinct


@dataclass(frozen=True)
class Containment(Method):
    """Ranks common phrases by the salience of both sides together, the others by their own."""

    name: ClassVar[str] = "containment"
    title: ClassVar[str] = "containment"

    def sort_phrases(self, problem: PairProblem) -> MethodResult:
        salience_a, salience_b = problem.a.salience, problem.b.salience
        common = problem.is_shared & problem.is_candidate
        margin = np.where(common, 1.0, -1.0)
        return build_result_with_rest_distinct(problem, common, salience_a + salience_b, salience_a, salience_b, margin)
