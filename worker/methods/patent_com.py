"""PatentCom: shared phrases are common; feature selection finds what discriminates each text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from worker.methods.base import Method, MethodResult, PairProblem
from worker.methods.method_results import divide_by_mean, rank_phrases
from worker.solver.subgraph import Floats


@dataclass(frozen=True)
class PatentCom(Method):
    """A phrase found in both texts is common, unless its counts distinguish the texts.

    Assumed, where the paper only names the method: the features are the candidates, the test is
    chi-square on the two-by-two table of the phrase's occurrences and the other tokens of each
    text, and a shared phrase counts as discriminative above ``significance``. The graph that
    joins the features into a summary is left out: only its sets are compared.
    """

    name: ClassVar[str] = "patent_com"
    title: ClassVar[str] = "patent_com"
    needs_counts: ClassVar[bool] = True
    significance: float = 3.84
    """Chi-square at one degree of freedom and 5 %."""

    def sort_phrases(self, problem: PairProblem) -> MethodResult:
        a, b, shared = problem.a, problem.b, problem.is_shared
        signed = compute_signed_chi_square(problem)
        discriminates = np.abs(signed) > self.significance
        common = shared & problem.is_candidate & ~discriminates
        count_a, count_b = a.count.astype(np.float64), b.count.astype(np.float64)
        margin = np.where(shared, self.significance - np.abs(signed), -self.significance - np.abs(signed))
        return MethodResult(
            phrases=problem.phrases,
            common=rank_phrases(problem.phrases, common, np.minimum(count_a, count_b)),
            distinct_a=rank_phrases(problem.phrases, a.is_salient & ~common & (signed > 0), signed),
            distinct_b=rank_phrases(problem.phrases, b.is_salient & ~common & (signed < 0), -signed),
            relevance_a=divide_by_mean(count_a, a.is_salient),
            relevance_b=divide_by_mean(count_b, b.is_salient),
            margin=margin,
        )


def compute_signed_chi_square(problem: PairProblem) -> Floats:
    """Return the statistic of each phrase (P,), positive where it leans to a, negative where to b."""
    n_a, n_b = problem.a.count.astype(np.float64), problem.b.count.astype(np.float64)
    rest_a = np.maximum(len(problem.a.tokens) - n_a, 1.0)
    rest_b = np.maximum(len(problem.b.tokens) - n_b, 1.0)
    lean = n_a * rest_b - n_b * rest_a
    below = (n_a + n_b) * (rest_a + rest_b) * (n_a + rest_a) * (n_b + rest_b)
    total = n_a + n_b + rest_a + rest_b
    size: Floats = np.divide(total * lean**2, below, out=np.zeros_like(lean), where=below > 0)
    return np.copysign(size, lean)
