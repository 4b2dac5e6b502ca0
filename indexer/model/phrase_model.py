"""The phrase model of an epoch, and its bytes: all that is needed to analyse a text the way the index was."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from indexer.lazy_sequences import NewlineStringTable, pack_strings, unpack_strings
from indexer.model.bm25 import idf
from indexer.model.phrase_directions import PhraseDirections, Reservoir
from indexer.model.topic_space import PAIR_DIMENSIONS, SAMPLE_SIZE, TopicSpace
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
    "reservoir_vectors": "reservoir_vectors",
    "topic_middle": "topic_centroid",
    "topic_scales": "topic_scales",
    "topic_vectors": "topic_vectors",
    "topic_words": "topic_word_ids",
}
"""Name of each optional array in the stored model -> its field."""


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
    edges: int
    """Edges between documents and phrases."""


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
        return {word: i for i, word in enumerate(self.words)}

    def get_word_frequency(self, word: str) -> int:
        """Return the number of documents that contain a word; 0 for an unknown word."""
        word_id = self.word_ids.get(word)
        return 0 if word_id is None else int(self.word_document_frequency[word_id])

    @cached_property
    def word_idf(self) -> NDArray[np.float64]:
        """BM25's idf of every word, and last that of an unknown word, shape (words + 1,)."""
        return np.concatenate([idf(self.word_document_frequency, self.document_count), idf([1], self.document_count)])

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
    def directions(self) -> PhraseDirections:
        """Directions of phrases and queries in topic space."""
        return PhraseDirections(
            self.topic_space,
            self.phrase_starts,
            self.phrase_word_ids,
            Reservoir(self.reservoir_vectors.astype(np.float32), self.reservoir_starts, self.reservoir_phrase_ids),
            sampled_share=min(1.0, SAMPLE_SIZE / max(self.document_count, 1)),
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
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
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
