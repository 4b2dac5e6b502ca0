"""Relevance of a phrase or a document, split by where it comes from."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.graphs import PairGraph, make_random_pair, pair_graphs
from worker.solver.attribution import RelevanceShares, split_document_relevance, split_phrase_relevance
from worker.solver.paper_common import solve_common
from worker.solver.parameters import PAPER, Parameters
from worker.solver.propagation import propagate_exactly
from worker.solver.seeds import SeedSide, build_pair_seeds
from worker.solver.subgraph import Subgraph


def sum_shares(shares: RelevanceShares) -> float:
    return shares.own + shares.direct + float(shares.via.sum()) + shares.rest


@settings(max_examples=150)
@given(pair_graphs(), st.sampled_from([1.0, 100.0]), st.sampled_from([0.0, 0.1]))
def test_shares_sum_to_one_and_leave_no_rest_in_a_full_graph(pair: PairGraph, alpha: float, delta: float) -> None:
    p = Parameters(alpha=alpha, delta=delta)
    graph = pair.build_graph()
    solved = propagate_exactly(graph, pair.build_seeds(p), alpha)
    f, g = solved.f[:, 1], solved.g[:, 1]
    for phrase in range(graph.phrase_count):
        shares = split_phrase_relevance(graph, f, g, phrase, holders=[pair.a], targets=[pair.b])
        assert sum_shares(shares) == pytest.approx(1.0, abs=1e-12)
        assert shares.rest == pytest.approx(0.0 if f[phrase] > 0 else 1.0, abs=1e-9)
        assert shares.via[pair.a] == shares.via[pair.b] == 0
        assert (shares.via >= 0).all() and shares.own >= 0 and shares.direct >= 0


@given(pair_graphs(), st.sampled_from([1.0, 100.0]))
def test_the_phrases_of_a_neighbour_account_for_its_relevance(pair: PairGraph, alpha: float) -> None:
    graph = pair.build_graph()
    seeds = pair.build_seeds(Parameters(alpha=alpha, delta=0.0))
    solved = propagate_exactly(graph, seeds, alpha)
    for document in range(graph.document_count):
        parts, rest = split_document_relevance(graph, solved.f[:, 1], solved.g[:, 1], document, alpha)
        assert float(parts.sum()) + rest == pytest.approx(1.0, abs=1e-12)
        if solved.g[document, 1] > 0 and document != pair.b:
            assert rest == pytest.approx(0.0, abs=1e-9)


def test_own_and_bridge_shares_of_an_implied_phrase_are_separate() -> None:
    # phrase 0 is in documents 0 (a) and 2; phrase 1 in 0, 1 (b) and 2: both 0 and 2 lead from b to phrase 0
    rows, columns = [0, 0, 1, 1, 1], [0, 2, 0, 1, 2]
    graph = Subgraph.from_edges(rows, columns, np.ones(5), [2.0, 3.0], [2.0, 1.0, 2.0])
    solved = propagate_exactly(graph, build_pair_seeds(graph, SeedSide([0]), SeedSide([1]), alpha=100.0), 100.0)
    shares = split_phrase_relevance(graph, solved.f[:, 1], solved.g[:, 1], 0, holders=[0], targets=[1])
    assert shares.direct == 0
    assert shares.own == pytest.approx(0.5) and shares.via[2] == pytest.approx(0.5)
    parts, rest = split_document_relevance(graph, solved.f[:, 1], solved.g[:, 1], 2, 100.0)
    assert parts[1] > 0.9 and parts[0] < 0.1 and rest == pytest.approx(0.0, abs=1e-12)


def test_the_part_added_by_the_joint_step_is_rest() -> None:
    pair = make_random_pair(6, phrases=20, documents=12, density=0.3)
    graph, seeds = pair.build_graph(), pair.build_seeds(PAPER)
    p = PAPER.with_options(tolerance=1e-13)
    solution = solve_common(graph, seeds, pair.in_a, pair.in_b, p).solution
    chosen = np.flatnonzero(solution.y[:, 0])
    assert chosen.size
    for phrase in chosen.tolist():
        shares = split_phrase_relevance(
            graph, solution.f[:, 1], solution.g[:, 1], phrase, holders=[pair.a], targets=[pair.b]
        )
        assert shares.rest > 1e-6 and sum_shares(shares) == pytest.approx(1.0, abs=1e-12)


def test_relevance_from_outside_the_subgraph_is_rest() -> None:
    graph = Subgraph.from_edges([0], [0], [1.0], [4.0], [2.0])
    seeds = build_pair_seeds(graph, SeedSide([0]), SeedSide([0]), alpha=100.0, delta=0.1, background=[1.0])
    solved = propagate_exactly(graph, seeds, 100.0)
    shares = split_phrase_relevance(graph, solved.f[:, 0], solved.g[:, 0], 0, holders=[], targets=[0])
    assert 0 < shares.rest < 1 and shares.direct > 0


def test_a_large_graph_gives_the_same_shares() -> None:
    pair = make_random_pair(9, phrases=30, documents=20, density=0.2)
    dense, sparse = pair.build_graph(), pair.build_graph(max_dense_cells=0)
    solved = propagate_exactly(dense, pair.build_seeds(PAPER), 100.0)
    for graph in (dense, sparse):
        shares = split_phrase_relevance(graph, solved.f[:, 1], solved.g[:, 1], 3, holders=[pair.a], targets=[pair.b])
        assert sum_shares(shares) == pytest.approx(1.0, abs=1e-12)
    one, other = (
        split_document_relevance(graph, solved.f[:, 1], solved.g[:, 1], 4, 100.0)[0] for graph in (dense, sparse)
    )
    assert np.allclose(one, other)
