"""The normalised phrase-document graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from tests.support.graphs import PairGraph, build_subgraph, make_random_pair, pair_graphs
from worker.solver.subgraph import Subgraph


def test_weights_are_divided_by_the_roots_of_both_degrees() -> None:
    graph = Subgraph.from_edges([0, 1], [0, 0], [2.0, 3.0], [8.0, 12.0], [25.0])
    assert graph.to_dense() == pytest.approx(np.array([[2 / 8**0.5 / 5], [3 / 12**0.5 / 5]]))


@given(pair_graphs())
def test_a_sparse_graph_multiplies_like_a_dense_one(pair: PairGraph) -> None:
    dense, sparse = pair.build_graph(), pair.build_graph(max_dense_cells=-1)
    assert dense.is_dense and not sparse.is_dense
    rng = np.random.default_rng(1)
    g, f = rng.random((dense.document_count, 4)), rng.random((dense.phrase_count, 4))
    for one, other in (
        (dense.propagate_to_phrases(g, np.empty_like(f)), sparse.propagate_to_phrases(g, np.empty_like(f))),
        (dense.propagate_to_documents(f, np.empty_like(g)), sparse.propagate_to_documents(f, np.empty_like(g))),
        (dense.to_dense(), sparse.to_dense()),
        (dense.get_phrase_row(0), sparse.get_phrase_row(0)),
        (dense.compute_phrase_and_document_coverage()[0], sparse.compute_phrase_and_document_coverage()[0]),
    ):
        assert np.allclose(one, other, rtol=1e-14, atol=1e-15)


@given(pair_graphs())
def test_the_norm_never_exceeds_one(pair: PairGraph) -> None:
    assert np.linalg.norm(pair.build_graph().to_dense(), 2) <= 1 + 1e-12


def test_the_norm_stays_below_one_when_stored_degrees_are_older_than_the_edges() -> None:
    graph = Subgraph.from_edges([0, 0, 1], [0, 1, 1], [5.0, 5.0, 5.0], [1.0, 1.0], [0.5, 0.5])
    assert np.linalg.norm(graph.to_dense(), 2) <= 1 + 1e-12


@settings(max_examples=20)
@given(pair_graphs())
def test_a_constant_factor_in_the_weights_changes_nothing(pair: PairGraph) -> None:
    assert np.allclose(
        build_subgraph(pair.weights).to_dense(), build_subgraph(2.2 * pair.weights).to_dense(), rtol=1e-12
    )


def test_degree_zero_makes_an_empty_row() -> None:
    graph = Subgraph.from_edges([0, 1], [0, 0], [2.0, 3.0], [0.0, 4.0], [9.0])
    assert graph.to_dense().tolist() == [[0.0], [0.5]]


@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (0, 3), (3, 2)])
def test_a_graph_may_be_empty(shape: tuple[int, int]) -> None:
    graph = Subgraph.from_edges([], [], [], np.zeros(shape[0]), np.zeros(shape[1]))
    assert graph.to_dense().shape == shape
    assert graph.edge_count == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": [float("nan")]}, "edge weight nan"),
        ({"weights": [float("inf")]}, "edge weight inf"),
        ({"weights": [-1.0]}, "edge weight -1.0"),
        ({"phrase_degrees": [float("nan")]}, "phrase degree nan"),
        ({"document_degrees": [-2.0]}, "document degree -2.0"),
        ({"rows": [1]}, "row 1 is outside"),
        ({"columns": [-1]}, "column -1 is outside"),
        ({"rows": [0.5]}, "whole numbers"),
        ({"rows": [0, 0]}, "an edge is"),
        ({"rows": [0, 0], "columns": [0, 0], "weights": [1.0, 1.0]}, "given twice"),
        ({"weights": [[1.0]]}, "one dimension"),
    ],
)
def test_bad_edges_are_refused_with_their_value(change: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {
        "rows": [0],
        "columns": [0],
        "weights": [1.0],
        "phrase_degrees": [1.0],
        "document_degrees": [1.0],
    }
    with pytest.raises(ValueError, match=message):
        Subgraph.from_edges(**{**good, **change})


def test_products_of_a_dense_graph_write_into_the_given_array() -> None:
    graph = make_random_pair(1).build_graph()
    out = np.empty((graph.phrase_count, 2))
    assert graph.propagate_to_phrases(np.ones((graph.document_count, 2)), out) is out
