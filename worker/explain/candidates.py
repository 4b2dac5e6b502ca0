"""The phrases a comparison is about: the salient ones of both sides, with their edges to the sides' documents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from worker.explain.resolver import Resolved


@dataclass(frozen=True, eq=False)
class Candidates:
    """S, S' and what both sides hold of them; row i of every array is ``phrases[i]``."""

    of_a: tuple[str, ...]
    """S: best first."""
    of_b: tuple[str, ...]
    phrases: tuple[str, ...]
    """S u S': those of a, then those only in b."""
    numbers: NDArray[np.int64]
    """Their numbers in the model; -1 for a phrase that it does not know."""
    degrees: NDArray[np.float64]
    """Their degrees in the whole corpus, shape (phrases,)."""
    edges_a: NDArray[np.float64]
    """BM25 in each document of a that holds the phrase, else 0; shape (phrases, documents of a)."""
    edges_b: NDArray[np.float64]

    @classmethod
    def of(cls, a: Resolved, b: Resolved, k: int | None = None) -> Candidates:
        """The salient phrases of both sides, at most ``k`` of each."""
        of_a, of_b = tuple(a.salience)[:k], tuple(b.salience)[:k]
        phrases = tuple(dict.fromkeys([*of_a, *of_b]))
        model = a.reader.model
        numbers = np.array([model.phrase_ids.get(phrase, -1) for phrase in phrases], dtype=np.int64)
        degrees = np.where(numbers >= 0, model.degree[numbers], 0.0) if len(phrases) else np.zeros(0)
        return cls(of_a, of_b, phrases, numbers, degrees, a.edges(phrases), b.edges(phrases))

    @cached_property
    def sent(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What each side sends along each phrase at first: its mean weight over the degree, shape (phrases,)."""
        a, b = (self._over_degrees(edges.mean(axis=1)) for edges in (self.edges_a, self.edges_b))
        return a, b

    def _over_degrees(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.divide(weights, self.degrees, out=np.zeros(len(weights)), where=self.degrees > 0)
