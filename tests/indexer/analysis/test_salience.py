"""Interesting and different: how salient phrases are picked."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from indexer.analysis.salience import (
    EARLINESS_HALVED_AFTER,
    PAPER_WEIGHTS,
    SalienceWeights,
    earliness,
    normalize_scores,
    pair_interestingness,
    phrase_interestingness,
    select_phrases,
)

NAMES = st.lists(st.text(alphabet="abc ", min_size=1, max_size=8), min_size=1, max_size=25, unique=True)


def test_interestingness_is_the_papers() -> None:
    found = phrase_interestingness(np.array([2.0]), np.array([4.0]), np.array([10.0]), 999)
    assert found[0] == pytest.approx((0.5 + 0.5 * 2 / 4) ** 2 * math.log(1000 / 10))


def test_a_pairs_interestingness_is_the_papers() -> None:
    found = pair_interestingness(
        np.array([4.0]), np.array([5.0]), np.array([8.0]), np.array([40.0]), np.array([1.0]), 99
    )
    assert found[0] == pytest.approx((4 / 40) / ((5 / 40) * (8 / 40)) * math.log(100))


def test_a_phrase_of_every_document_is_dull_but_possible() -> None:
    assert phrase_interestingness(np.array([1.0]), np.array([1.0]), np.array([10.0]), 9)[0] > 0


@settings(deadline=None)
@given(st.lists(st.lists(st.floats(0, 1e6), max_size=6), max_size=5))
def test_normalised_scores_lie_between_zero_and_one(scores: list[list[float]]) -> None:
    document = np.repeat(np.arange(len(scores)), [len(own) for own in scores]).astype(np.int64)
    cuts = np.searchsorted(document, np.arange(len(scores) + 1))
    found = normalize_scores(np.array([score for own in scores for score in own]), document, cuts)
    assert ((found > 0) & (found < 1)).all()


def select(
    names: list[str], scores: NDArray[np.float64], members: dict[int, tuple[int, ...]], k: int = 30, mu: float = 3.0
) -> list[int]:
    """One document is a batch of one."""
    return select_phrases([names], [scores], [members], k, mu)[0]


def naive_greedy(names: list[str], scores: list[float], k: int, mu: float) -> list[int]:
    """The objective taken literally: add what raises it most."""
    from rapidfuzz.distance import Levenshtein

    like = [[Levenshtein.normalized_similarity(a, b) for b in names] for a in names]
    weight = [sum(like[i][j] * scores[j] for j in range(len(names))) for i in range(len(names))]

    def value(chosen: list[int]) -> float:
        gain = mu * sum(weight[i] * scores[i] for i in chosen)
        return gain - sum(scores[i] * like[i][j] * scores[j] for i in chosen for j in chosen)

    chosen: list[int] = []
    while len(chosen) < min(k, len(names)):
        chosen.append(max((i for i in range(len(names)) if i not in chosen), key=lambda i: value([*chosen, i])))
    return chosen


def test_picking_is_greedy_on_the_objective() -> None:
    names = ["graph", "graphs", "neural network", "neural networks", "kernel", "tree"]
    scores = [0.9, 0.85, 0.8, 0.6, 0.3, 0.95]
    assert select(names, np.array(scores), {}, k=4, mu=3.0) == naive_greedy(names, scores, 4, 3.0)


def test_a_near_copy_waits_for_a_different_phrase() -> None:
    names = ["neural networks", "neural network", "kernel"]
    assert select(names, np.array([0.9, 0.85, 0.8]), {}, k=2, mu=0.5)[1] == 2


def test_members_of_a_chosen_pair_leave_the_set() -> None:
    names = ["web graph", "web page", "web graph@@web page", "query"]
    picked = select(names, np.array([0.9, 0.8, 0.99, 0.1]), {2: (0, 1)}, k=3)
    assert set(picked) == {2, 3}


@settings(deadline=None)
@given(NAMES, st.integers(1, 10), st.randoms())
def test_picks_are_distinct_and_at_most_k(names: list[str], k: int, dice: object) -> None:
    scores = np.linspace(0.1, 0.9, len(names))
    picked = select(names, scores, {}, k=k)
    assert len(picked) == len(set(picked)) == min(k, len(names))


@settings(deadline=None)
@given(st.lists(NAMES, max_size=5), st.integers(1, 8))
def test_a_document_gets_what_it_would_get_alone(documents: list[list[str]], k: int) -> None:
    scores = [np.linspace(0.2, 0.9, len(names)) ** 2 for names in documents]
    members = [{0: (1,)} if len(names) > 2 else {} for names in documents]
    together = select_phrases(documents, scores, members, k=k)
    assert together == [select(n, s, m, k=k) for n, s, m in zip(documents, scores, members, strict=True)]


def test_nothing_to_pick_from() -> None:
    assert select([], np.zeros(0), {}) == []


def test_what_is_said_early_counts_for_more_but_not_in_the_papers_way() -> None:
    found = earliness(np.array([0.0, EARLINESS_HALVED_AFTER, 2 * EARLINESS_HALVED_AFTER]))
    assert found.tolist() == pytest.approx([1, 1 / 2, 1 / 3])
    assert SalienceWeights().earliness > 0 and PAPER_WEIGHTS.earliness == 0
