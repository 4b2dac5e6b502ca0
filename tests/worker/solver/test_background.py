"""A neighbourhood with delta everywhere reproduces the full graph from one stored number a phrase."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.graphs import build_subgraph
from worker.solver.paper_common import solve_common
from worker.solver.paper_distinct import solve_distinct
from worker.solver.parameters import PAPER
from worker.solver.propagation import copy_propagated, propagate_exactly
from worker.solver.relaxation import Relaxation, RelaxationState
from worker.solver.seeds import Seeds, SeedSide, build_pair_seeds, compute_outside_offsets
from worker.solver.subgraph import Floats, Indices, Subgraph


def make_weights(seed: int) -> Floats:
    """Phrases of very different popularity in documents of very different length."""
    rng = np.random.default_rng(seed)
    phrases, documents = 400, 300
    popularity = rng.permutation(1 / np.arange(1, phrases + 1) ** 0.8)
    length = rng.lognormal(3.0, 0.6, documents)
    chance = np.clip(np.outer(popularity / popularity.sum(), length), 0, 0.9)
    return rng.gamma(3.0, 2.0, (phrases, documents)) * (rng.random((phrases, documents)) < chance)


def cut_subgraph(weights: Floats, phrases: Indices, documents: Indices) -> Subgraph:
    block = weights[np.ix_(phrases, documents)]
    rows, columns = np.nonzero(block)
    return Subgraph.from_edges(
        rows, columns, block[rows, columns], weights[phrases].sum(axis=1), weights[:, documents].sum(axis=0)
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("size", [10, 100])
def test_background_relevance_is_that_of_the_full_graph_within_a_thousandth(seed: int, size: int) -> None:
    weights = make_weights(seed)
    full = build_subgraph(weights)
    b = full.to_dense().sum(axis=1)
    phrases = np.flatnonzero((weights[:, 0] > 0) | (weights[:, 1] > 0))
    near = cut_subgraph(weights, phrases, np.arange(size))
    no_side = SeedSide([])
    expected = propagate_exactly(full, build_pair_seeds(full, no_side, no_side, alpha=100.0, delta=0.1), 100.0)
    seeds = build_pair_seeds(near, no_side, no_side, alpha=100.0, delta=0.1, background=b[phrases])
    local = propagate_exactly(near, seeds, 100.0)
    assert np.abs(local.f / expected.f[phrases] - 1).max() < 1.5e-3
    without = propagate_exactly(near, build_pair_seeds(near, no_side, no_side, alpha=100.0, delta=0.1), 100.0)
    assert np.abs(without.f / expected.f[phrases] - 1).max() > 0.5


def test_nothing_is_added_when_nothing_is_outside() -> None:
    graph = build_subgraph(make_weights(1))
    phrase, document = compute_outside_offsets(graph, 100.0, 0.1, graph.to_dense().sum(axis=1))
    assert np.abs(phrase).max() < 1e-12 and np.abs(document).max() < 1e-12


def test_a_neighbourhood_gives_the_papers_selections_of_the_full_graph() -> None:
    agree = total = 0
    for seed in range(4):
        weights = make_weights(seed)
        full = build_subgraph(weights)
        b = full.to_dense().sum(axis=1)
        in_a, in_b = weights[:, 0] > 0, weights[:, 1] > 0
        phrases = np.flatnonzero(in_a | in_b)
        near = cut_subgraph(weights, phrases, np.arange(60))
        one = build_pair_seeds(full, SeedSide([0]), SeedSide([1]), alpha=100.0, delta=0.1)
        other = build_pair_seeds(near, SeedSide([0]), SeedSide([1]), alpha=100.0, delta=0.1, background=b[phrases])
        expected, local = (
            select_sets(full, one, in_a, in_b)[phrases],
            select_sets(near, other, in_a[phrases], in_b[phrases]),
        )
        agree += int((expected & local).sum())
        total += int((expected | local).sum())
    assert total > 50 and agree / total >= 0.99


def select_sets(graph: Subgraph, seeds: Seeds, in_a: np.ndarray, in_b: np.ndarray) -> np.ndarray:
    common = solve_common(graph, seeds, in_a, in_b, PAPER)
    distinct = solve_distinct(graph, seeds, in_a, in_b, common.selected, PAPER)
    return np.concatenate([common.selected, distinct.selected_a, distinct.selected_b], axis=1)


def test_the_objective_still_falls_with_a_background() -> None:
    weights = make_weights(2)
    b = build_subgraph(weights).to_dense().sum(axis=1)
    phrases = np.flatnonzero((weights[:, 0] > 0) | (weights[:, 1] > 0))
    near = cut_subgraph(weights, phrases, np.arange(30))
    seeds = build_pair_seeds(near, SeedSide([0]), SeedSide([1]), alpha=100.0, delta=0.1, background=b[phrases])
    losses: list[float] = []
    relaxation, state = Relaxation(near, seeds, 100.0), RelaxationState.create_zeros(near, seeds)
    for _ in range(8):
        relaxation.run_step(state, copy_propagated)
        losses.append(float(state.loss[0]))
    assert (np.diff(losses) <= 1e-12 * np.abs(losses[0])).all()


@pytest.mark.parametrize("background", [[1.0], [float("nan")] * 2, [-1.0, 1.0]])
def test_a_bad_background_is_refused(background: list[float]) -> None:
    graph = build_subgraph(np.ones((2, 2)))
    with pytest.raises(ValueError, match="background"):
        build_pair_seeds(graph, SeedSide([0]), SeedSide([1]), alpha=100.0, delta=0.1, background=background)
