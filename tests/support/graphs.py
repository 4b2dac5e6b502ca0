"""Small random graphs with two documents to compare, for property tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from worker.solver.parameters import Parameters
from worker.solver.seeds import Seeds, SeedSide, build_pair_seeds
from worker.solver.subgraph import MAX_DENSE_CELLS, Subgraph


@dataclass
class PairGraph:
    """Edge weights (P, D) of a full graph, two of its documents, and flags (P,) of the phrases salient in each."""

    weights: NDArray[np.float64]
    a: int
    b: int
    in_a: NDArray[np.bool_]
    in_b: NDArray[np.bool_]

    def build_graph(self, max_dense_cells: int = MAX_DENSE_CELLS) -> Subgraph:
        return build_subgraph(self.weights, max_dense_cells)

    def build_seeds(self, parameters: Parameters) -> Seeds:
        a, b = SeedSide([self.a]), SeedSide([self.b])
        return build_pair_seeds(self.build_graph(), a, b, alpha=parameters.alpha, delta=parameters.delta)

    def swap_sides(self) -> PairGraph:
        return PairGraph(self.weights, self.b, self.a, self.in_b, self.in_a)

    def relabel(self, phrases: NDArray[np.int64], documents: NDArray[np.int64]) -> PairGraph:
        """Return the same graph with phrase phrases[i] as phrase i and document documents[j] as document j."""
        position = np.argsort(documents)
        return PairGraph(
            self.weights[phrases][:, documents], int(position[self.a]), int(position[self.b]),
            self.in_a[phrases], self.in_b[phrases],
        )  # fmt: skip


def build_subgraph(weights: NDArray[np.float64], max_dense_cells: int = MAX_DENSE_CELLS) -> Subgraph:
    """Return the graph of these edge weights (P, D), with their sums as degrees."""
    rows, columns = np.nonzero(weights)
    return Subgraph.from_edges(
        rows, columns, weights[rows, columns], weights.sum(axis=1), weights.sum(axis=0), max_dense_cells=max_dense_cells
    )


def make_random_pair(seed: int, phrases: int = 12, documents: int = 9, density: float = 0.4) -> PairGraph:
    """Return a graph of these sizes; a tenth of the phrases of a document are not salient in it."""
    rng = np.random.default_rng(seed)
    weights = rng.gamma(2.0, 2.0, (phrases, documents)) * (rng.random((phrases, documents)) < density)
    a, b = (int(x) for x in rng.choice(documents, 2, replace=False)) if documents > 1 else (0, 0)
    keep = rng.random((2, phrases)) < 0.9
    return PairGraph(weights, a, b, (weights[:, a] > 0) & keep[0], (weights[:, b] > 0) & keep[1])


def pair_graphs() -> st.SearchStrategy[PairGraph]:
    """Generate graphs of one phrase and one document (then a equals b) up to a dozen of each, often with empty rows."""
    return st.builds(
        make_random_pair,
        seed=st.integers(0, 2**32 - 1),
        phrases=st.integers(1, 12),
        documents=st.integers(1, 10),
        density=st.sampled_from([0.0, 0.15, 0.4, 0.8, 1.0]),
    )


def solver_parameters() -> st.SearchStrategy[Parameters]:
    """Generate parameters that stop after a few steps, never because of a tolerance."""
    return st.builds(
        Parameters,
        alpha=st.sampled_from([0.5, 10.0, 100.0]),
        lambda_=st.sampled_from([0.0, 0.05, 0.1, 0.5, 1.0]),
        delta=st.sampled_from([0.0, 0.01, 0.1]),
        gamma=st.sampled_from([1.0, 2.0]),
        tolerance=st.just(0.0),
        max_inner=st.integers(1, 8),
        max_outer=st.integers(1, 6),
    )
