"""The best segmentation: each token in exactly one segment, by dynamic programming over all texts at once.

Phrases overlap only within short *runs* of tokens; between two runs any segmentation has a cut. So runs are solved
side by side: step t finds the best segmentation of the first t tokens of every run.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LONGEST_RUN = 256
"""A run is cut after this many tokens, so that a text of one endless run costs no more than another."""

Ints = NDArray[np.int64]


def segment(tokens: int, at: Ints, length: Ints, gain: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which of the matches (position, length, gain > 0) make the segmentation of largest total gain.

    A token that no chosen match covers is a segment of its own with gain 0. Ties go to the shorter last segment.
    """
    chosen = np.zeros(len(at), dtype=np.bool_)
    if len(at) == 0:
        return chosen
    run_start, run_length, run_of = _runs(tokens, at, length)
    inside = (at - run_start[run_of]) // LONGEST_RUN == (at + length - 1 - run_start[run_of]) // LONGEST_RUN
    if not inside.all():
        chosen[inside] = segment(tokens, at[inside], length[inside], gain[inside])
        return chosen
    longest = int(length.max())
    offset = np.concatenate([[0], np.cumsum(run_length + 1)])
    cell = offset[run_of] + at - run_start[run_of]
    table = np.full((longest + 1, offset[-1]), -1, dtype=np.int64)
    table[length, cell] = np.arange(len(at))
    order = np.argsort(-run_length, kind="stable")
    back = _forward(offset[:-1][order], run_length[order], table, gain)
    _backward(offset[:-1], run_length, back, chosen, length)
    return chosen


def _runs(tokens: int, at: Ints, length: Ints) -> tuple[Ints, Ints, Ints]:
    """Maximal stretches of tokens joined by matches: start, length, and the run of each match."""
    change = np.bincount(at + 1, minlength=tokens + 2) - np.bincount(at + length, minlength=tokens + 2)
    joined = np.cumsum(change[: tokens + 1]) > 0
    edge = np.diff(np.concatenate([[False], joined]).astype(np.int8))
    start = np.flatnonzero(edge == 1) - 1
    end = np.flatnonzero(edge == -1)
    return start, end - start, np.searchsorted(start, at, side="right") - 1


def _forward(offset: Ints, lengths: Ints, table: Ints, gain: NDArray[np.float64]) -> Ints:
    """For every cell (run, t) the match that ends there in the best segmentation, -1 for a single token."""
    best = np.zeros(table.shape[1])
    back = np.full(table.shape[1], -1, dtype=np.int64)
    active = np.searchsorted(-lengths, -np.arange(1, lengths[0] + 1), side="right")
    for t in range(1, int(lengths[0]) + 1):
        here = offset[: active[t - 1]] + t
        value, choice = best[here - 1], np.full(len(here), -1, dtype=np.int64)
        for n in range(2, min(len(table) - 1, t) + 1):
            match = table[n, here - n]
            offer = np.where(match >= 0, best[here - n] + gain[match], -np.inf)
            better = offer > value
            value, choice = np.where(better, offer, value), np.where(better, match, choice)
        best[here], back[here] = value, choice
    return back


def _backward(offset: Ints, lengths: Ints, back: Ints, chosen: NDArray[np.bool_], length: Ints) -> None:
    left, runs = lengths.copy(), np.arange(len(lengths))
    while len(runs):
        match = back[offset[runs] + left[runs]]
        chosen[match[match >= 0]] = True
        left[runs] -= np.where(match >= 0, length[match], 1)
        runs = runs[left[runs] > 0]
