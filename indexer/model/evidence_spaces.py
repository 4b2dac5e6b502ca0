"""Evidence that a query and a hit are both about a phrase, from one or several vector spaces.

Each space measures how far the query and the hit lie in the direction of a phrase, as z-scores: standard deviations
above the mean of random documents of the corpus, which the reservoir holds. The evidence of a space is the smaller of
the two, that of all spaces their weighted sum. Random documents are measured like hits: the evidence that 5 % of them
reach with their best salient phrase is the *floor*, and the *strength* of a phrase is its evidence as a multiple of it.
So strengths compare between corpora, queries and combinations of spaces.

The spaces, where an index has them:

    vectors  the vectors that documents and query came with    indexer.model.vector_space
    words    word vectors that come with this package          indexer.model.phrase_directions
    topics   latent semantic analysis of the corpus itself     indexer.model.phrase_directions
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from typing import Any, Generic, Literal, NamedTuple, Protocol, Self, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from indexer.model.topic_space import WeighedText

Ints = NDArray[np.integer]
Vectors = NDArray[np.float32]
Scores = NDArray[np.float64]
SpaceName = Literal["vectors", "words", "topics"]
SPACE_NAMES: tuple[SpaceName, ...] = get_args(SpaceName)

MAX_NOISE = 0.05
"""A phrase is evidence if at most this share of random documents has one as good."""
MIN_RESERVOIR = 300
"""In a reservoir of fewer documents, 5 % of them are a dozen, some of which are related to any query."""
_MIN_FLOOR = 1.0
"""Evidence of less than a standard deviation stands out from nothing."""


@dataclass(frozen=True, eq=False)
class Reservoir:
    """Salient phrases of documents drawn at random when the epoch was built."""

    starts: Ints
    """Document r has the phrases ``phrase_ids[starts[r]:starts[r + 1]]``."""
    phrase_ids: Ints

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def owners(self) -> Ints:
        """The document of each of ``phrase_ids``."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @cached_property
    def distinct_phrases(self) -> tuple[NDArray[np.int64], Ints]:
        """The distinct phrases, ascending, and the position among them of each of ``phrase_ids``."""
        phrases, rows = np.unique(self.phrase_ids, return_inverse=True)
        return phrases.astype(np.int64), rows


class SpaceQuery(NamedTuple):
    """A query as the spaces see it."""

    word_ids: Ints
    """Ids of its words in the model, without function words."""
    vector: Vectors | None = None
    """Its vector in the space of the documents' own vectors, if it came with one."""
    unknown_words: tuple[str, ...] = ()
    """Lemmas of its other words, which the model does not have."""


@dataclass(frozen=True, eq=False)
class SpaceHit:
    """A hit as the spaces see it, and the phrases to measure for it."""

    phrase_ids: Ints
    """Shape (P,); -1 for a phrase that the model does not have."""
    text_vectors: Mapping[SpaceName, Vectors]
    """Unit vector of its text in each space of words; zeros without a known word."""
    weighed_text: WeighedText | None = None
    """Its words in topic space, if it is a single document."""
    vectors: Vectors = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    """Vectors that its documents came with, shape (documents with a vector, dimensions)."""
    holds: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0), np.bool_))
    """Whether each of these documents has an edge to each phrase, shape (P, documents with a vector)."""


