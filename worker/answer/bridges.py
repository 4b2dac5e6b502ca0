"""Why an implied phrase is relevant to the side that lacks it: the sources of its relevance, above all bridges.

The relevance that is split is the one with lambda = 0, solved exactly on the neighbourhood: f_i = sum_j S_ij g_j. The
share of the side that contains the phrase is kept separate (``own_share``), as it explains nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Literal

import numpy as np

from worker.answer.comparison import Bridge, Reasons
from worker.answer.near_duplicates import NearDuplicates
from worker.explain.neighbourhood import LocalGraph
from worker.methods.base import PairProblem
from worker.solver.attribution import split_document_relevance, split_phrase_relevance
from worker.solver.propagation import Relevance, propagate_exactly
from worker.solver.seeds import build_pair_seeds
from worker.solver.subgraph import Floats

MAX_BRIDGES = 3
"""Bridges listed for a phrase."""
_MAX_BRIDGE_PHRASES = 3
"""Phrases listed for a bridge."""
_FIRST_PHRASES = 8
"""Strongest phrases of a bridge that are searched first for enough distinct ones, before all of them."""
_PARTITION_FACTOR = 4
"""Up to this many times the wanted parts are sorted directly; for more, partitioning first is faster."""
_MIN_SHARE = 1e-4
"""A bridge of a smaller share is not listed."""


def _contains_no_word(phrase: str) -> bool:
    return False


class BridgeFinder:
    """Explains the implied phrases of one answer; the system is solved once, when first needed."""

    def __init__(
        self,
        graph: LocalGraph,
        problem: PairProblem,
        near_duplicates: NearDuplicates,
        known_relevance: Relevance | None = None,
        contains_any_word: tuple[Callable[[str], bool], Callable[[str], bool]] = (_contains_no_word, _contains_no_word),
    ) -> None:
        """``known_relevance``: the exact relevance, if the method has solved it already.

        ``contains_any_word``: for side a and for side b, returns whether the side contains any word of a phrase.
        """
        self._graph = graph
        self._near_duplicates = near_duplicates
        self._problem = problem
        self._known_relevance = known_relevance
        self._contains_any_word = contains_any_word
        self._ranked_phrases: dict[tuple[int, int, int | None], list[int]] = {}

    @cached_property
    def _row_by_phrase(self) -> dict[str, int]:
        return {phrase: i for i, phrase in enumerate(self._graph.phrases)}

    def explain_phrase(self, phrase: str, lacking: Literal["a", "b"]) -> Reasons:
        """Return the sources of the phrase's relevance to the side that lacks it."""
        row = self._row_by_phrase.get(phrase)
        if row is None:  # a method's own word, which is not in the graph
            return Reasons(own_share=0.0, bridges=(), word_share=0.0, other_share=1.0)
        side = 0 if lacking == "a" else 1
        f, g = self._relevance.f[:, side], self._relevance.g[:, side]
        if f[row] <= 0:  # no document links the phrase to the side; its words may
            word_share = float(self._contains_any_word[side](phrase))
            return Reasons(own_share=0.0, bridges=(), word_share=word_share, other_share=1.0 - word_share)
        own_a, own_b = self._graph.columns_a, self._graph.columns_b
        holders, targets = (own_b, own_a) if side == 0 else (own_a, own_b)
        shares = split_phrase_relevance(self._graph.subgraph, f, g, row, holders=holders, targets=targets)
        named = _rank_indices_above(shares.via, self._graph.ids, _MIN_SHARE, MAX_BRIDGES)
        via = tuple(self._build_bridge(j, float(shares.via[j]), side, row) for j in named)
        own = min(1.0, shares.own)  # the last digit of a sum
        rest = 1.0 - own - sum(bridge.share for bridge in via)
        return Reasons(own_share=own, bridges=via, word_share=0.0, other_share=max(0.0, rest))

    def _build_bridge(self, document: int, share: float, side: int, explained_row: int) -> Bridge:
        """Build a bridge from a document, with the phrases that make it relevant to the side, the strongest first."""
        phrases = self._find_strongest_phrases(document, side, explained_row)
        return Bridge(self._graph.ids[document], self._graph.titles[document], phrases, share)

    def _find_strongest_phrases(self, document: int, side: int, excluded_row: int) -> tuple[str, ...]:
        """Return the phrases that contribute most, without the phrase ``excluded_row`` and without near-duplicates."""
        strongest: tuple[str, ...] = ()
        for count in (_FIRST_PHRASES, None):  # most often the first few are enough
            # one more, as the phrase of the row may be among them
            rows = self._rank_phrase_rows(document, side, None if count is None else count + 1)
            phrases = [self._graph.phrases[i] for i in rows if i != excluded_row][:count]
            strongest = self._near_duplicates.pick_representatives(phrases, _MAX_BRIDGE_PHRASES)
            if len(strongest) == _MAX_BRIDGE_PHRASES or count is None or len(phrases) < count:
                break
        return strongest

    def _rank_phrase_rows(self, document: int, side: int, max_count: int | None) -> list[int]:
        """Return rows of phrases by their contribution to a document's relevance, the largest first.

        Results are cached, as several phrases of an answer have the same bridge.
        """
        key = (document, side, max_count)
        if key not in self._ranked_phrases:
            f, g = self._relevance.f[:, side], self._relevance.g[:, side]
            parts, _ = split_document_relevance(self._graph.subgraph, f, g, document, self._problem.parameters.alpha)
            self._ranked_phrases[key] = _rank_indices_above(parts, self._graph.phrases, 0.0, max_count)
        return self._ranked_phrases[key]

    @cached_property
    def _relevance(self) -> Relevance:
        if self._known_relevance is not None:
            return self._known_relevance
        problem, graph = self._problem, self._graph.subgraph
        alpha = problem.parameters.alpha
        seeds = build_pair_seeds(graph, problem.a.seed, problem.b.seed, alpha=alpha)
        return propagate_exactly(graph, seeds, alpha)


def _rank_indices_above(
    scores: Floats, names: Sequence[str], threshold: float, max_count: int | None = None
) -> list[int]:
    """Return the indices of the parts above a threshold, the largest first; those equal to 9 digits by name."""
    chosen = np.flatnonzero(scores > threshold)
    values = scores[chosen]
    if max_count is not None and len(chosen) > _PARTITION_FACTOR * max_count:
        # only what may be among the first, a rounding apart, is worth sorting
        is_likely = values >= np.partition(values, len(chosen) - max_count)[len(chosen) - max_count] - 2e-9
        chosen, values = chosen[is_likely], values[is_likely]
    ordered = sorted([(round(-v, 9), names[i], i) for v, i in zip(values.tolist(), chosen.tolist(), strict=True)])
    return [i for _, _, i in ordered[:max_count]]
