"""Input and output of every method: the features of a pair's candidates in, three ranked lists out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from indexer.model.evidence_spaces import SpaceName
from worker.solver.parameters import DEFAULT, Parameters
from worker.solver.propagation import Relevance
from worker.solver.seeds import SeedSide
from worker.solver.subgraph import Flags, Floats, Indices, Subgraph


def _no_amounts() -> Floats:
    """Default of an array of finite numbers of at least 0."""
    return np.zeros(0)


def _no_cosines() -> Floats:
    """Default of an array of numbers of any sign."""
    return np.zeros(0)


def _no_counts() -> Indices:
    """Default of an array of whole numbers of at least 0."""
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False, kw_only=True)
class SideFeatures:
    """Features of the candidates in relation to one side; row i of every array is phrase i, shape (P,)."""

    is_salient: Flags
    """Whether the phrase is among the side's salient phrases."""
    salience: Floats = field(default_factory=_no_amounts)
    """0 (or NaN) where it is not salient."""
    count: Indices = field(default_factory=_no_counts)
    """Occurrences in the text; in a set, for a method that needs no counts, 1 where there are any."""
    document_count: Indices = field(default_factory=_no_counts)
    """The side's documents that have an edge to it."""
    bm25: Floats = field(default_factory=_no_amounts)
    """BM25 against the side where it occurs, else 0; summed over the side's documents."""
    word_bm25: Floats = field(default_factory=_no_amounts)
    """BM25 of its words against the side, whether or not it occurs."""
    partial_match: Floats = field(default_factory=_no_amounts)
    """Share of it that the side contains in some form (words, their families, acronyms), from 0 to 1."""
    topic_cosine: Floats = field(default_factory=_no_cosines)
    """Cosine of the side's topic vector with that of the documents that contain the phrase."""
    whole_share: Floats = field(default_factory=_no_amounts)
    """Share of its occurrences in which it is a whole phrase of the text; 0 if it is not among the stored ones."""
    earliness: Floats = field(default_factory=_no_amounts)
    """From 1 at the start of the text towards 0 (``compute_earliness``)."""
    never_whole: Floats = field(default_factory=_no_amounts)
    """1 for several words that the text contains, but never as a whole phrase, else 0."""
    title_share: Floats = field(default_factory=_no_amounts)
    """Share of its words that the title contains."""
    word_count: Indices = field(default_factory=_no_counts)
    """Occurrences in the text of its most frequent word, function words left out."""
    tokens: Sequence[str] = ()
    """Lemmas of the text; none if pairs are stacked."""
    text_length: Indices = field(default_factory=_no_counts)
    """Number of the lemmas, the same in all rows of a pair."""
    seed: SeedSide = field(default_factory=lambda: SeedSide(()))
    """The side's documents among the graph's, with their g0."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_salient", np.asarray(self.is_salient, dtype=bool))
        _fill_and_check_arrays(self, self.is_salient.size)


@dataclass(frozen=True, eq=False, kw_only=True)
class PairProblem:
    """The candidates of one pair with their features; row i of every array is phrase i, shape (P,).

    Those of several pairs may be stacked, one pair after another, to be measured together.
    """

    phrases: Sequence[str]
    """The salient phrases of a in order of salience, then those only in b; a phrase pair is ``x@@y``."""
    is_stacked: bool = False
    """Whether there are several pairs, which may share phrases."""
    a: SideFeatures
    b: SideFeatures
    parameters: Parameters = DEFAULT
    graph: Subgraph | None = None
    """Its rows are the phrases, in the same order."""
    background: Floats = field(default_factory=_no_amounts)
    """The sum of the phrase's normalised weights over the whole corpus; all zeros where it is not known."""
    document_frequency: Indices = field(default_factory=_no_counts)
    """Documents of the corpus that contain the phrase."""
    quality: Floats = field(default_factory=_no_amounts)
    """Quality that the miner gave the phrase."""
    specificity: Floats = field(default_factory=_no_cosines)
    """How specific its words are in general (``measure_specificity``), their mean; 0 for an average word."""
    neighbour_texts: Sequence[Sequence[str]] = ()
    """Lemmas of the neighbourhood's documents, for a method that needs them."""
    corpus_size: int = 0
    """Documents of the corpus."""
    word_document_frequency: Callable[[str], int] = lambda word: 0
    """Function that returns the number of documents that contain a word."""
    text_problem: PairProblem | None = None
    """The candidates that only the texts show to be phrases, which no graph has; None without any."""
    measure_noise: Callable[[], float | None] = lambda: None
    """Function that returns the share of random documents that are as close to one of the texts as these are to each
    other; None if it cannot be measured."""

    def __post_init__(self) -> None:
        size = len(self.phrases)
        if not self.is_stacked and len(set(self.phrases)) != size:
            raise ValueError("a phrase is given twice")
        for side in (self.a, self.b):
            if side.is_salient.shape != (size,):
                raise ValueError(f"is_salient has shape {side.is_salient.shape}, there are {size} phrases")
        _fill_and_check_arrays(self, size)
        if self.graph is not None and self.graph.phrase_count != size:
            raise ValueError(f"a graph of {self.graph.phrase_count} phrases for {size} candidates")

    @property
    def is_shared(self) -> Flags:
        """Whether the phrase occurs in both texts, (P,)."""
        return np.asarray((self.a.count > 0) & (self.b.count > 0))

    @property
    def is_candidate(self) -> Flags:
        """Whether the phrase is salient in either text, (P,)."""
        return self.a.is_salient | self.b.is_salient


