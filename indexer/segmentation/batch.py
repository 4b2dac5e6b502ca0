"""Reading documents with a model: tokens, phrases and weights of a batch, in arrays.

One document is a batch of one: what is found out about it does not depend on the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.analysis.salience import PAPER, Weighing
from indexer.documents import Document
from indexer.int_arrays import LOW, counted
from indexer.model.bm25 import idf, saturation
from indexer.model.phrase_model import PhraseModel
from indexer.segmentation.matcher import Found, Matcher
from indexer.segmentation.phrase_pairs import close_pairs
from indexer.segmentation.phrase_trie import PhraseIndex
from indexer.text.lemmatizer import Lemmas
from indexer.text.tokenizer import Mark, parse, tokens_string

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Edges:
    """Phrases of the documents of a batch, by document and phrase ascending."""

    document: Ints
    phrase: Ints
    times: Ints
    """Segments (and nested occurrences) of the phrase, or meetings of a pair's members."""


class Reading:
    """A model made ready for reading."""

    def __init__(self, model: PhraseModel) -> None:
        self.model = model
        self.lemmas = Lemmas(str(model.settings.get("language", "en")))
        extra = model.extra
        self.starts = np.asarray(extra["starts"], dtype=np.int64)
        self.words = np.asarray(extra["phrase_words"], dtype=np.int32)
        self.sizes = np.diff(self.starts)
        self.members = np.asarray(extra["members"], dtype=np.int64).reshape(-1, 2)
        self.simple = len(model.phrases) - len(self.members)
        """Phrases before this number are no pairs."""
        self.matcher = Matcher(
            PhraseIndex(self.starts[: self.simple + 1], self.words, len(model.words)),
            np.asarray(extra["gain"], dtype=np.float64),
            np.asarray(extra["nested"], dtype=np.bool_),
        )
        self.word_idf = np.concatenate([idf(model.word_frequency, model.documents), idf([1], model.documents)])
        self.k = int(str(model.settings.get("k", 30)))
        self.mu = float(str(model.settings.get("mu", 3.0)))
        self.weighing = PAPER if model.settings.get("salience") == "paper" else Weighing()

    @cached_property
    def pair_ids(self) -> dict[tuple[int, int], int]:
        return {(int(a), int(b)): self.simple + i for i, (a, b) in enumerate(self.members)}


@dataclass(frozen=True)
class Batch:
    """Documents with their tokens as word numbers (unknown words: the number after the last)."""

    lemmas: list[str]
    words: NDArray[np.int32]
    marks: NDArray[np.uint8]
    """Before each token and after the last."""
    lengths: Ints
    """Tokens of each document."""
    sizes: NDArray[np.int32]
    """Characters of the separators and words of each field in turn, shape (2 * (tokens + documents),)."""

    @cached_property
    def starts(self) -> Ints:
        """Where each document begins, and the end of the last."""
        return np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)

    @cached_property
    def document(self) -> Ints:
        """The document of each token."""
        return np.repeat(np.arange(len(self.lengths), dtype=np.int64), self.lengths)

    @cached_property
    def titled(self) -> NDArray[np.bool_]:
        """Does the token stand in the title?"""
        return np.asarray((self.marks[:-1] & Mark.TITLE) != 0)

    @cached_property
    def spans(self) -> tuple[Ints, Ints]:
        """Where each token begins and ends in its field."""
        upto = np.concatenate([[0], np.cumsum(self.sizes, dtype=np.int64)])
        document = self.document
        titles = np.bincount(document[self.titled], minlength=len(self.lengths))
        field = 2 * (self.starts[:-1] + np.arange(len(self.lengths)))  # the first piece of each title
        before = np.where(self.titled, upto[field][document], upto[field + 2 * titles + 1][document])
        piece = 2 * (np.arange(len(self.words)) + document) + np.where(self.titled, 1, 2)
        return upto[piece] - before, upto[piece + 1] - before

    def tokens(self, d: int) -> str:
        start, end = self.starts[d : d + 2].tolist()
        return tokens_string(self.lemmas[start:end], self.marks[start:end].tobytes())


def code_batch(reading: Reading, documents: Sequence[Document]) -> Batch:
    parsed = [parse(document) for document in documents]
    lemmas = list(map(reading.lemmas.__getitem__, chain.from_iterable([one.words for one in parsed])))
    pieces = chain.from_iterable([one.pieces for one in parsed])
    ids, unknown = reading.model.word_ids, len(reading.model.words)
    marks = b"".join([bytes(one.marks[:-1]) for one in parsed]) + b"\x01"
    return Batch(
        lemmas,
        np.fromiter(map(ids.get, lemmas, repeat(unknown)), dtype=np.int32, count=len(lemmas)),
        np.frombuffer(marks, dtype=np.uint8),
        np.array([len(one.words) for one in parsed], dtype=np.int64),
        np.fromiter(map(len, chain.from_iterable(pieces)), dtype=np.int32),
    )


class Read(NamedTuple):
    """A batch and all that is in it, before anything is chosen."""

    batch: Batch
    found: Found
    edges: Edges
    weights: NDArray[np.float64]
    """BM25 of every edge."""


def read_batch(reading: Reading, documents: Sequence[Document]) -> Read:
    batch = code_batch(reading, documents)
    found = reading.matcher.all(batch.words, batch.marks)
    chosen = reading.matcher.segments(len(batch.words), found)
    edges = edges_of(reading, found, chosen, batch.document, batch.marks)
    return Read(batch, found, edges, weights_of(reading, edges, batch.words, batch.document, batch.lengths))


def edges_of(
    reading: Reading, found: Found, chosen: NDArray[np.bool_], document: Ints, marks: NDArray[np.uint8]
) -> Edges:
    """The edges of a batch; ``chosen`` occurrences are segments, ``document`` names the document of each token."""
    mine = reading.matcher.counted(found, chosen, marks)
    keys, times = counted(document[found.position[mine]] << 32 | found.phrase[mine])
    segments = found.where(chosen)
    near = close_pairs(document[segments.position], segments.position, segments.phrase)
    pairs = [
        (d << 32 | reading.pair_ids[(a, b)], count)
        for d, a, b, count in zip(*(column.tolist() for column in near), strict=True)
        if (a, b) in reading.pair_ids
    ]
    if pairs:
        keys = np.concatenate([keys, np.array([key for key, _ in pairs], dtype=np.int64)])
        times = np.concatenate([times, np.array([count for _, count in pairs], dtype=np.int64)])
        order = np.argsort(keys, kind="stable")
        keys, times = keys[order], times[order]
    return Edges(keys >> 32, keys & LOW, times)


def weights_of(
    reading: Reading, edges: Edges, words: NDArray[np.int32], document: Ints, lengths: Ints
) -> NDArray[np.float64]:
    """BM25 of every edge, shape (edges,): the sum over the phrase's words."""
    if len(edges.document) == 0:
        return np.zeros(0)
    cells, times = counted(document << 32 | words)
    saturated = saturation(times, lengths[cells >> 32], reading.model.average_length)
    cell_weight = reading.word_idf[cells & LOW] * saturated
    sizes = reading.sizes[edges.phrase]
    ends = np.cumsum(sizes)
    within = np.arange(ends[-1]) - np.repeat(ends - sizes, sizes)
    word = reading.words[np.repeat(reading.starts[edges.phrase], sizes) + within]
    found = cell_weight[np.searchsorted(cells, np.repeat(edges.document, sizes) << 32 | word)]
    owner = np.repeat(np.arange(len(sizes)), sizes)
    return np.asarray(np.bincount(owner, found, minlength=len(sizes)), dtype=np.float64)
