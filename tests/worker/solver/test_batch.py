"""Many pairs on one graph, as columns, are solved as if each were alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.graphs import build_subgraph
from worker.solver.calibration import calibrate_relevance
from worker.solver.paper_common import solve_common
from worker.solver.paper_distinct import solve_distinct
from worker.solver.parameters import PAPER, Parameters
from worker.solver.propagation import propagate_iteratively
from worker.solver.seeds import Seeds, SeedSide, build_batch_seeds
from worker.solver.subgraph import MAX_DENSE_CELLS, Flags, Subgraph


def make_page(
    seed: int, hits: int, max_dense_cells: int
) -> tuple[Subgraph, list[tuple[SeedSide, SeedSide]], Flags, Flags]:
    """One document against several others on one shared graph, with flags of shape (P, K)."""
    rng = np.random.default_rng(seed)
    weights = rng.gamma(2.0, 2.0, (40, 25)) * (rng.random((40, 25)) < 0.15)
    against = rng.choice(np.arange(1, 25), hits, replace=False)
    sides = [(SeedSide([0]), SeedSide([int(j)])) for j in against]
    in_a = np.repeat((weights[:, :1] > 0), hits, axis=1)
    return build_subgraph(weights, max_dense_cells), sides, in_a, weights[:, against] > 0


def take_pair(seeds: Seeds, k: int) -> Seeds:
    return Seeds(np.ascontiguousarray(seeds.g0[:, k :: seeds.pair_count]))


@pytest.mark.slow
@pytest.mark.parametrize("max_dense_cells", [0, MAX_DENSE_CELLS])
@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    hits=st.integers(1, 12),
    p=st.sampled_from(
        [PAPER, PAPER.with_options(delta=0.0), Parameters(alpha=2.0, lambda_=1.0, delta=0.01, kappa=2.0)]
    ),
)
def test_a_batch_gives_each_pair_what_it_gets_alone(max_dense_cells: int, seed: int, hits: int, p: Parameters) -> None:
    graph, sides, in_a, in_b = make_page(seed, hits, max_dense_cells)
    seeds = build_batch_seeds(graph, sides, alpha=p.alpha, delta=p.delta)
    scaled = calibrate_relevance(graph, seeds, in_a, in_b, p).seeds
    common = solve_common(graph, scaled, in_a, in_b, p)
    distinct = solve_distinct(graph, scaled, in_a, in_b, common.selected, p)
    for k in range(hits):
        alone_in = in_a[:, [k]], in_b[:, [k]]
        alone_seeds = calibrate_relevance(graph, take_pair(seeds, k), *alone_in, p).seeds
        one = solve_common(graph, alone_seeds, *alone_in, p)
        two = solve_distinct(graph, alone_seeds, *alone_in, one.selected, p)
        assert np.array_equal(common.selected[:, [k]], one.selected)
        assert np.array_equal(distinct.selected_a[:, [k]], two.selected_a)
        assert np.array_equal(distinct.selected_b[:, [k]], two.selected_b)
        for batch, alone in ((common.solution, one.solution), (distinct.solution, two.solution)):
            assert (batch.inner_steps[k], batch.outer_rounds[k]) == (alone.inner_steps[0], alone.outer_rounds[0])
            if graph.is_dense:  # the width of a product may change the order of its sums
                assert np.allclose(batch.f[:, k::hits], alone.f, rtol=1e-12, atol=1e-15)
            else:
                assert batch.f[:, k::hits].tobytes() == alone.f.tobytes()
                assert batch.g[:, k::hits].tobytes() == alone.g.tobytes()


def test_each_pair_stops_at_its_own_iteration() -> None:
    graph, sides, _, _ = make_page(3, 8, 0)
    seeds = build_batch_seeds(graph, sides, alpha=0.2)
    together = propagate_iteratively(graph, seeds, 0.2, tolerance=1e-3)
    assert len(set(together.iterations.tolist())) > 1
    for k in range(8):
        alone = propagate_iteratively(graph, take_pair(seeds, k), 0.2, tolerance=1e-3)
        assert alone.iterations[0] == together.iterations[k]
        assert alone.f.tobytes() == together.f[:, k::8].tobytes()


def test_the_same_input_gives_the_same_bytes() -> None:
    for max_dense_cells in (0, MAX_DENSE_CELLS):
        graph, sides, in_a, in_b = make_page(4, 5, max_dense_cells)
        seeds = build_batch_seeds(graph, sides, alpha=100.0, delta=0.1)
        runs = [solve_common(graph, seeds, in_a, in_b, PAPER).solution.f.tobytes() for _ in range(3)]
        assert len(set(runs)) == 1


def test_no_pairs_is_an_empty_batch() -> None:
    graph = build_subgraph(np.ones((3, 2)))
    none = np.zeros((3, 0), dtype=bool)
    solution = solve_common(graph, build_batch_seeds(graph, [], alpha=100.0), none, none, PAPER)
    assert solution.selected.shape == (3, 0)
