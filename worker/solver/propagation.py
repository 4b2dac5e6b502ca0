"""Relevance to one side without any selection: the minimiser of L (Eq. 7), by iteration or exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from worker.solver.relaxation import Relaxation, RelaxationState
from worker.solver.seeds import Seeds
from worker.solver.subgraph import Floats, Indices, Matrix, Subgraph, multiply_to_dense

MAX_DENSE_SYSTEM = 1500
"""Up to this many phrases or documents (the smaller counts) the linear system is solved densely."""


@dataclass(frozen=True, eq=False)
class Relevance:
    """Relevance of phrases f (P, 2K) and of documents g (N, 2K): sides a, then sides b."""

    f: Floats
    g: Floats
    iterations: Indices
    """Steps per pair, shape (K,); 0 for the exact solution."""


def copy_propagated(propagated: Floats, relevance: Floats) -> None:
    """Set f = S g, the update of f where nothing is selected."""
    np.copyto(relevance, propagated)


def propagate_iteratively(
    graph: Subgraph, seeds: Seeds, alpha: float, *, tolerance: float = 1e-4, max_steps: int = 200
) -> Relevance:
    """Alternate ``f = S g`` and ``g = (S^T f + alpha g0) / (1 + alpha)`` from zero until the loss settles."""
    state = RelaxationState.create_zeros(graph, seeds)
    live = np.ones(seeds.pair_count, dtype=bool)
    steps = Relaxation(graph, seeds, alpha).relax_and_count_steps(state, copy_propagated, tolerance, max_steps, live)
    return Relevance(state.f, state.g, steps)


def propagate_exactly(graph: Subgraph, seeds: Seeds, alpha: float) -> Relevance:
    """Solve ``g = ((1 + alpha) I - S^T S)^-1 (alpha g0)`` on the smaller side of the graph.

    With h and q for the offsets of phrases and documents:
    ``((1 + alpha) I - S S^T) f = S (alpha g0 + q) + (1 + alpha) h`` or, on the other side,
    ``((1 + alpha) I - S^T S) g = alpha g0 + q + S^T h``.
    """
    pull = alpha * seeds.g0
    if seeds.document_offset is not None:
        pull = pull + seeds.document_offset
    h = np.zeros((graph.phrase_count, pull.shape[1])) if seeds.phrase_offset is None else seeds.phrase_offset
    if graph.phrase_count <= graph.document_count:
        f = _solve_propagation_system(graph.matrix, graph.transposed, alpha, graph.matrix @ pull + (1 + alpha) * h)
        g = (graph.transposed @ f + pull) / (1 + alpha)
    else:
        g = _solve_propagation_system(graph.transposed, graph.matrix, alpha, pull + graph.transposed @ h)
        f = graph.matrix @ g + h
    return Relevance(f, g, np.zeros(seeds.pair_count, dtype=np.int64))


def _solve_propagation_system(matrix: Matrix, transposed: Matrix, alpha: float, right_side: Floats) -> Floats:
    """Solve ``((1 + alpha) I - M M^T) x = right_side``: positive definite, as the norm of M is at most 1."""
    size = matrix.shape[0]
    if size <= MAX_DENSE_SYSTEM:
        system = -multiply_to_dense(matrix, transposed)
        system.reshape(-1)[:: size + 1] += 1 + alpha
        return np.asarray(np.linalg.solve(system, right_side), dtype=np.float64)
    from scipy.sparse.linalg import LinearOperator, cg

    operator = LinearOperator((size, size), matvec=lambda x: (1 + alpha) * x - matrix @ (transposed @ x))
    columns = [cg(operator, right_side[:, k], rtol=1e-13, atol=0.0)[0] for k in range(right_side.shape[1])]
    return np.column_stack(columns)
