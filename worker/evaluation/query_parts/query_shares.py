"""Figures over many queries: pooled over all of them, with intervals resampled by query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.evaluation.quality_metrics import compute_interval

RESAMPLES = 200
"""Bootstrap samples of an interval."""


def pool_shares(counts_by_figure: Mapping[str, Sequence[tuple[float, int]]], seed: int) -> dict[str, Any]:
    """Return shares pooled over queries, their 95 % intervals resampled by query, and what each is a share of.

    ``counts_by_figure``: for each figure the part (or the sum, for a mean) and the total of every query.
    """
    row: dict[str, dict[str, Any]] = {"figures": {}, "of": {}, "intervals": {}}
    for name, pairs in counts_by_figure.items():
        counts = np.array(pairs, dtype=np.float64).reshape(-1, 2)
        part, total = counts.sum(axis=0).tolist()
        row["figures"][name], row["of"][name] = part / total if total else None, int(total)
        sums = (draws @ counts for draws in draw_queries(len(counts), seed)) if total else ()
        samples = [float(part / total) for part, total in sums if total]
        if samples:
            row["intervals"][name] = compute_interval(samples)
    return row


def draw_queries(count: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Yield how often each of ``count`` queries is drawn, shape (count,), for every bootstrap sample."""
    rng = np.random.default_rng(seed)
    for _ in range(RESAMPLES if count else 0):
        yield np.bincount(rng.integers(0, count, count), minlength=count).astype(np.float64)
