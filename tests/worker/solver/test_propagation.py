"""Propagation of relevance through the graph, exact and iterative."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.graphs import PairGraph, make_random_pair, pair_graphs
from worker.solver import propagation
from worker.solver.parameters import PAPER, Parameters
from worker.solver.propagation import propagate_exactly, propagate_iteratively
from worker.solver.seeds import SeedSide, build_pair_seeds
from worker.solver.subgraph import Subgraph


@given(pair_graphs(), st.sampled_from([0.5, 10.0, 100.0]), st.sampled_from([0.0, 0.1]))
def test_the_iteration_reaches_the_exact_solution(pair: PairGraph, alpha: float, delta: float) -> None:
    p = Parameters(alpha=alpha, delta=delta)
    graph, seeds = pair.build_graph(), pair.build_seeds(p)
    iterated = propagate_iteratively(graph, seeds, alpha, tolerance=0.0, max_steps=120)
    exact = propagate_exactly(graph, seeds, alpha)
    assert np.allclose(iterated.f, exact.f, rtol=1e-9, atol=1e-13)
    assert np.allclose(iterated.g, exact.g, rtol=1e-9, atol=1e-13)


@given(pair_graphs(), st.sampled_from([0.5, 100.0]))
def test_the_exact_solution_is_the_resolvent_of_the_document_graph(pair: PairGraph, alpha: float) -> None:
    graph, seeds = pair.build_graph(), pair.build_seeds(PAPER)
    s = graph.to_dense()
    g = np.linalg.inv((1 + alpha) * np.eye(graph.document_count) - s.T @ s) @ (alpha * seeds.g0)
    assert np.allclose(propagate_exactly(graph, seeds, alpha).g, g, rtol=1e-10, atol=1e-14)


def test_a_graph_too_large_for_a_dense_system_is_solved_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = make_random_pair(3, phrases=40, documents=60, density=0.1)
    graph, seeds = pair.build_graph(max_dense_cells=0), pair.build_seeds(PAPER)
    dense = propagate_exactly(graph, seeds, 100.0)
    monkeypatch.setattr(propagation, "MAX_DENSE_SYSTEM", 0)
    large = propagate_exactly(graph, seeds, 100.0)
    assert np.allclose(dense.f, large.f, rtol=1e-11, atol=1e-15)
    assert np.allclose(dense.g, large.g, rtol=1e-11, atol=1e-15)


@settings(max_examples=50)
@given(pair_graphs())
def test_a_stricter_tolerance_takes_no_fewer_steps_and_both_are_reported(pair: PairGraph) -> None:
    graph, seeds = pair.build_graph(), pair.build_seeds(PAPER)
    loose, strict = (propagate_iteratively(graph, seeds, 1.0, tolerance=t).iterations[0] for t in (1e-2, 1e-8))
    assert 2 <= loose <= strict


def test_a_phrase_missing_from_a_document_is_relevant_through_a_neighbour() -> None:
    # phrase 1 occurs in document 1 only, which shares phrase 0 with document 0
    graph = Subgraph.from_edges([0, 0, 1], [0, 1, 1], [1.0, 1.0, 1.0], [2.0, 1.0], [1.0, 2.0])
    iterated = propagate_iteratively(graph, build_pair_seeds(graph, SeedSide([0]), SeedSide([1]), alpha=100.0), 100.0)
    assert 0 < iterated.f[1, 0] < iterated.f[0, 0]


def test_a_set_of_documents_shares_its_weight() -> None:
    pair = make_random_pair(5)
    graph = pair.build_graph()
    seeds = build_pair_seeds(graph, SeedSide([0, 1], [0.5, 0.5]), SeedSide([2]), alpha=100.0)
    alone = [build_pair_seeds(graph, SeedSide([j]), SeedSide([2]), alpha=100.0) for j in (0, 1)]
    together = propagate_exactly(graph, seeds, 100.0).f[:, 0]
    assert np.allclose(together, sum(propagate_exactly(graph, s, 100.0).f[:, 0] for s in alone) / 2)


@pytest.mark.parametrize(
    "side", [SeedSide([99]), SeedSide([-1]), SeedSide([0], [float("nan")]), SeedSide([0], [1.0, 2.0])]
)
def test_a_bad_side_is_refused(side: SeedSide) -> None:
    with pytest.raises(ValueError, match="a side's"):
        build_pair_seeds(make_random_pair(1).build_graph(), side, SeedSide([0]), alpha=100.0)
