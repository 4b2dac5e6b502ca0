"""The inner loop of Algorithm 1: f, g, f', g' in turn until Eq. 7 settles, for K pairs at once.

``S g`` and ``S g'`` do not depend on the f of the same round, so both sides share one product;
the order f, g, f', g' of the paper is kept because f' is updated with the new f. Nothing of the
size of the phrases or the documents is allocated inside the loop while the graph is dense.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from worker.solver.seeds import Seeds
from worker.solver.subgraph import Flags, Floats, Indices, Subgraph

Update = Callable[[Floats, Floats], None]
"""``update(s, f)`` writes f (P, 2K) from s = S g (P, 2K) in place, side a before side b."""


@dataclass(eq=False)
class RelaxationState:
    """Relevance of phrases f (P, 2K) and documents g (N, 2K), with loss L + L' per pair (K,)."""

    f: Floats
    g: Floats
    loss: Floats

    @classmethod
    def create_zeros(cls, graph: Subgraph, seeds: Seeds) -> RelaxationState:
        """Create a state without relevance, of infinite loss."""
        columns = 2 * seeds.pair_count
        return cls(
            np.zeros((graph.phrase_count, columns)),
            np.zeros((graph.document_count, columns)),
            np.full(seeds.pair_count, np.inf),
        )

    def copy(self) -> RelaxationState:
        return RelaxationState(self.f.copy(), self.g.copy(), self.loss.copy())

    def copy_pairs(self, source: RelaxationState, pair_flags: Flags) -> None:
        """Copy the columns of the flagged pairs (K,) from another state."""
        columns = np.concatenate([pair_flags, pair_flags])
        np.copyto(self.f, source.f, where=columns)
        np.copyto(self.g, source.g, where=columns)
        np.copyto(self.loss, source.loss, where=pair_flags)


class Relaxation:
    """Rounds of Eqs. 10-13 on buffers allocated once."""

    def __init__(self, graph: Subgraph, seeds: Seeds, alpha: float) -> None:
        self.graph, self.seeds, self.alpha = graph, seeds, alpha
        columns = 2 * seeds.pair_count
        self._s = np.empty((graph.phrase_count, columns))
        self._pull = alpha * seeds.g0
        if seeds.document_offset is not None:
            self._pull += seeds.document_offset
        self._fixed = alpha * np.einsum("ij,ij->j", seeds.g0, seeds.g0)
        self._ff, self._gg, self._fh = np.empty(columns), np.empty(columns), np.zeros(columns)

    def run_step(self, state: RelaxationState, update: Update) -> None:
        """Update f, then g, then the loss of all pairs, in place."""
        graph, seeds = self.graph, self.seeds
        graph.propagate_to_phrases(state.g, out=self._s)
        if seeds.phrase_offset is not None:
            np.add(self._s, seeds.phrase_offset, out=self._s)
        update(self._s, state.f)
        graph.propagate_to_documents(state.f, out=state.g)
        np.add(state.g, self._pull, out=state.g)
        np.divide(state.g, 1 + self.alpha, out=state.g)
        self._compute_loss(state)

    def _compute_loss(self, state: RelaxationState) -> None:
        """Compute ``L = |f|^2 + |g|^2 - 2 f S g + alpha |g - g0|^2``, which is Eq. 7 on the full graph.

        Right after the update of g it equals ``|f|^2 - 2 f h - (1 + alpha) |g|^2 + alpha |g0|^2``
        (h: the phrase offset).
        """
        np.einsum("ij,ij->j", state.f, state.f, out=self._ff)
        np.einsum("ij,ij->j", state.g, state.g, out=self._gg)
        if self.seeds.phrase_offset is not None:
            np.einsum("ij,ij->j", state.f, self.seeds.phrase_offset, out=self._fh)
        loss = self._ff - 2 * self._fh - (1 + self.alpha) * self._gg + self._fixed
        np.add(loss[: state.loss.size], loss[state.loss.size :], out=state.loss)

    def relax_and_count_steps(
        self, state: RelaxationState, update: Update, tolerance: float, max_steps: int, is_live: Flags
    ) -> Indices:
        """Relax the live pairs (K,) of ``state`` in place and return the number of steps of each, (K,).

        Every pair stops on its own: the steps that other pairs still need do not change it.
        """
        work, is_live, steps = state.copy(), is_live.copy(), np.zeros(is_live.size, dtype=np.int64)
        before = np.full(is_live.size, np.inf)
        for step in range(1, max_steps + 1):
            self.run_step(work, update)
            done = has_settled(before, work.loss, tolerance) & is_live if step < max_steps else is_live
            if done.any():
                state.copy_pairs(work, done)
                steps[done] = step
                is_live = is_live & ~done
                if not is_live.any():
                    break
            before[...] = work.loss
        return steps


def has_settled(before: Floats, now: Floats, tolerance: float) -> Flags:
    """Return whether the relative change (K,) is below the tolerance; with tolerance 0, never."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(now - before) < tolerance * np.maximum(np.abs(now), np.finfo(float).tiny))
