"""Why an implied phrase belongs to the side that lacks it: the shares of its relevance, and bridges.

Relevance alone (lambda = 0) is split, solved exactly on the neighbourhood: f_i = sum_j S_ij g_j. The
documents of the side that holds the phrase are told apart (``own``): they explain nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Literal

import numpy as np

from worker.answer.comparison import Bridge, Reasons
from worker.answer.near_duplicates import Folder
from worker.explain.neighbourhood import LocalGraph
from worker.methods.base import Problem
from worker.solver.attribution import document_shares, relevance_shares
from worker.solver.propagation import Relevance, propagate_exactly
from worker.solver.seeds import pair_seeds
from worker.solver.subgraph import Floats

MOST = 3
"""Bridges named for a phrase."""
_PHRASES = 3
"""Phrases named for a bridge."""
_LOOKED_AT = 8
"""Phrases of a bridge among which as many as are named are looked for at first."""
_MANY = 4
"""Times as many parts as are wanted are sorted as they are: finding the largest first takes longer."""
_LEAST = 1e-4
"""A smaller share is not worth a line."""


def _none(phrase: str) -> bool:
    """No word of any phrase stands on the side."""
    return False


class Reasoner:
    """Reasons for the implied phrases of one answer; the system is solved once, when first asked."""

    def __init__(
        self,
        graph: LocalGraph,
        problem: Problem,
        folder: Folder,
        solved: Relevance | None = None,
        worded: tuple[Callable[[str], bool], Callable[[str], bool]] = (_none, _none),
    ) -> None:
        """``solved``: what the method has solved already. ``worded``: whether a side holds any word of a phrase."""
        self._graph = graph
        self._folder = folder
        self._problem = problem
        self._given = solved
        self._worded = worded
        self._ranked: dict[tuple[int, int, int | None], list[int]] = {}
        self._row = {phrase: i for i, phrase in enumerate(graph.phrases)}

    def reasons(self, phrase: str, lacking: Literal["a", "b"]) -> Reasons:
        row = self._row.get(phrase)
        if row is None:  # a method's own word, which is not in the graph
            return Reasons(own=0.0, via=(), partial=0.0, rest=1.0)
        side = 0 if lacking == "a" else 1
        f, g = self._solved.f[:, side], self._solved.g[:, side]
        if f[row] <= 0:  # no document speaks for it; words may
            partial = float(self._worded[side](phrase))
            return Reasons(own=0.0, via=(), partial=partial, rest=1.0 - partial)
        own_a, own_b = self._graph.own_a, self._graph.own_b
        holders, targets = (own_b, own_a) if side == 0 else (own_a, own_b)
        shares = relevance_shares(self._graph.graph, f, g, row, holders=holders, targets=targets)
        named = _largest(shares.via, self._graph.ids, _LEAST, MOST)
        via = tuple(self._bridge(j, float(shares.via[j]), side, row) for j in named)
        own = min(1.0, shares.own)  # the last digit of a sum
        rest = 1.0 - own - sum(bridge.share for bridge in via)
        return Reasons(own=own, via=via, partial=0.0, rest=max(0.0, rest))

    def _bridge(self, document: int, share: float, side: int, row: int) -> Bridge:
        """A third document with the phrases that make it relevant to the side, the strongest first."""
        phrases = self._strongest(document, side, row)
        return Bridge(self._graph.ids[document], self._graph.titles[document], phrases, share)

    def _strongest(self, document: int, side: int, row: int) -> tuple[str, ...]:
        """The phrases of the largest parts but that of ``row``, without near-duplicates: most often they are among
        the first few."""
        found: tuple[str, ...] = ()
        for most in (_LOOKED_AT, None):
            # one more, as that of the row may be among them
            parts = self._parts(document, side, None if most is None else most + 1)
            names = [self._graph.phrases[i] for i in parts if i != row][:most]
            found = self._folder.leaders(names, _PHRASES)
            if len(found) == _PHRASES or most is None or len(names) < most:
                break
        return found

    def _parts(self, document: int, side: int, most: int | None) -> list[int]:
        """Phrases by what they bring to a document, the largest first; several of an answer ask for the same one."""
        known = self._ranked.get((document, side, most))
        if known is None:
            f, g = self._solved.f[:, side], self._solved.g[:, side]
            parts, _ = document_shares(self._graph.graph, f, g, document, self._problem.parameters.alpha)
            known = self._ranked[document, side, most] = _largest(parts, self._graph.phrases, 0.0, most)
        return known

    @cached_property
    def _solved(self) -> Relevance:
        if self._given is not None:
            return self._given
        problem, graph = self._problem, self._graph.graph
        alpha = problem.parameters.alpha
        seeds = pair_seeds(graph, problem.side_a, problem.side_b, alpha=alpha)
        return propagate_exactly(graph, seeds, alpha)


def _largest(parts: Floats, names: Sequence[str], above: float, most: int | None = None) -> list[int]:
    """Which parts are above a limit, the largest first; parts that agree to 9 digits by name."""
    chosen = np.flatnonzero(parts > above)
    values = parts[chosen]
    if most is not None and len(chosen) > _MANY * most:
        # only what may be among the first, a rounding apart, is worth ordering
        likely = values >= np.partition(values, len(chosen) - most)[len(chosen) - most] - 2e-9
        chosen, values = chosen[likely], values[likely]
    ordered = sorted([(round(-v, 9), names[i], i) for v, i in zip(values.tolist(), chosen.tolist(), strict=True)])
    return [i for _, _, i in ordered[:most]]
