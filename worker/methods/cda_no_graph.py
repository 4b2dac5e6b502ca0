"""CDA-NoGraph: the paper's measures and thresholds on BM25 itself, no propagation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from worker.methods.base import Problem, Sorting
from worker.methods.ranked_lists import relative
from worker.methods.relevance import select_by_means


@dataclass(frozen=True)
class CDANoGraph:
    """Assumed: the scores are the graph's edge weights, so a phrase that does not occur has 0."""

    name: str = "cda_no_graph"

    def sort(self, problem: Problem) -> Sorting:
        f = np.column_stack([problem.edge_a, problem.edge_b])
        selected = select_by_means(problem, f, problem.parameters)
        relevance = [relative(problem.edge_a, problem.in_a), relative(problem.edge_b, problem.in_b)]
        return selected.sorting(problem, np.column_stack(relevance))