def _fill_and_check_arrays(features: SideFeatures | PairProblem, phrase_count: int) -> None:
    """Fill in the arrays that were left out, turn NaN into 0, and raise ValueError for a wrong shape or number.

    All arrays of a type are checked in one stack: one by one, the checks took as long as the solve.
    """
    amounts, cosines, counts = _ARRAY_NAMES[type(features)]
    floats = _stack_arrays(features, amounts + cosines, np.zeros((len(amounts + cosines), phrase_count)))
    integers = _stack_arrays(features, counts, np.zeros((len(counts), phrase_count), dtype=np.int64))
    np.copyto(floats, 0.0, where=np.isnan(floats))
    for names, values in ((amounts, floats[: len(amounts)]), (counts, integers)):
        if values.size and not (values.min() >= 0 and values.max() < np.inf):
            is_wrong = ~(np.isfinite(values) & (values >= 0)).all(axis=1)
            raise ValueError(f"{names[int(is_wrong.argmax())]} must be finite numbers of at least 0")


def _stack_arrays(features: SideFeatures | PairProblem, names: Sequence[str], out: NDArray[Any]) -> NDArray[Any]:
    """Copy the named arrays (P,) into the rows of ``out``, which replace them; an empty one leaves its row 0."""
    for name, row in zip(names, out, strict=True):
        values = np.asarray(getattr(features, name))
        if values.shape == row.shape:
            row[...] = values
        elif values.size:
            raise ValueError(f"{name} has shape {values.shape}, there are {row.size} phrases")
        object.__setattr__(features, name, row)
    return out


def _list_amount_cosine_count_fields(owner: type[Any]) -> tuple[list[str], list[str], list[str]]:
    """Return the names of the fields that are arrays of amounts, cosines and counts."""
    amounts, cosines, counts = (
        [f.name for f in fields(owner) if f.default_factory is factory]
        for factory in (_no_amounts, _no_cosines, _no_counts)
    )
    return amounts, cosines, counts


_ARRAY_NAMES = {owner: _list_amount_cosine_count_fields(owner) for owner in (SideFeatures, PairProblem)}


@dataclass(frozen=True, eq=False)
class RankedList:
    """Phrases, best first."""

    indices: Indices
    """Indices into the phrases of the result, (n,)."""
    scores: Floats
    """The score of each, (n,)."""
    informative: int | None = None
    """How many, from the top, inform a reader; None for all."""
    fillers: int | None = None
    """How many, from the top, may fill up a short list; the rest is listed only on request. None for all."""

    def __len__(self) -> int:
        return self.indices.size


EMPTY_LIST = RankedList(np.zeros(0, dtype=np.int64), np.zeros(0))


@dataclass(frozen=True, eq=False, kw_only=True)
class MethodResult:
    """Three disjoint lists. Arrays run over ``phrases``, shape (P,)."""

    phrases: Sequence[str]
    """The problem's, or the method's own where it does not sort the candidates (single words)."""
    common: RankedList
    distinct_a: RankedList
    distinct_b: RankedList
    relevance_a: Floats
    """Relevance to a, in units of an average salient phrase of a."""
    relevance_b: Floats
    """Relevance to b, in units of an average salient phrase of b."""
    margin: Floats
    """Distance above (>= 0) or below the threshold of common; comparable within a method only."""
    noise: Floats | None = None
    """Share of random documents whose best phrase has as much evidence as this one; None where it is not measured."""
    is_meaning: Flags | None = None
    """Whether only the spaces of the index say that a query and a hit are both about it; None without a query."""
    by_space: Mapping[SpaceName, Floats] = field(default_factory=dict)
    """z-scores of each space (``PhraseEvidence``)."""
    iterations: int = 0
    """Steps of the longest inner loop; 0 where nothing is iterated or a small system was solved exactly."""
    rounds: int = 0
    """Outer rounds."""
    notes: tuple[str, ...] = ()
    """Remarks for a reader of the answer."""
    exact_relevance: Relevance | None = None
    """Relevance with lambda = 0 and no background, not scaled, where the method has solved that exactly."""


class Method(ABC):
    """A way to sort phrases into common and distinct ones. Subclasses are listed in ``worker.methods.METHODS``."""

    name: ClassVar[str]
    """Name in requests and answers."""
    title: ClassVar[str]
    """Name for people."""
    needs_neighbour_texts: ClassVar[bool] = False
    """Whether it reads the words of the neighbourhood's documents, which takes one more request to the index."""
    needs_counts: ClassVar[bool] = False
    """Whether it reads how often a phrase occurs in a set; for the others it is enough whether it does."""
    needs_word_bm25: ClassVar[bool] = False
    """Whether it reads BM25 of a phrase's words against a side that need not contain all of them."""

    def ranks_text_phrases(self, parameters: Parameters) -> bool:
        """Return whether it ranks the phrases that only the texts show; only such a method gets them."""
        return False

    @abstractmethod
    def sort_phrases(self, problem: PairProblem) -> MethodResult:
        """Sort the candidates of a pair into three ranked lists.

        Parameters
        ----------
        problem
            P phrases with their features, each array of shape (P,). Features that the method does not declare as
            needed may be all zeros. ``graph``, of P phrases and N documents, is required by the methods that
            propagate relevance.

        Returns
        -------
        MethodResult
            The lists ``common``, ``distinct_a`` and ``distinct_b``, disjoint and best first, as indices (n,) into
            ``phrases`` with scores (n,); ``relevance_a``, ``relevance_b`` and ``margin`` for every phrase, (P,), all
            finite. Common phrases have a margin of at least 0. Swapping the sides swaps the lists.

        Raises
        ------
        BadParameter
            If the method needs a graph and the problem has none.
        """
