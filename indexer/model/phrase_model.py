"""The phrase model of an epoch, and its bytes: all that is needed to analyse a text the way the index was."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, count
from typing import Any, BinaryIO, TypedDict

import numpy as np
from numpy.typing import NDArray

from indexer.lazy_sequences import NewlineStringTable, pack_strings, unpack_strings
from indexer.model.bm25 import idf
from indexer.model.evidence_spaces import EvidenceSpaces, Reservoir, SpaceName
from indexer.model.phrase_directions import GetVectors, PhraseDirections
from indexer.model.text_vectors import TextVectors, join_random_texts
from indexer.model.topic_space import PAIR_DIMENSIONS, SAMPLE_SIZE, TopicSpace
from indexer.model.vector_space import PhraseCentroids, VectorProjection, VectorSpace
from indexer.model.word_vectors import get_general_vectors, load_word_vectors
from indexer.text.lemmatizer import Lemmatizer

FORMAT = 1

_EXTRA_ARRAYS = {
    "gain": "segment_gains",
    "members": "pair_members",
    "nested": "is_nested",
    "phrase_words": "phrase_word_ids",
    "places": "phrase_topic_vectors",
    "starts": "phrase_starts",
    "reservoir_phrases": "reservoir_phrase_ids",
    "reservoir_starts": "reservoir_starts",
    "reservoir_places": "reservoir_places",
    "reservoir_vectors": "reservoir_vectors",
    "reservoir_word_vectors": "reservoir_word_vectors",
    "topic_middle": "topic_centroid",
    "topic_scales": "topic_scales",
    "topic_vectors": "topic_vectors",
    "topic_words": "topic_word_ids",
    "vector_axes": "vector_axes",
    "vector_codes": "centroid_codes",
    "vector_counts": "centroid_counts",
    "vector_mean": "vector_mean",
    "vector_steps": "centroid_steps",
    "word_centroid": "word_vector_centroid",
}
"""Name of each optional array in the stored model -> its field."""


_WORD_SPACE_WEIGHT = 0.5
"""What words mean in general counts half of what this corpus says: in a large corpus it would otherwise hide that, in a
small one it is most of the evidence."""


class ModelSettings(TypedDict, total=False):
    """Settings a model was mined with and figures of the mining, as stored."""

    language: str
    min_support: int
    """Count from which a pattern is frequent."""
    k: int
    """Salient phrases of a document."""
    mu: float
    """Weight of diversity in their selection."""
    salience: str
    """``default``, or ``paper`` for the interestingness of the paper."""
    known_phrases: int
    """Listed phrases among the candidates."""
    notes: list[str]
    """Remarks for the user, such as a missing lemmatiser."""
    mined_documents: int
    """Documents that phrases were mined from; missing if these were all."""
    edges: int
    """Edges between documents and phrases."""
    word_vectors: str
    """Version of the table of word vectors that the reservoir's texts were measured with; missing without it."""


