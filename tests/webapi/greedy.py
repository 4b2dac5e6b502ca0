"""A comparer that takes as much memory as it can get when it is asked about ``greedy``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.worker.jobs import doubles
from worker.explain.spec import Question


class Comparer(doubles.Comparer):
    def compare(self, question: Question, progress: Callable[[float, str], None] | None = None) -> doubles.Comparison:
        if question.b.words == "greedy":
            held = [np.ones(2**24) for _ in range(100)]  # 12.8 GB, were it allowed
            assert held
        return super().compare(question, progress)
