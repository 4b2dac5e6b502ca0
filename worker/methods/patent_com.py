"""PatentCom: shared phrases are common; feature selection finds what discriminates each text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from worker.methods.base import Problem, Sorting
from worker.methods.ranked_lists import ranked, relative
from worker.solver.subgraph import Floats


@dataclass(frozen=True)
class PatentCom:
    """A phrase found in both texts is common, unless its counts tell the texts apart.

    Assumed, where the paper only names the method: the features are the candidates, the test is
    chi-square on the two-by-two table of the phrase's occurrences and the other tokens of each
    text, and a shared phrase counts as discriminative above ``significance``. The graph that
    joins the features into a summary is left out: only its sets are compared.
    """

    name: str = "patent_com"
    significance: float = 3.84
    """Chi-square at one degree of freedom and 5 %."""

    def sort(self, problem: Problem) -> Sorting:
        signed = chi_square(problem)
        apart = np.abs(signed) > self.significance
        common = problem.shared & problem.candidates & ~apart
        count_a, count_b = problem.occurs_a.astype(np.float64), problem.occurs_b.astype(np.float64)
        margin = np.where(problem.shared, self.significance - np.abs(signed), -self.significance - np.abs(signed))
        return Sorting(
            phrases=problem.phrases,
            common=ranked(problem.phrases, common, np.minimum(count_a, count_b)),
            distinct_a=ranked(problem.phrases, problem.in_a & ~common & (signed > 0), signed),
            distinct_b=ranked(problem.phrases, problem.in_b & ~common & (signed < 0), -signed),
            relevance_a=relative(count_a, problem.in_a),
            relevance_b=relative(count_b, problem.in_b),
            margin=margin,
        )


def chi_square(problem: Problem) -> Floats:
    """The statistic of each phrase (P,), positive where it leans to a, negative where to b."""
    n_a, n_b = problem.occurs_a.astype(np.float64), problem.occurs_b.astype(np.float64)
    rest_a = np.maximum(len(problem.tokens_a) - n_a, 1.0)
    rest_b = np.maximum(len(problem.tokens_b) - n_b, 1.0)
    lean = n_a * rest_b - n_b * rest_a
    below = (n_a + n_b) * (rest_a + rest_b) * (n_a + rest_a) * (n_b + rest_b)
    total = n_a + n_b + rest_a + rest_b
    size: Floats = np.divide(total * lean**2, below, out=np.zeros_like(lean), where=below > 0)
    return np.copysign(size, lean)
