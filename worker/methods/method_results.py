"""From flags and scores to ranked lists, the same way for every method."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from worker.methods.base import MethodResult, PairProblem, RankedList
from worker.solver.subgraph import Flags, Floats, Indices

SCORE_DIGITS = 10
"""Scores that agree to this number of digits are ties, broken by the phrase: the order of a sum must not decide."""


def rank_phrases(phrases: Sequence[str], chosen: Flags, scores: Floats) -> RankedList:
    """Rank the chosen phrases by score, largest first, ties by phrase."""
    rows, values = np.flatnonzero(chosen).tolist(), scores.tolist()
    rows.sort(key=values.__getitem__, reverse=True)
    if any(_may_tie(values[i], values[j]) for i, j in pairwise(rows)):
        rows.sort(key=lambda i: (-round_score(values[i]), phrases[i]))
    indices = np.array(rows, dtype=np.int64)
    return RankedList(indices, scores[indices])


def _may_tie(larger: float, smaller: float) -> bool:
    """Return False for scores that surely differ when rounded; rounding takes longer than all else here."""
    return larger - smaller <= 10.0 ** (2 - SCORE_DIGITS) * max(abs(larger), abs(smaller))


def round_score(value: float) -> float:
    """Return a score to ``SCORE_DIGITS`` significant digits."""
    return float(f"{value:.{SCORE_DIGITS - 1}e}")


def divide_by_mean(relevance: Floats, is_member: Flags) -> Floats:
    """Return relevance (P,) divided by its mean over the flagged members (P,); 0 where that mean is 0."""
    mean = float(relevance[is_member].mean()) if is_member.any() else 0.0
    return relevance / mean if mean > 0 else np.zeros_like(relevance)


def flag_remaining_by_side(
    problem: PairProblem, is_common: Flags, score_a: Floats, score_b: Floats
) -> tuple[Flags, Flags]:
    """Return which phrases (P,) are distinct of a and of b if every salient phrase that is not common is.

    One that is salient on both sides goes where it scores more; on a tie it goes nowhere.
    """
    in_a, in_b = problem.a.is_salient, problem.b.is_salient
    both = in_a & in_b
    tie = np.abs(score_a - score_b) <= 1e-12 * np.maximum(np.abs(score_a), np.abs(score_b))
    more_a, more_b = (score_a > score_b) & ~tie, (score_b > score_a) & ~tie
    return np.asarray(in_a & ~is_common & (~both | more_a)), np.asarray(in_b & ~is_common & (~both | more_b))


def build_result_with_rest_distinct(
    problem: PairProblem, is_common: Flags, common_score: Floats, score_a: Floats, score_b: Floats, margin: Floats
) -> MethodResult:
    """Build a result in which every salient phrase that is not common is distinct of its side.

    ``common_score`` ranks the common phrases, ``score_a`` and ``score_b`` those of the sides, which are
    also the relevance. All arrays have shape (P,).
    """
    distinct_a, distinct_b = flag_remaining_by_side(problem, is_common, score_a, score_b)
    return MethodResult(
        phrases=problem.phrases,
        common=rank_phrases(problem.phrases, is_common & problem.is_candidate, common_score),
        distinct_a=rank_phrases(problem.phrases, distinct_a, score_a),
        distinct_b=rank_phrases(problem.phrases, distinct_b, score_b),
        relevance_a=divide_by_mean(score_a, problem.a.is_salient),
        relevance_b=divide_by_mean(score_b, problem.b.is_salient),
        margin=margin,
    )


def build_intersection_result(
    phrases: Sequence[str], top_a: Indices, top_b: Indices, score_a: Floats, score_b: Floats
) -> MethodResult:
    """Apply the intersection model: phrases chosen by both sides are common, the rest of each choice is distinct.

    ``top_a`` and ``top_b`` are indices into the phrases, the scores have shape (P,). The margin keeps the order of
    the smaller score, below 0 for a phrase that was not chosen twice.
    """
    chosen_a, chosen_b = np.zeros(len(phrases), dtype=bool), np.zeros(len(phrases), dtype=bool)
    chosen_a[top_a], chosen_b[top_b] = True, True
    common = chosen_a & chosen_b
    smaller = np.minimum(score_a, score_b)
    return MethodResult(
        phrases=phrases,
        common=rank_phrases(phrases, common, smaller),
        distinct_a=rank_phrases(phrases, chosen_a & ~common, score_a),
        distinct_b=rank_phrases(phrases, chosen_b & ~common, score_b),
        relevance_a=divide_by_mean(np.maximum(score_a, 0.0), chosen_a),
        relevance_b=divide_by_mean(np.maximum(score_b, 0.0), chosen_b),
        margin=np.where(common, smaller, smaller - 1.0 - smaller.max(initial=0.0)),
    )


def select_top_indices(phrases: Sequence[str], scores: Floats, is_allowed: Flags, count: int) -> Indices:
    """Return the indices of the first ``count`` flagged phrases with a positive score, ties by phrase."""
    return rank_phrases(phrases, is_allowed & (scores > 0), scores).indices[:count]
