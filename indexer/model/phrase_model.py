"""The phrase model of an epoch: all that is needed to analyse a text the way the index was."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.mining.acronyms import from_lines
from indexer.model.bm25 import idf
from indexer.model.topic_space import Topics
from indexer.packed import Packed, pack, unpack

FORMAT = 1


@dataclass(frozen=True)
class PhraseModel:
    """Phrases, words and counts of one epoch. Row i of every phrase array is phrase i."""

    settings: Mapping[str, object]
    """What analysis depends on: language, k, mu, max_length, ..."""
    documents: int
    """Documents with at least one token when the epoch was built: BM25's N."""
    average_length: float
    """Mean tokens a document, BM25's avgdl."""
    phrases: Sequence[str]
    """Canonical names: lemmas joined by a space; a pair is ``a@@b``."""
    displays: Sequence[str]
    """The most frequent original spelling of each."""
    frequency: NDArray[np.int32]
    """Documents whose segmentation holds the phrase."""
    quality: NDArray[np.float32]
    """In [0, 1]."""
    degree: NDArray[np.float64]
    """Sum of the phrase's edge weights over the epoch, D_P of the paper."""
    background: NDArray[np.float64]
    """Sum over documents of the normalised weight S_ij: what a uniform g0 of 1 gives the phrase."""
    words: Sequence[str]
    """Every lemma of the epoch."""
    word_frequency: NDArray[np.int32]
    """Documents that hold the word."""
    extra: Mapping[str, NDArray[np.generic]] = field(default_factory=dict)
    """Further arrays: what the segmentation needs, topics, acronyms."""

    @cached_property
    def phrase_ids(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.phrases)}

    @cached_property
    def word_ids(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words)}

    @cached_property
    def word_idf(self) -> NDArray[np.float64]:
        """BM25's idf of every word, and last that of a word never seen, shape (words + 1,)."""
        return np.concatenate([idf(self.word_frequency, self.documents), idf([1], self.documents)])

    @cached_property
    def topics(self) -> Topics:
        """Where words stand; without dimensions where none were learnt."""
        rows = np.full(len(self.words) + 1, -1, dtype=np.int32)
        placed = np.asarray(self.extra.get("topic_words", np.zeros(0)), dtype=np.int64)
        rows[placed] = np.arange(len(placed))
        return Topics(
            rows,
            np.asarray(self.extra.get("topic_vectors", np.zeros((len(placed), 0))), dtype=np.float16),
            np.asarray(self.extra.get("topic_middle", np.zeros(0)), dtype=np.float32),
            self.word_idf,
            self.average_length,
        )

    @cached_property
    def places(self) -> NDArray[np.float16]:
        """Mean place of the documents that hold each phrase, shape (phrases, dimensions)."""
        return np.asarray(self.extra.get("places", np.zeros((len(self.phrases), 0))), dtype=np.float16)

    @cached_property
    def acronyms(self) -> dict[str, list[str]]:
        """Short form -> long forms, as lemmas."""
        return from_lines(unpack(np.asarray(self.extra.get("acronyms", np.zeros(0)), dtype=np.uint8)))

    def to_bytes(self) -> bytes:
        """One self-contained blob; the same model gives the same bytes."""
        head = {
            "format": FORMAT,
            "settings": dict(self.settings),
            "documents": self.documents,
            "average_length": self.average_length,
            "extra": sorted(self.extra),
        }
        arrays: dict[str, Any] = {
            "head": pack([json.dumps(head, sort_keys=True)]),
            "phrases": pack(self.phrases),
            "displays": pack(self.displays),
            "frequency": self.frequency,
            "quality": self.quality,
            "degree": self.degree,
            "background": self.background,
            "words": pack(self.words),
            "word_frequency": self.word_frequency,
        }
        arrays |= {f"extra_{name}": self.extra[name] for name in sorted(self.extra)}
        out = io.BytesIO()
        np.savez_compressed(out, **arrays)
        return out.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> PhraseModel:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            head = json.loads(unpack(arrays["head"])[0])
            if head["format"] != FORMAT:
                raise ValueError(f"phrase model of format {head['format']}, this version reads {FORMAT}")
            return cls(
                settings=head["settings"],
                documents=head["documents"],
                average_length=head["average_length"],
                phrases=unpack(arrays["phrases"]),
                displays=Packed(arrays["displays"]),
                frequency=arrays["frequency"],
                quality=arrays["quality"],
                degree=arrays["degree"],
                background=arrays["background"],
                words=unpack(arrays["words"]),
                word_frequency=arrays["word_frequency"],
                extra={name: arrays[f"extra_{name}"] for name in head["extra"]},
            )
