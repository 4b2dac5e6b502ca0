"""StringFuzzy: common where BM25 of the phrase's words is high against both texts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from worker.methods.base import Problem, Sorting
from worker.methods.ranked_lists import rest_is_distinct


@dataclass(frozen=True)
class StringFuzzy:
    """The phrase need not occur: its words may stand anywhere in the text."""

    name: str = "string_fuzzy"
    threshold: float = 3.0
    """The paper's; BM25 with the factor k1 + 1."""

    def sort(self, problem: Problem) -> Sorting:
        least = np.minimum(problem.partial_a, problem.partial_b)
        common = (least > self.threshold) & problem.candidates
        return rest_is_distinct(problem, common, least, problem.partial_a, problem.partial_b, least - self.threshold)
