"""What every method takes and gives: a pair's candidates in, three ranked lists out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol

import numpy as np

from worker.solver.parameters import DEFAULT, Parameters
from worker.solver.propagation import Relevance
from worker.solver.seeds import Side
from worker.solver.subgraph import Flags, Floats, Indices, Subgraph

FLOATS = (
    *("salience_a", "salience_b", "partial_a", "partial_b", "worded_a", "worded_b"),
    *("edge_a", "edge_b", "quality", "background"),
)
COSINES = ("topic_a", "topic_b")
COUNTS = ("occurs_a", "occurs_b", "held_a", "held_b", "frequency")


def _unknown(word: str) -> int:
    return 0


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """The candidates of one pair; row i of every array is phrase i. An array left out is all zeros."""

    phrases: Sequence[str]
    """The salient phrases of a in order of salience, then those only in b; a pair is ``x@@y``."""
    in_a: Flags
    """Whether the phrase is salient in a."""
    in_b: Flags
    parameters: Parameters = DEFAULT
    salience_a: Floats = field(default_factory=lambda: np.zeros(0))
    """0 (or NaN) where it is not salient."""
    salience_b: Floats = field(default_factory=lambda: np.zeros(0))
    occurs_a: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """How often its token sequence stands in the text; in a set, for a method that does not count, whether it does."""
    occurs_b: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    held_a: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """How many of the side's documents have an edge to it."""
    held_b: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    edge_a: Floats = field(default_factory=lambda: np.zeros(0))
    """BM25 against the side where it occurs, else 0; the sum over its documents."""
    edge_b: Floats = field(default_factory=lambda: np.zeros(0))
    partial_a: Floats = field(default_factory=lambda: np.zeros(0))
    """BM25 of its words against the side, whether or not it occurs."""
    partial_b: Floats = field(default_factory=lambda: np.zeros(0))
    worded_a: Floats = field(default_factory=lambda: np.zeros(0))
    """Share of it that the side holds in some form (words, their families, acronyms), from 0 to 1."""
    worded_b: Floats = field(default_factory=lambda: np.zeros(0))
    topic_a: Floats = field(default_factory=lambda: np.zeros(0))
    """Cosine of the side's place among the topics with that of the documents that hold the phrase."""
    topic_b: Floats = field(default_factory=lambda: np.zeros(0))
    graph: Subgraph | None = None
    """Its rows are the phrases, in the same order."""
    side_a: Side = field(default_factory=lambda: Side(()))
    """The documents of a among the graph's, with their g0."""
    side_b: Side = field(default_factory=lambda: Side(()))
    background: Floats = field(default_factory=lambda: np.zeros(0))
    """The sum of the phrase's normalised weights over the whole corpus; all zeros where it is not known."""
    tokens_a: Sequence[str] = ()
    """Lemmas of the text."""
    tokens_b: Sequence[str] = ()
    texts: Sequence[Sequence[str]] = ()
    """Lemmas of the neighbourhood's documents, for methods that look at words around a phrase."""
    frequency: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Documents that hold the phrase."""
    quality: Floats = field(default_factory=lambda: np.zeros(0))
    nearness: float = 1.0
    """Cosine of two texts' places among the topics; 0: as much in common as any two. 1 for sets or if not known."""
    documents: int = 0
    """Documents of the corpus."""
    word_frequency: Callable[[str], int] = _unknown
    """Documents that hold a word."""

    def __post_init__(self) -> None:
        size = len(self.phrases)
        if len(set(self.phrases)) != size:
            raise ValueError("a phrase is given twice")
        for name in ("in_a", "in_b"):
            self._set(name, self._array(name, np.bool_, size))
        # all at once: one by one, the checks took as long as the solve
        floats = np.stack([self._array(name, np.float64, size) for name in FLOATS + COSINES])
        floats = np.nan_to_num(floats, copy=False, nan=0.0, posinf=np.inf)
        counts = np.stack([self._array(name, np.int64, size) for name in COUNTS])
        for name, values in zip(FLOATS + COSINES + COUNTS, [*floats, *counts], strict=True):
            self._set(name, values)
        amounts = floats[: len(FLOATS)]
        if not np.isfinite(amounts).all() or (amounts < 0).any() or (counts < 0).any():
            wrong = [n for n in FLOATS + COUNTS if not (np.isfinite(getattr(self, n)) & (getattr(self, n) >= 0)).all()]
            raise ValueError(f"{wrong[0]} must be finite numbers of at least 0")
        if self.graph is not None and self.graph.phrases != size:
            raise ValueError(f"a graph of {self.graph.phrases} phrases for {size} candidates")

    @property
    def shared(self) -> Flags:
        """Whether the phrase stands in both texts."""
        return np.asarray((self.occurs_a > 0) & (self.occurs_b > 0))

    @property
    def candidates(self) -> Flags:
        return self.in_a | self.in_b

    def swapped(self) -> Problem:
        """The same pair asked the other way round."""
        ends = {f.name[:-2] for f in fields(self) if f.name.endswith("_a")}
        changes: dict[str, Any] = {}
        for name in ends:
            changes[f"{name}_a"], changes[f"{name}_b"] = getattr(self, f"{name}_b"), getattr(self, f"{name}_a")
        return replace(self, **changes)

    def _array(self, name: str, kind: type[np.generic], size: int) -> np.ndarray[Any, Any]:
        array = np.asarray(getattr(self, name), dtype=kind)
        if array.size == 0 and name not in ("in_a", "in_b"):
            array = np.zeros(size, dtype=kind)
        if array.shape != (size,):
            raise ValueError(f"{name} has shape {array.shape}, there are {size} phrases")
        return array

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)


@dataclass(frozen=True, eq=False)
class Ranked:
    """Phrases best first: indices (n,) into the sorting's phrases, and the score of each (n,)."""

    index: Indices
    score: Floats
    telling: int | None = None
    """How many of the first tell a reader something; None: all."""
    filling: int | None = None
    """How many of the first may fill up a short list; the rest is told only where all is asked for. None: all."""

    def __len__(self) -> int:
        return self.index.size


NONE = Ranked(np.zeros(0, dtype=np.int64), np.zeros(0))
"""An empty list."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Sorting:
    """Three disjoint lists. Arrays run over ``phrases``."""

    phrases: Sequence[str]
    """The problem's, or the method's own where it does not sort the candidates (single words)."""
    common: Ranked
    distinct_a: Ranked
    distinct_b: Ranked
    relevance_a: Floats
    """In units of an average salient phrase of the side."""
    relevance_b: Floats
    margin: Floats
    """How far above (>= 0) or below the cut for common each candidate is; comparable within a method only."""
    iterations: int = 0
    """Steps of the longest inner loop; 0 where nothing is iterated or a small system was solved exactly."""
    rounds: int = 0
    """Outer rounds."""
    notes: tuple[str, ...] = ()
    solved: Relevance | None = None
    """Relevance with lambda = 0 and no background, not scaled, where the method has solved that exactly."""


class Method(Protocol):
    """One way of sorting."""

    @property
    def name(self) -> str: ...

    def sort(self, problem: Problem) -> Sorting: ...
