"""Evidence that a query and a hit are both about a phrase, from one or several vector spaces.

Each space measures how far the query and the hit lie in the direction of a phrase, as z-scores: standard deviations
above the mean of random documents of the corpus, which the reservoir holds. The evidence of a space is the smaller of
the two. The spaces, where an index has them, and the source that each belongs to:

    vectors  the vectors that documents and query came with    indexer.model.vector_space        vectors
    words    word vectors that come with this package          indexer.model.phrase_directions   text
    topics   latent semantic analysis of the corpus itself     indexer.model.phrase_directions   text

A third source is the *closeness* of query and hit in the space of the vectors, the same for all phrases of a hit.
What the sources say together, compared with what they say of random documents, is ``indexer.model.evidence_scale``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, Literal, NamedTuple, Protocol, Self, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from indexer.model.evidence_scale import MIN_RESERVOIR, EvidenceScale, Source
from indexer.model.topic_space import WeighedText

Ints = NDArray[np.integer]
Vectors = NDArray[np.float32]
Scores = NDArray[np.float64]
SpaceName = Literal["vectors", "words", "topics"]
SPACE_NAMES: tuple[SpaceName, ...] = get_args(SpaceName)


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
    source: Source
    weight: float = 1.0
    """Of its evidence in the sum of its source."""

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

    def measure_closeness(self, query: LocatedQuery, hit: SpaceHit) -> float | None:
        """Return how close query and hit are, as a z-score among random documents; None in a space without closeness.

        ``hit``: one that has a place in the space.
        """
        return None

    def measure_random_closeness(self, query: LocatedQuery) -> Scores | None:
        """Return the same for each random document, shape (documents of the reservoir,); None where hits have none."""
        return None

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
    """Share of random documents whose best phrase has as much evidence, or, if it is larger, of their phrases that do
    without closeness; 1 for a phrase that the model does not have."""
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
        random_documents = _RandomDocuments(self._reservoir, located)
        strengths, noises = [], []
        for number, hit in enumerate(hits):
            parts = {space: part for space, own in measured.items() if (part := own[number]) is not None}
            scale = random_documents.scale_evidence(tuple(parts))
            if scale is None:
                strengths.append(np.zeros(len(hit.phrase_ids)))
                noises.append(np.ones(len(hit.phrase_ids)))
                continue
            evidence = _sum_by_source(parts)
            for space in parts:
                closeness = space.measure_closeness(located[space], hit)
                if closeness is not None:
                    evidence["closeness"] = np.full(len(hit.phrase_ids), closeness)
            strengths.append(scale.compute_strength(evidence))
            noises.append(scale.compute_noise(evidence))
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


def _sum_by_source(parts: Mapping[EvidenceSpace[Any], Scores]) -> dict[Source, Scores]:
    """Return the weighted sum of the evidence of the spaces of each source; all arrays have the same shape."""
    sums: dict[Source, Scores] = {}
    for space, part in parts.items():
        weighted = space.weight * part
        sums[space.source] = sums[space.source] + weighted if space.source in sums else weighted
    return sums


class _RandomDocuments:
    """Random documents measured for a query, in the spaces that hits have a place in."""

    def __init__(self, reservoir: Reservoir, located: Mapping[EvidenceSpace[Any], LocatedQuery]) -> None:
        self._reservoir, self._located = reservoir, located
        self._scales: dict[tuple[EvidenceSpace[Any], ...], EvidenceScale | None] = {}

    @cached_property
    def _by_space(self) -> dict[EvidenceSpace[Any], Scores]:
        return {space: space.measure_reservoir(place) for space, place in self._located.items()}

    def scale_evidence(self, spaces: tuple[EvidenceSpace[Any], ...]) -> EvidenceScale | None:
        """Return the scale of the evidence from some of the spaces; None if too few documents have a place in them."""
        if spaces not in self._scales:
            self._scales[spaces] = self._build_scale(spaces)
        return self._scales[spaces]

    def _build_scale(self, spaces: tuple[EvidenceSpace[Any], ...]) -> EvidenceScale | None:
        if not spaces or not len(self._reservoir.phrase_ids):
            return None
        evidence = _sum_by_source({space: self._by_space[space] for space in spaces})
        for space in spaces:
            closeness = space.measure_random_closeness(self._located[space])
            if closeness is not None:
                evidence["closeness"] = closeness[self._reservoir.owners]
        has_place = ~np.isnan(np.sum(list(evidence.values()), axis=0))
        starts = np.flatnonzero(np.diff(self._reservoir.owners[has_place], prepend=-1))
        without_phrases = int(np.count_nonzero(np.diff(self._reservoir.starts) == 0))
        if len(starts) + without_phrases < MIN_RESERVOIR:
            return None
        return EvidenceScale(
            {source: scores[has_place] for source, scores in evidence.items()}, starts, without_phrases
        )


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
