"""A comparer that needs more memory than a worker has."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.support import fake_comparer
from worker.explain.spec import ComparisonSpec


class MemoryHogComparer(fake_comparer.FakeComparer):
    """Allocates 12.8 GB for the query ``greedy``, and computes everything else as the fake comparer does."""

    def compare(
        self, spec: ComparisonSpec, progress: Callable[[float, str], None] | None = None
    ) -> fake_comparer.FakeComparison:
        if spec.b.words == "greedy":
            arrays = [np.ones(2**24) for _ in range(100)]
            assert arrays
        return super().compare(spec, progress)
