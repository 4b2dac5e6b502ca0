"""In both texts: common. In one only: distinct. The rule every other method must beat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from worker.methods.base import Problem, Sorting
from worker.methods.ranked_lists import rest_is_distinct


@dataclass(frozen=True)
class Containment:
    """Ranks common phrases by the salience of both sides together, the others by their own."""

    name: str = "containment"

    def sort(self, problem: Problem) -> Sorting:
        common = problem.shared & problem.candidates
        score = problem.salience_a + problem.salience_b
        margin = np.where(common, 1.0, -1.0)
        return rest_is_distinct(problem, common, score, problem.salience_a, problem.salience_b, margin)