@dataclass(frozen=True)
class PhraseModel:
    """Phrases, words and counts of one epoch. Row i of every phrase array is phrase i; pairs come last."""

    settings: ModelSettings
    document_count: int
    """Documents with at least one token when the epoch was built: BM25's N."""
    average_length: float
    """Mean number of tokens of a document: BM25's avgdl."""
    phrases: Sequence[str]
    """Canonical names: lemmas joined by a space; a pair is ``a@@b``."""
    display_forms: Sequence[str]
    """Most frequent original spelling of each phrase."""
    document_frequency: NDArray[np.int32]
    """Documents whose segmentation contains the phrase."""
    quality: NDArray[np.float32]
    """In [0, 1]."""
    degree: NDArray[np.float64]
    """Sum of the phrase's edge weights over the epoch: D_P of the paper."""
    background: NDArray[np.float64]
    """Sum over documents of the normalised weight S_ij: the relevance of the phrase if g0 is 1 for every document."""
    words: Sequence[str]
    """Every lemma of the epoch."""
    word_document_frequency: NDArray[np.int32]
    """Documents that contain the word, shape (words,)."""
    phrase_starts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """Phrase p is the words ``phrase_word_ids[phrase_starts[p]:phrase_starts[p + 1]]``, shape (phrases + 1,)."""
    phrase_word_ids: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    segment_gains: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    """Gain of a segmentation by a segment of the phrase, shape (phrases without pairs,)."""
    is_nested: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    """Whether the phrase also counts inside a longer segment, shape (phrases without pairs,)."""
    pair_members: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 2), np.int32))
    """Ids of the two members of each pair, shape (pairs, 2)."""
    topic_word_ids: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    """Words that have a topic vector, ascending."""
    topic_vectors: NDArray[np.float16] = field(default_factory=lambda: np.zeros((0, 0), np.float16))
    """Their vectors, shape (topic words, dimensions); no dimensions where no topics were learned."""
    topic_scales: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    """Singular values of the dimensions, shape (dimensions,); empty in an index of a former version."""
    topic_centroid: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    """Mean vector of the texts, shape (dimensions,)."""
    phrase_topic_vectors: NDArray[np.float16] = field(default_factory=lambda: np.zeros((0, 0), np.float16))
    """Mean topic vector of the documents that contain each phrase, shape (phrases, ``PAIR_DIMENSIONS`` or fewer)."""
    reservoir_vectors: NDArray[np.float16] = field(default_factory=lambda: np.zeros((0, 0), np.float16))
    """Topic vectors of documents drawn at random, shape (documents of the reservoir, dimensions)."""
    reservoir_starts: NDArray[np.int32] = field(default_factory=lambda: np.zeros(1, np.int32))
    """Document r has the salient phrases ``reservoir_phrase_ids[reservoir_starts[r]:reservoir_starts[r + 1]]``."""
    reservoir_phrase_ids: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    word_vector_centroid: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    """Mean of the reservoir's texts in the space of the package's word vectors, shape (dimensions,)."""
    reservoir_word_vectors: NDArray[np.float16] = field(default_factory=lambda: np.zeros((0, 0), np.float16))
    """The reservoir's texts in that space; no dimensions for a language without word vectors."""
    vector_mean: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    """Mean of the vectors that the documents came with, shape (their dimensions,); empty without vectors."""
    vector_axes: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    """Their principal axes (``VectorProjection``)."""
    centroid_codes: NDArray[np.int8] = field(default_factory=lambda: np.zeros((0, 0), np.int8))
    """Centroid of each phrase among them (``PhraseCentroids``)."""
    centroid_steps: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    centroid_counts: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    reservoir_places: NDArray[np.float16] = field(default_factory=lambda: np.zeros((0, 0), np.float16))
    """Places of the reservoir's documents among them; zeros for a document without a vector."""
    acronyms: Mapping[str, list[str]] = field(default_factory=dict)
    """Short form -> long forms, the most frequent first, both as lemmas."""
    lemma_table: Mapping[str, str] | None = None
    """Case-folded word -> lemma, where the corpus decides it; None in a model that was stored before there were such
    tables, whose lemmas depend on the case of each word."""

    @cached_property
    def lemmatizer(self) -> Lemmatizer:
        """Lemmatizer of the documents of the epoch, and of every text that is compared with them."""
        return Lemmatizer(self.settings.get("language", "en"), self.lemma_table)

    @cached_property
    def phrase_ids(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.phrases)}

    @cached_property
    def word_ids(self) -> dict[str, int]:
        numbers = chain(self.phrase_ids.values(), count(len(self.phrases)))  # the same objects: they take 28 bytes each
        return dict(zip(self.words, numbers, strict=False))

    def get_word_frequency(self, word: str) -> int:
        """Return the number of documents that contain a word; 0 for an unknown word."""
        word_id = self.word_ids.get(word)
        return 0 if word_id is None else int(self.word_document_frequency[word_id])

    @cached_property
    def word_idf(self) -> NDArray[np.float64]:
        """BM25's idf of every word, and last that of an unknown word, shape (words + 1,)."""
        return np.concatenate([idf(self.word_document_frequency, self.document_count), idf([1], self.document_count)])

    @cached_property
    def word_document_share(self) -> NDArray[np.float64]:
        """Share of the documents that contain each word, shape (words + 1,); 0 for an unknown word, the last."""
        return np.append(self.word_document_frequency, 0) / max(self.document_count, 1)

    @cached_property
    def topic_space(self) -> TopicSpace:
        """Topic space of the words; without dimensions where no topics were learned."""
        rows = np.full(len(self.words) + 1, -1, dtype=np.int32)
        rows[self.topic_word_ids] = np.arange(len(self.topic_word_ids))
        return TopicSpace(
            rows, self.topic_vectors, self.topic_scales, self.topic_centroid, self.word_idf, self.average_length
        )

    @cached_property
    def pair_topic_space(self) -> TopicSpace:
        """The leading dimensions of the topic space, in which pairs of documents are compared."""
        return self.topic_space.keep_leading_dimensions(PAIR_DIMENSIONS)

    @cached_property
    def word_space(self) -> TopicSpace | None:
        """The space of the package's word vectors; None for another language, or a model of another table."""
        if not len(self.word_vector_centroid) or self.settings.get("word_vectors") != load_word_vectors().version:
            return None
        return self.build_word_space(self.word_vector_centroid)

    def build_word_space(self, centroid: NDArray[np.float32] | None = None) -> TopicSpace:
        """Return the space of the package's word vectors with the mean of the texts; None: 0."""
        table = load_word_vectors()
        rows = table.find_rows(self.words)
        known = rows >= 0
        own_rows = np.full(len(rows) + 1, -1, dtype=np.int32)
        own_rows[:-1][known] = np.arange(np.count_nonzero(known))
        vectors = table.get_vectors(rows[known]).astype(np.float16)
        ones = np.ones(vectors.shape[1], dtype=np.float32)
        return TopicSpace(
            own_rows, vectors, ones, np.zeros_like(ones) if centroid is None else centroid, self.word_idf,
            self.average_length,
        )  # fmt: skip

    @cached_property
    def text_space_names(self) -> tuple[SpaceName, ...]:
        """The spaces of words, in which every text has a vector."""
        return ("topics",) if self.word_space is None else ("topics", "words")

    def get_text_space(self, name: SpaceName) -> TopicSpace:
        """Return one of ``text_space_names``; the words of the package are loaded for their own space only."""
        space = self.word_space if name == "words" else self.topic_space
        assert space is not None, "asked for a space that the model has"
        return space

    @cached_property
    def text_vectors(self) -> TextVectors:
        """Vectors of texts, by which documents without vectors of their own are found."""
        has_words = self.word_space is not None
        random_words = self.reservoir_word_vectors if has_words else self.reservoir_word_vectors[:, :0]
        random_texts = join_random_texts(random_words, self.reservoir_vectors)
        return TextVectors(self.word_space, self.topic_space, self.word_ids, self.document_count, random_texts)

    @cached_property
    def topic_directions(self) -> PhraseDirections:
        """Directions of phrases and queries in topic space."""
        return self._build_directions(
            "topics",
            self.topic_space,
            self.reservoir_vectors,
            sampled_share=min(1.0, SAMPLE_SIZE / max(self.document_count, 1)),
        )

    @cached_property
    def vector_space(self) -> VectorSpace | None:
        """The space of the vectors that the documents came with; None if they have none."""
        if not len(self.vector_mean):
            return None
        centroids = PhraseCentroids(self.centroid_codes, self.centroid_steps, self.centroid_counts)
        projection = VectorProjection(self.vector_mean, self.vector_axes)
        return VectorSpace(projection, centroids, self._reservoir, self.reservoir_places.astype(np.float32))

    @cached_property
    def evidence_spaces(self) -> EvidenceSpaces:
        """The spaces in which queries and hits are measured."""
        words = self.word_space
        spaces = [
            self.vector_space,
            None
            if words is None
            else self._build_directions(
                "words",
                words,
                self.reservoir_word_vectors,
                weight=_WORD_SPACE_WEIGHT,
                get_general_vectors=get_general_vectors,
            ),
            self.topic_directions if len(self.topic_scales) else None,
        ]
        return EvidenceSpaces([space for space in spaces if space is not None], self._reservoir)

    @cached_property
    def _reservoir(self) -> Reservoir:
        return Reservoir(self.reservoir_starts, self.reservoir_phrase_ids)

    def _build_directions(
        self,
        name: SpaceName,
        space: TopicSpace,
        reservoir_vectors: NDArray[np.float16],
        *,
        weight: float = 1.0,
        sampled_share: float = 0.0,
        get_general_vectors: GetVectors | None = None,
    ) -> PhraseDirections:
        return PhraseDirections(
            name,
            space,
            self.phrase_starts,
            self.phrase_word_ids,
            self._reservoir,
            reservoir_vectors.astype(np.float32),
            weight=weight,
            sampled_share=sampled_share,
            get_general_vectors=get_general_vectors,
        )

    @cached_property
    def short_forms(self) -> dict[str, list[str]]:
        """Long form -> its acronyms."""
        short_forms: dict[str, list[str]] = {}
        for short, longs in self.acronyms.items():
            for long in longs:
                short_forms.setdefault(long.replace("\n", " "), []).append(short)
        return short_forms

    def to_bytes(self) -> bytes:
        """Encode as one self-contained blob; equal models give equal bytes."""
        head = {
            "format": FORMAT,
            "settings": dict(self.settings),
            "documents": self.document_count,
            "average_length": self.average_length,
            "extra": ["acronyms", *([] if self.lemma_table is None else ["lemma_table"]), *_EXTRA_ARRAYS],
        }
        arrays: dict[str, Any] = {
            "head": pack_strings([json.dumps(head, sort_keys=True)]),
            "phrases": pack_strings(self.phrases),
            "displays": pack_strings(self.display_forms),
            "frequency": self.document_frequency,
            "quality": self.quality,
            "degree": self.degree,
            "background": self.background,
            "words": pack_strings(self.words),
            "word_frequency": self.word_document_frequency,
        }
        arrays["extra_acronyms"] = pack_strings(_acronyms_to_pair_lines(self.acronyms))
        if self.lemma_table is not None:
            lines = [f"{word}\t{lemma}" for word, lemma in sorted(self.lemma_table.items())]
            arrays["extra_lemma_table"] = pack_strings(lines)
        arrays |= {f"extra_{name}": getattr(self, field) for name, field in _EXTRA_ARRAYS.items()}
        out = io.BytesIO()
        np.savez_compressed(out, **arrays)
        return out.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> PhraseModel:
        """Decode what ``to_bytes`` wrote; raise ValueError for another format."""
        return cls.read(io.BytesIO(data))

    @classmethod
    def read(cls, file: BinaryIO) -> PhraseModel:
        """Decode a file of what ``to_bytes`` wrote, part by part; raise ValueError for another format."""
        with np.load(file, allow_pickle=False) as arrays:
            head = json.loads(unpack_strings(arrays["head"])[0])
            if head["format"] != FORMAT:
                raise ValueError(f"phrase model of format {head['format']}, this version reads {FORMAT}")
            extra: dict[str, NDArray[Any]] = {name: arrays[f"extra_{name}"] for name in head["extra"]}
            return cls(
                settings=head["settings"],
                document_count=head["documents"],
                average_length=head["average_length"],
                phrases=unpack_strings(arrays["phrases"]),
                display_forms=NewlineStringTable(arrays["displays"]),
                document_frequency=arrays["frequency"],
                quality=arrays["quality"],
                degree=arrays["degree"],
                background=arrays["background"],
                words=unpack_strings(arrays["words"]),
                word_document_frequency=arrays["word_frequency"],
                acronyms=_acronyms_from_lines(unpack_strings(extra["acronyms"])) if "acronyms" in extra else {},
                lemma_table=_lemmas_from_lines(unpack_strings(extra["lemma_table"]))
                if "lemma_table" in extra
                else None,
                **{field: extra[name] for name, field in _EXTRA_ARRAYS.items() if name in extra},
            )


def _acronyms_to_pair_lines(acronyms: Mapping[str, list[str]]) -> list[str]:
    """Return a line ``short<tab>long`` for each pair."""
    return [f"{short}\t{long}" for short, longs in sorted(acronyms.items()) for long in longs]


def _acronyms_from_lines(lines: list[str]) -> dict[str, list[str]]:
    acronyms: dict[str, list[str]] = {}
    for line in lines:
        short, _, long = line.partition("\t")
        acronyms.setdefault(short, []).append(long)
    return acronyms


def _lemmas_from_lines(lines: list[str]) -> dict[str, str]:
    return {word: lemma for word, _, lemma in (line.partition("\t") for line in lines)}
