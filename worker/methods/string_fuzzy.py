"""StringFuzzy: common where BM25 of the phrase's words is high against both texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from worker.methods.base import Method, MethodResult, PairProblem
from worker.methods.method_results import build_result_with_rest_distinct


@dataclass(frozen=True)
class StringFuzzy(Method):
    """The phrase need not occur: its words may occur anywhere in the text."""

    name: ClassVar[str] = "string_fuzzy"
    title: ClassVar[str] = "similar strings"
    needs_word_bm25: ClassVar[bool] = True
    threshold: float = 3.0
    """The paper's; BM25 with the factor k1 + 1."""

    def sort_phrases(self, problem: PairProblem) -> MethodResult:
        score_a, score_b = problem.a.word_bm25, problem.b.word_bm25
        smaller = np.minimum(score_a, score_b)
        common = (smaller > self.threshold) & problem.is_candidate
        return build_result_with_rest_distinct(problem, common, smaller, score_a, score_b, smaller - self.threshold)
