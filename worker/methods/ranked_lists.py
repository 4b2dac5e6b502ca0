"""From flags and scores to ranked lists, the same way for every method."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from worker.methods.base import Problem, Ranked, Sorting
from worker.solver.subgraph import Flags, Floats, Indices

DIGITS = 10
"""Scores that agree to so many digits are ties, broken by the phrase: the order of a sum must not decide."""


def ranked(phrases: Sequence[str], chosen: Flags, score: Floats) -> Ranked:
    """The chosen phrases by score, largest first, then by name."""
    rows = np.flatnonzero(chosen)
    keys = [(-rounded(value), phrases[i], i) for value, i in zip(score[rows].tolist(), rows.tolist(), strict=True)]
    index = np.array([i for _, _, i in sorted(keys)], dtype=np.int64)
    return Ranked(index, score[index])


def rounded(value: float) -> float:
    return float(f"{value:.{DIGITS - 1}e}")


def relative(relevance: Floats, members: Flags) -> Floats:
    """Relevance divided by its mean over the side's salient phrases; 0 where that mean is 0."""
    mean = float(relevance[members].mean()) if members.any() else 0.0
    return relevance / mean if mean > 0 else np.zeros_like(relevance)


def sides_of_the_rest(problem: Problem, common: Flags, score_a: Floats, score_b: Floats) -> tuple[Flags, Flags]:
    """What is not common is distinct of its side. Salient on both, it goes where it scores more, or nowhere."""
    both = problem.in_a & problem.in_b
    tie = np.abs(score_a - score_b) <= 1e-12 * np.maximum(np.abs(score_a), np.abs(score_b))
    more_a, more_b = (score_a > score_b) & ~tie, (score_b > score_a) & ~tie
    return (
        np.asarray(problem.in_a & ~common & (~both | more_a)),
        np.asarray(problem.in_b & ~common & (~both | more_b)),
    )


def rest_is_distinct(
    problem: Problem, common: Flags, score: Floats, score_a: Floats, score_b: Floats, margin: Floats
) -> Sorting:
    """A sorting in which every salient phrase that is not common is distinct of its side.

    ``score`` ranks the common phrases, ``score_a`` and ``score_b`` those of the sides, which are
    also the relevance.
    """
    distinct_a, distinct_b = sides_of_the_rest(problem, common, score_a, score_b)
    return Sorting(
        phrases=problem.phrases,
        common=ranked(problem.phrases, common & problem.candidates, score),
        distinct_a=ranked(problem.phrases, distinct_a, score_a),
        distinct_b=ranked(problem.phrases, distinct_b, score_b),
        relevance_a=relative(score_a, problem.in_a),
        relevance_b=relative(score_b, problem.in_b),
        margin=margin,
    )


def intersection(phrases: Sequence[str], top_a: Indices, top_b: Indices, score_a: Floats, score_b: Floats) -> Sorting:
    """The intersection model: what both sides chose is common, the rest of each choice is distinct.

    The margin keeps the order of the smaller score, below 0 for what was not chosen twice.
    """
    chosen_a, chosen_b = np.zeros(len(phrases), dtype=bool), np.zeros(len(phrases), dtype=bool)
    chosen_a[top_a], chosen_b[top_b] = True, True
    common = chosen_a & chosen_b
    least = np.minimum(score_a, score_b)
    return Sorting(
        phrases=phrases,
        common=ranked(phrases, common, least),
        distinct_a=ranked(phrases, chosen_a & ~common, score_a),
        distinct_b=ranked(phrases, chosen_b & ~common, score_b),
        relevance_a=relative(np.maximum(score_a, 0.0), chosen_a),
        relevance_b=relative(np.maximum(score_b, 0.0), chosen_b),
        margin=np.where(common, least, least - 1.0 - least.max(initial=0.0)),
    )


def top(phrases: Sequence[str], score: Floats, among: Flags, count: int) -> Indices:
    """The first so many with a positive score, ties by name."""
    return ranked(phrases, among & (score > 0), score).index[:count]
