"""A comparer that takes as much memory as it can get when it is asked about ``greedy``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.support import fake_comparer
from worker.explain.spec import ComparisonSpec


class Comparer(fake_comparer.Comparer):
    def compare(
        self, spec: ComparisonSpec, progress: Callable[[float, str], None] | None = None
    ) -> fake_comparer.Comparison:
        if spec.b.words == "greedy":
            held = [np.ones(2**24) for _ in range(100)]  # 12.8 GB, were it allowed
            assert held
        return super().compare(spec, progress)
