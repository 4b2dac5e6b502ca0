"""Small random graphs and pairs for property tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from worker.solver.parameters import Parameters
from worker.solver.seeds import Seeds, SeedSide, build_pair_seeds
from worker.solver.subgraph import MAX_DENSE_CELLS, Subgraph


@dataclass
class Pair:
    """A full graph with its degrees, two documents, and their salient phrases."""

    weights: NDArray[np.float64]
    a: int
    b: int
    in_a: NDArray[np.bool_]
    in_b: NDArray[np.bool_]

    def graph(self, dense_cells: int = MAX_DENSE_CELLS) -> Subgraph:
        return full_graph(self.weights, dense_cells)

    def seeds(self, parameters: Parameters) -> Seeds:
        return build_pair_seeds(
            self.graph(), SeedSide([self.a]), SeedSide([self.b]), alpha=parameters.alpha, delta=parameters.delta
        )

    def swapped(self) -> Pair:
        return Pair(self.weights, self.b, self.a, self.in_b, self.in_a)

    def relabelled(self, phrases: NDArray[np.int64], documents: NDArray[np.int64]) -> Pair:
        """Phrase phrases[i] becomes phrase i, document documents[j] document j."""
        place = np.argsort(documents)
        return Pair(
            self.weights[phrases][:, documents], int(place[self.a]), int(place[self.b]),
            self.in_a[phrases], self.in_b[phrases],
        )  # fmt: skip


def full_graph(weights: NDArray[np.float64], dense_cells: int = MAX_DENSE_CELLS) -> Subgraph:
    rows, columns = np.nonzero(weights)
    return Subgraph.from_edges(
        rows, columns, weights[rows, columns], weights.sum(axis=1), weights.sum(axis=0), max_dense_cells=dense_cells
    )


def random_pair(seed: int, phrases: int = 12, documents: int = 9, density: float = 0.4) -> Pair:
    """Salient phrases are those the document holds, with a few taken away."""
    rng = np.random.default_rng(seed)
    weights = rng.gamma(2.0, 2.0, (phrases, documents)) * (rng.random((phrases, documents)) < density)
    a, b = (int(x) for x in rng.choice(documents, 2, replace=False)) if documents > 1 else (0, 0)
    keep = rng.random((2, phrases)) < 0.9
    return Pair(weights, a, b, (weights[:, a] > 0) & keep[0], (weights[:, b] > 0) & keep[1])


def pairs() -> st.SearchStrategy[Pair]:
    """From one phrase and one document (then a equals b) up to a dozen of each; empty rows are common."""
    return st.builds(
        random_pair,
        seed=st.integers(0, 2**32 - 1),
        phrases=st.integers(1, 12),
        documents=st.integers(1, 10),
        density=st.sampled_from([0.0, 0.15, 0.4, 0.8, 1.0]),
    )


def parameters() -> st.SearchStrategy[Parameters]:
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
