"""Find the best segmentation, each token in exactly one segment, by dynamic programming over all texts at once.

Phrases overlap only within short *runs* of tokens; between two runs every segmentation has a cut. So the runs are
solved in parallel: step t finds the best segmentation of the first t tokens of every run.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indexer.int_arrays import Ints, csr_starts

MAX_RUN_LENGTH = 256
"""A longer run is cut after this many tokens, so that a text of one endless run costs no more than another."""


def find_best_segmentation(
    token_count: int, position: Ints, length: Ints, gain: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return a mask of the matches (position, length, gain > 0) that make the segmentation of largest total gain.

    A token that no chosen match covers is a segment of its own with gain 0. Ties go to the shorter last segment.
    """
    chosen = np.zeros(len(position), dtype=np.bool_)
    if len(position) == 0:
        return chosen
    run_start, run_length, run_of = _find_match_runs(token_count, position, length)
    offset_in_run = position - run_start[run_of]
    inside = offset_in_run // MAX_RUN_LENGTH == (offset_in_run + length - 1) // MAX_RUN_LENGTH
    if not inside.all():
        chosen[inside] = find_best_segmentation(token_count, position[inside], length[inside], gain[inside])
        return chosen
    offset = csr_starts(run_length + 1)
    table = np.full((int(length.max()) + 1, offset[-1]), -1, dtype=np.int64)
    table[length, offset[run_of] + offset_in_run] = np.arange(len(position))
    order = np.argsort(-run_length, kind="stable")
    back = _choose_last_matches(offset[:-1][order], run_length[order], table, gain)
    _mark_matches_backwards(offset[:-1], run_length, back, chosen, length)
    return chosen


def _find_match_runs(token_count: int, position: Ints, length: Ints) -> tuple[Ints, Ints, Ints]:
    """Return start and length of the maximal stretches of tokens that matches join, and the run of each match."""
    change = np.bincount(position + 1, minlength=token_count + 2)
    change -= np.bincount(position + length, minlength=token_count + 2)
    joined = np.cumsum(change[: token_count + 1]) > 0
    edge = np.diff(np.concatenate([[False], joined]).astype(np.int8))
    start = np.flatnonzero(edge == 1) - 1
    end = np.flatnonzero(edge == -1)
    return start, end - start, np.searchsorted(start, position, side="right") - 1


def _choose_last_matches(run_offsets: Ints, run_lengths: Ints, match_table: Ints, gain: NDArray[np.float64]) -> Ints:
    """Return for every cell (run, t) the match that ends there in the best segmentation, -1 for a single token.

    ``run_offsets`` and ``run_lengths`` describe the runs, longest first; ``match_table[n, cell]`` is the match of
    length n that begins at a cell, or -1.
    """
    best = np.zeros(match_table.shape[1])
    back = np.full(match_table.shape[1], -1, dtype=np.int64)
    active = np.searchsorted(-run_lengths, -np.arange(1, run_lengths[0] + 1), side="right")
    for t in range(1, int(run_lengths[0]) + 1):
        here = run_offsets[: active[t - 1]] + t
        value, choice = best[here - 1], np.full(len(here), -1, dtype=np.int64)
        for n in range(2, min(len(match_table) - 1, t) + 1):
            match = match_table[n, here - n]
            offer = np.where(match >= 0, best[here - n] + gain[match], -np.inf)
            better = offer > value
            value, choice = np.where(better, offer, value), np.where(better, match, choice)
        best[here], back[here] = value, choice
    return back


def _mark_matches_backwards(
    run_offsets: Ints, run_lengths: Ints, last_matches: Ints, is_chosen: NDArray[np.bool_], match_lengths: Ints
) -> None:
    """Mark in ``is_chosen`` the matches of the best segmentation, from the end of every run backwards."""
    left, runs = run_lengths.copy(), np.arange(len(run_lengths))
    while len(runs):
        match = last_matches[run_offsets[runs] + left[runs]]
        is_chosen[match[match >= 0]] = True
        left[runs] -= np.where(match >= 0, match_lengths[match], 1)
        runs = runs[left[runs] > 0]
