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
Watch = Callable[[Floats, Floats, Floats], None]
"""``watch(f, g, loss)`` sees every step; loss (K,) is L + L'."""


@dataclass(eq=False)
class State:
    """Relevance of phrases f (P, 2K) and documents g (N, 2K), with loss L + L' per pair (K,)."""

    f: Floats
    g: Floats
    loss: Floats

    @classmethod
    def zero(cls, graph: Subgraph, seeds: Seeds) -> State:
        columns = 2 * seeds.pairs
        return cls(
            np.zeros((graph.phrases, columns)), np.zeros((graph.documents, columns)), np.full(seeds.pairs, np.inf)
        )

    def copy(self) -> State:
        return State(self.f.copy(), self.g.copy(), self.loss.copy())

    def keep(self, other: State, pairs: Flags) -> None:
        """Take over the columns of the flagged pairs (K,) from another state."""
        columns = np.concatenate([pairs, pairs])
        np.copyto(self.f, other.f, where=columns)
        np.copyto(self.g, other.g, where=columns)
        np.copyto(self.loss, other.loss, where=pairs)


class Relaxation:
    """One round after another of Eqs. 10-13 on buffers made once."""

    def __init__(self, graph: Subgraph, seeds: Seeds, alpha: float) -> None:
        self.graph, self.seeds, self.alpha = graph, seeds, alpha
        columns = 2 * seeds.pairs
        self._s = np.empty((graph.phrases, columns))
        self._pull = alpha * seeds.g0
        if seeds.document_offset is not None:
            self._pull += seeds.document_offset
        self._fixed = alpha * np.einsum("ij,ij->j", seeds.g0, seeds.g0)
        self._ff, self._gg, self._fh = np.empty(columns), np.empty(columns), np.zeros(columns)

    def step(self, state: State, update: Update) -> None:
        graph, seeds = self.graph, self.seeds
        graph.to_phrases(state.g, out=self._s)
        if seeds.phrase_offset is not None:
            np.add(self._s, seeds.phrase_offset, out=self._s)
        update(self._s, state.f)
        graph.to_documents(state.f, out=state.g)
        np.add(state.g, self._pull, out=state.g)
        np.divide(state.g, 1 + self.alpha, out=state.g)
        self._measure(state)

    def _measure(self, state: State) -> None:
        """``L = |f|^2 + |g|^2 - 2 f S g + alpha |g - g0|^2``, which is Eq. 7 on the full graph.

        Right after the update of g it equals ``|f|^2 - 2 f h - (1 + alpha) |g|^2 + alpha |g0|^2``
        (h: the phrase offset).
        """
        np.einsum("ij,ij->j", state.f, state.f, out=self._ff)
        np.einsum("ij,ij->j", state.g, state.g, out=self._gg)
        if self.seeds.phrase_offset is not None:
            np.einsum("ij,ij->j", state.f, self.seeds.phrase_offset, out=self._fh)
        loss = self._ff - 2 * self._fh - (1 + self.alpha) * self._gg + self._fixed
        np.add(loss[: state.loss.size], loss[state.loss.size :], out=state.loss)

    def run(
        self, kept: State, update: Update, tolerance: float, limit: int, live: Flags, watch: Watch | None = None
    ) -> Indices:
        """Relax the live pairs (K,) of ``kept`` in place; returns the steps each took (K,).

        A pair stops by itself: what the others still need changes nothing about it.
        """
        work, live, steps = kept.copy(), live.copy(), np.zeros(live.size, dtype=np.int64)
        before = np.full(live.size, np.inf)
        for step in range(1, limit + 1):
            self.step(work, update)
            if watch is not None:
                watch(work.f, work.g, work.loss)
            done = settled(before, work.loss, tolerance) & live if step < limit else live
            if done.any():
                kept.keep(work, done)
                steps[done] = step
                live = live & ~done
                if not live.any():
                    break
            before[...] = work.loss
        return steps


def settled(before: Floats, now: Floats, tolerance: float) -> Flags:
    """Whether the relative change is below the tolerance; with tolerance 0, never."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(now - before) < tolerance * np.maximum(np.abs(now), np.finfo(float).tiny))
