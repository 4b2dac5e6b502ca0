"""Selection of salient phrases: interesting ones that differ from each other."""

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
    compute_earliness,
    compute_phrase_interestingness,
    compute_phrase_pair_interestingness,
    normalize_scores_per_document,
    select_salient_indexes,
)
from indexer.settings import describe_setting

NAMES = st.lists(st.text(alphabet="abc ", min_size=1, max_size=8), min_size=1, max_size=25, unique=True)


def test_interestingness_follows_the_papers_formula() -> None:
    scores = compute_phrase_interestingness(np.array([2.0]), np.array([4.0]), np.array([10.0]), 999)
    assert scores[0] == pytest.approx((0.5 + 0.5 * 2 / 4) ** 2 * math.log(1000 / 10))


def test_pair_interestingness_follows_the_papers_formula() -> None:
    scores = compute_phrase_pair_interestingness(
        np.array([4.0]), np.array([5.0]), np.array([8.0]), np.array([40.0]), np.array([1.0]), 99
    )
    assert scores[0] == pytest.approx((4 / 40) / ((5 / 40) * (8 / 40)) * math.log(100))


def test_a_phrase_of_every_document_has_positive_interestingness() -> None:
    assert compute_phrase_interestingness(np.array([1.0]), np.array([1.0]), np.array([10.0]), 9)[0] > 0


@settings(deadline=None)
@given(st.lists(st.lists(st.floats(0, 1e6), max_size=6), max_size=5))
def test_normalised_scores_lie_between_zero_and_one(scores: list[list[float]]) -> None:
    document = np.repeat(np.arange(len(scores)), [len(own) for own in scores]).astype(np.int64)
    cuts = np.searchsorted(document, np.arange(len(scores) + 1))
    normalized = normalize_scores_per_document(np.array([score for own in scores for score in own]), document, cuts)
    assert ((normalized > 0) & (normalized < 1)).all()


def select_for_document(
    names: list[str], scores: NDArray[np.float64], members: dict[int, tuple[int, ...]], k: int = 30, mu: float = 3.0
) -> list[int]:
    """Select for one document: a batch of one."""
    return select_salient_indexes([names], [scores], [members], k, mu)[0]


def select_naively(names: list[str], scores: list[float], k: int, mu: float) -> list[int]:
    """Maximize the objective literally: add the phrase that raises it most, until there are ``k``."""
    from rapidfuzz.distance import Levenshtein

    similarity = [[Levenshtein.normalized_similarity(a, b) for b in names] for a in names]
    weight = [sum(similarity[i][j] * scores[j] for j in range(len(names))) for i in range(len(names))]

    def compute_objective(selected: list[int]) -> float:
        gain = mu * sum(weight[i] * scores[i] for i in selected)
        return gain - sum(scores[i] * similarity[i][j] * scores[j] for i in selected for j in selected)

    selected: list[int] = []
    while len(selected) < min(k, len(names)):
        selected.append(
            max((i for i in range(len(names)) if i not in selected), key=lambda i: compute_objective([*selected, i]))
        )
    return selected


def test_selection_is_greedy_on_the_objective() -> None:
    names = ["graph", "graphs", "neural network", "neural networks", "kernel", "tree"]
    scores = [0.9, 0.85, 0.8, 0.6, 0.3, 0.95]
    assert select_for_document(names, np.array(scores), {}, k=4, mu=3.0) == select_naively(names, scores, 4, 3.0)


def test_lower_values_of_mu_give_more_diverse_phrases() -> None:
    names, scores = ["neural networks", "neural network", "kernel"], np.array([0.9, 0.85, 0.6])
    assert select_for_document(names, scores, {}, k=2, mu=100.0) == [0, 1]
    assert select_for_document(names, scores, {}, k=2, mu=1.0)[1] == 2
    assert "lower values give more diverse phrases" in describe_setting("mu")


def test_a_near_duplicate_is_selected_after_a_different_phrase() -> None:
    names = ["neural networks", "neural network", "kernel"]
    assert select_for_document(names, np.array([0.9, 0.85, 0.8]), {}, k=2, mu=0.5)[1] == 2


def test_members_of_a_selected_pair_are_not_selected() -> None:
    names = ["web graph", "web page", "web graph@@web page", "query"]
    selected = select_for_document(names, np.array([0.9, 0.8, 0.99, 0.1]), {2: (0, 1)}, k=3)
    assert set(selected) == {2, 3}


@settings(deadline=None)
@given(NAMES, st.integers(1, 10))
def test_selected_phrases_are_distinct_and_at_most_k(names: list[str], k: int) -> None:
    scores = np.linspace(0.1, 0.9, len(names))
    selected = select_for_document(names, scores, {}, k=k)
    assert len(selected) == len(set(selected)) == min(k, len(names))


@settings(deadline=None)
@given(st.lists(NAMES, max_size=5), st.integers(1, 8))
def test_a_batch_selects_for_each_document_as_if_alone(documents: list[list[str]], k: int) -> None:
    scores = [np.linspace(0.2, 0.9, len(names)) ** 2 for names in documents]
    members = [{0: (1,)} if len(names) > 2 else {} for names in documents]
    together = select_salient_indexes(documents, scores, members, k=k)
    assert together == [select_for_document(n, s, m, k=k) for n, s, m in zip(documents, scores, members, strict=True)]


def test_selecting_from_no_phrases() -> None:
    assert select_for_document([], np.zeros(0), {}) == []


def test_early_phrases_count_more_except_with_the_papers_weights() -> None:
    early_weights = compute_earliness(np.array([0.0, EARLINESS_HALVED_AFTER, 2 * EARLINESS_HALVED_AFTER]))
    assert early_weights.tolist() == pytest.approx([1, 1 / 2, 1 / 3])
    assert SalienceWeights().earliness > 0 and PAPER_WEIGHTS.earliness == 0