class LocatedQuery(NamedTuple):
    """A query in one space."""

    direction: Vectors
    """Of length 1."""
    word_ids: Ints
    mean_cosine: float = 0.0
    """Mean of the cosines of random documents with the query, where the space measures them."""
    cosine_spread: float = 1.0
    """Their standard deviation."""

    def measure_closeness(self, cosines: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return cosines of documents with the query as z-scores among random documents."""
        return (cosines - self.mean_cosine) / self.cosine_spread


class PhraseTable(Protocol):
    """What a space knows of some phrases, a row for each."""

    def take(self, rows: Ints) -> Self:
        """Return the table of these rows."""
        ...


Table = TypeVar("Table", bound=PhraseTable)


class EvidenceSpace(ABC, Generic[Table]):
    """A space in which phrases have directions and random documents a spread along them."""

    name: SpaceName
    weight: float = 1.0
    """Of its evidence in the sum."""

    @abstractmethod
    def locate_query(self, query: SpaceQuery) -> LocatedQuery | None:
        """Return the place of a query; None if it has none, such as a query of unknown words."""

    @abstractmethod
    def look_up_phrases(self, phrase_ids: Ints) -> Table:
        """Return what ``measure_hit`` needs of phrases of the model."""

    @abstractmethod
    def measure_hit(self, query: LocatedQuery, phrases: Table, hit: SpaceHit) -> Scores | None:
        """Return the evidence for each phrase of a hit, (P,); None if the hit has no place in the space."""

    @abstractmethod
    def measure_reservoir(self, query: LocatedQuery) -> Scores:
        """Return the evidence for each salient phrase of each random document, shape (phrases of the reservoir,).

        NaN for documents that have no place in the space.
        """

    def measure_texts(self, query: LocatedQuery, word_ids: Ints, owners: Ints, text_count: int) -> Scores | None:
        """Return the cosine of each text with the query, (texts,); None in a space in which words have no place.

        ``word_ids`` and ``owners``, shape (words,), are the words of the texts and the text of each.
        """
        return None


@dataclass(frozen=True, eq=False)
class PhraseEvidence:
    """Evidence for the phrases of some hits, one after another; arrays of shape (P,)."""

    strength: Scores
    """As a multiple of the floor; 0 for a phrase that the model does not have."""
    noise: Scores
    """Share of random documents whose best phrase has as much evidence; 1 for a phrase that the model does not have."""
    by_space: Mapping[SpaceName, Scores] = field(default_factory=dict)
    """z-scores of each space; NaN for a hit that has no place in it."""

    def pad(self, count: int) -> PhraseEvidence:
        """Return the evidence with further phrases, up to ``count``, that the model does not have."""
        missing = count - len(self.strength)
        return PhraseEvidence(
            np.pad(self.strength, (0, missing)),
            np.pad(self.noise, (0, missing), constant_values=1.0),
            {name: np.pad(scores, (0, missing)) for name, scores in self.by_space.items()},
        )


class EvidenceSpaces:
    """The spaces of an index, and what they say together."""

    def __init__(self, spaces: Sequence[EvidenceSpace[Any]], reservoir: Reservoir) -> None:
        self._spaces, self._reservoir = tuple(spaces), reservoir

    @property
    def names(self) -> tuple[SpaceName, ...]:
        return tuple(space.name for space in self._spaces)

    def select(self, names: Collection[SpaceName]) -> EvidenceSpaces:
        """Return those of the spaces that have one of the names; they share what they have computed."""
        return EvidenceSpaces([space for space in self._spaces if space.name in names], self._reservoir)

    @property
    def is_available(self) -> bool:
        """Whether evidence can be told from noise: not in a small index, nor in one of a former version."""
        return bool(self._spaces) and len(self._reservoir) >= MIN_RESERVOIR

    def measure(self, query: SpaceQuery, hits: Sequence[SpaceHit]) -> PhraseEvidence | None:
        """Measure the phrases of hits for a query; None if no space can.

        A hit is measured in the spaces that it has a place in, and against random documents in the same spaces.
        """
        located = {space: found for space in self._spaces if (found := space.locate_query(query)) is not None}
        ids = np.concatenate([hit.phrase_ids for hit in hits])
        known = np.unique(ids[ids >= 0])
        if not self.is_available or not located or not len(known):
            return None
        measured = {space: _measure_hits(space, place, known, hits) for space, place in located.items()}
        random_evidence = _RandomEvidence(self._reservoir, located)
        strengths, noises = [], []
        for number, hit in enumerate(hits):
            parts = {space: parts[number] for space, parts in measured.items()}
            evidence = [space.weight * part for space, part in parts.items() if part is not None]
            best = random_evidence.measure_best([part is not None for part in parts.values()])
            if not evidence or len(best) < MIN_RESERVOIR:
                strengths.append(np.zeros(len(hit.phrase_ids)))
                noises.append(np.ones(len(hit.phrase_ids)))
                continue
            total = np.sum(evidence, axis=0)
            strengths.append(total / max(float(np.quantile(best, 1 - MAX_NOISE)), _MIN_FLOOR))
            noises.append(compute_share_at_least(best, total))
        return PhraseEvidence(
            np.where(ids >= 0, np.concatenate(strengths), 0.0),
            np.where(ids >= 0, np.concatenate(noises), 1.0),
            {
                space.name: np.concatenate(
                    [
                        np.full(len(hit.phrase_ids), np.nan) if part is None else part
                        for hit, part in zip(hits, parts, strict=True)
                    ]
                )
                for space, parts in measured.items()
            },
        )

    def measure_texts(
        self, query: SpaceQuery, word_ids: Ints, owners: Ints, text_count: int
    ) -> dict[SpaceName, Scores]:
        """Return the cosine of each text, such as a sentence, with a query in each space of words.

        Spaces in which the query has no place are missing, and all are in an index that ``is_available`` excludes.

        Parameters
        ----------
        query
            The query; its vector is not used.
        word_ids, owners
            Ids of the words of all texts in the model, and the text that each belongs to, shape (words,).
        text_count
            Number of texts.
        """
        if not self.is_available:
            return {}
        located = {space: found for space in self._spaces if (found := space.locate_query(query)) is not None}
        measured = {space.name: space.measure_texts(at, word_ids, owners, text_count) for space, at in located.items()}
        return {name: cosines for name, cosines in measured.items() if cosines is not None}


def _measure_hits(
    space: EvidenceSpace[Table], query: LocatedQuery, known_ids: Ints, hits: Sequence[SpaceHit]
) -> list[Scores | None]:
    """Return the evidence of a space for the phrases of each hit; phrases that several hits have are looked up once."""
    phrases = space.look_up_phrases(known_ids)
    rows = [np.minimum(np.searchsorted(known_ids, hit.phrase_ids), len(known_ids) - 1) for hit in hits]
    return [space.measure_hit(query, phrases.take(own), hit) for own, hit in zip(rows, hits, strict=True)]


class _RandomEvidence:
    """Evidence for a query of the best salient phrase of each random document, by the spaces that are summed."""

    def __init__(self, reservoir: Reservoir, located: Mapping[EvidenceSpace[Any], LocatedQuery]) -> None:
        self._reservoir, self._located = reservoir, located
        self._best: dict[tuple[bool, ...], Scores] = {}

    @cached_property
    def _by_space(self) -> list[Scores]:
        return [space.weight * space.measure_reservoir(place) for space, place in self._located.items()]

    def measure_best(self, is_used: Sequence[bool]) -> Scores:
        """Return the evidence of the documents that have a place in the used spaces, ascending."""
        key = tuple(is_used)
        if key not in self._best:
            self._best[key] = self._sum_and_sort(list(compress(self._by_space, key)))
        return self._best[key]

    def _sum_and_sort(self, parts: Sequence[Scores]) -> Scores:
        sizes = np.diff(self._reservoir.starts)
        with_phrases = np.flatnonzero(sizes)
        if not parts or not len(with_phrases):
            return np.zeros(0)
        best = np.full(len(sizes), -np.inf)
        best[with_phrases] = np.maximum.reduceat(np.sum(parts, axis=0), self._reservoir.starts[with_phrases])
        return np.sort(best[~np.isnan(best)])


def compute_share_at_least(ascending: Scores, values: Scores) -> Scores:
    """Return the share of some numbers, in ascending order, that are at least as large as each of the values."""
    return np.asarray(1.0 - np.searchsorted(ascending, values, side="left") / len(ascending))


def normalise_rows(vectors: Vectors) -> Vectors:
    """Return the rows with length 1; zeros for one without a direction."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 1e-6), dtype=np.float32)


def divide_or_zero(values: NDArray[np.floating], divisors: NDArray[np.floating]) -> Scores:
    """Return the quotients; 0 where the divisor is."""
    return np.asarray(np.divide(values, divisors, out=np.zeros(np.shape(values)), where=divisors > 1e-6))


class DocumentSpread:
    """Mean and covariance of random documents in a space."""

    def __init__(self, vectors: Vectors) -> None:
        """``vectors``: shape (documents, dimensions)."""
        self._vectors = vectors

    @cached_property
    def mean(self) -> Vectors:
        return np.asarray(self._vectors.mean(axis=0), dtype=np.float32)

    @cached_property
    def _covariance(self) -> Vectors:
        centred = self._vectors - self.mean
        return np.asarray(centred.T @ centred / max(len(centred), 1))

    def measure_along(self, directions: Vectors) -> Vectors:
        """Return the standard deviation of the documents along each direction, (P,)."""
        variance = np.einsum("ij,ij->i", directions @ self._covariance, directions)
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)))
