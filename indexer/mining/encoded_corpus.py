"""A corpus as integer arrays: the input of mining.

Documents are read once, as a stream. Of each token remain the id of its surface form (four bytes) and the marks before
it (one byte); lemmas and word shapes are tables over distinct surface forms.
"""

from __future__ import annotations

import os
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.documents import Document
from indexer.int_arrays import LOW_32_BITS, csr_starts, unique_keys
from indexer.progress import Progress, no_progress
from indexer.runtime.array_spill import ArraySpill
from indexer.runtime.document_spool import split_into_parts_and_reader
from indexer.runtime.process_pool import map_in_order
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.tokenizer import FIELD_START_MARKS, tokenize_document

_PART_SIZE = 256
"""Documents encoded together."""
_BATCH_TOKENS = 1 << 18
"""Tokens of a batch of documents."""


@dataclass(frozen=True)
class EncodedCorpus:
    """Tokens of all documents, one after the other; ``offsets`` says where each document begins."""

    surfaces: list[str]
    """Distinct surface forms: words as they are written."""
    lemmas: list[str]
    """Distinct lemmas."""
    surface_ids: ArraySpill
    """Surface form of each token, shape (tokens,); on disk."""
    lemma_ids: NDArray[np.int32]
    """Lemma of each token, shape (tokens,)."""
    marks: NDArray[np.uint8]
    """Marks before each token and after the last, shape (tokens + 1,)."""
    offsets: NDArray[np.int64]
    """Document d is tokens offsets[d] to offsets[d + 1], shape (documents + 1,)."""
    piece_lengths: ArraySpill | None = None
    """Characters of the separators and words of each field in turn, shape (2 * (tokens + documents),); on disk. None
    if the corpus was encoded without them."""

    @property
    def token_count(self) -> int:
        return len(self.lemma_ids)

    @property
    def document_count(self) -> int:
        return len(self.offsets) - 1


class _IdTable(dict[str, int]):
    """Maps strings to ids; a new string gets the next one."""

    def __missing__(self, key: str) -> int:
        self[key] = number = len(self)
        return number


class _EncodedPart(NamedTuple):
    """Some documents with the surface ids of the process that read them."""

    process: int
    new_surfaces: list[str]
    """Surface forms that are new to this process; they have its next ids."""
    surface_ids: NDArray[np.int32]
    marks: bytes
    lengths: list[int]
    """Tokens of each document."""
    piece_lengths: NDArray[np.int32] | None


class _PartEncoder:
    """Splits documents into words with ids; each process has its own ids."""

    def __init__(self, with_piece_lengths: bool) -> None:
        self.surfaces = _IdTable()
        self.with_piece_lengths = with_piece_lengths

    def encode(self, documents: list[Document]) -> _EncodedPart:
        words: list[str] = []
        marks = bytearray()
        lengths: list[int] = []
        pieces: list[str] = []
        for document in documents:
            tokenized = tokenize_document(document)
            words += tokenized.words
            marks += bytes(tokenized.marks[:-1])
            lengths.append(len(tokenized.words))
            if self.with_piece_lengths:
                pieces += tokenized.pieces[0]
                pieces += tokenized.pieces[1]
        known = len(self.surfaces)
        surface_ids = np.fromiter(map(self.surfaces.__getitem__, words), dtype=np.int32, count=len(words))
        new_surfaces = list(islice(reversed(self.surfaces), len(self.surfaces) - known))[::-1]
        piece_lengths = None
        if self.with_piece_lengths:
            piece_lengths = np.fromiter(map(len, pieces), dtype=np.int32, count=len(pieces))
        return _EncodedPart(os.getpid(), new_surfaces, surface_ids, bytes(marks), lengths, piece_lengths)


class _CorpusAssembler:
    """Puts the parts together; surface ids are in the order of the corpus, whichever process read them first."""

    def __init__(self, lemmatizer: Lemmatizer, with_piece_lengths: bool) -> None:
        self.lemmatizer = lemmatizer
        self.piece_lengths = ArraySpill() if with_piece_lengths else None
        self.surfaces = _IdTable()
        self.lemmas = _IdTable()
        self.lemma_of_surface = array("i")
        self.id_maps: defaultdict[int, array[int]] = defaultdict(lambda: array("i"))
        """Process -> the corpus's surface id of each of its own."""
        self.surface_ids = ArraySpill()
        self.lemma_ids = array("i")
        self.marks = bytearray()
        self.lengths = array("q")

    def add(self, part: _EncodedPart) -> None:
        known, id_map = len(self.surfaces), self.id_maps[part.process]
        ids = [self.surfaces[surface] for surface in part.new_surfaces]
        id_map.extend(ids)
        new = [surface for surface, number in zip(part.new_surfaces, ids, strict=True) if number >= known]
        self.lemma_of_surface.extend([self.lemmas[self.lemmatizer[surface]] for surface in new])
        surface_ids = np.frombuffer(id_map, dtype=np.int32)[part.surface_ids]
        self.surface_ids.append(surface_ids)
        self.lemma_ids.frombytes(np.frombuffer(self.lemma_of_surface, dtype=np.int32)[surface_ids].tobytes())
        self.marks += part.marks
        self.lengths.extend(part.lengths)
        if self.piece_lengths is not None and part.piece_lengths is not None:
            self.piece_lengths.append(part.piece_lengths)

    def build_corpus(self) -> EncodedCorpus:
        self.marks.append(FIELD_START_MARKS)
        return EncodedCorpus(
            surfaces=list(self.surfaces),
            lemmas=list(self.lemmas),
            surface_ids=self.surface_ids,
            lemma_ids=np.frombuffer(self.lemma_ids, dtype=np.int32),
            marks=np.frombuffer(self.marks, dtype=np.uint8),
            offsets=csr_starts(np.frombuffer(self.lengths, dtype=np.int64)),
            piece_lengths=self.piece_lengths,
        )


def encode_corpus(
    documents: Iterable[Document],
    lemmatizer: Lemmatizer,
    progress: Progress = no_progress,
    total: int = 0,
    processes: int = 1,
    with_piece_lengths: bool = False,
) -> EncodedCorpus:
    """Read the stream of documents once and encode it; a document without words keeps its place with no tokens.

    ``total`` is the number of documents for the progress, 0 if unknown; ``with_piece_lengths`` keeps what tells the
    character offsets of each token.
    """
    assembler, encoder = _CorpusAssembler(lemmatizer, with_piece_lengths), _PartEncoder(with_piece_lengths)
    parts, documents_of = split_into_parts_and_reader(documents, _PART_SIZE)
    for _, part in map_in_order(lambda part: encoder.encode(documents_of(part)), parts, processes):
        assembler.add(part)
        progress("read", len(assembler.lengths), total)
    progress("read", len(assembler.lengths), total or len(assembler.lengths))
    return assembler.build_corpus()


def iterate_document_ranges(corpus: EncodedCorpus, tokens_per_range: int = _BATCH_TOKENS) -> Iterator[tuple[int, int]]:
    """Yield runs of whole documents with about this many tokens: the first document and the last (exclusive)."""
    first = 0
    while first < corpus.document_count:
        goal = corpus.offsets[first] + tokens_per_range
        last = int(np.searchsorted(corpus.offsets, goal, side="right")) - 1
        last = min(max(last, first + 1), corpus.document_count)
        yield first, last
        first = last


def get_lemma_ids_and_marks(
    corpus: EncodedCorpus, first_document: int, end_document: int
) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Return the lemma ids, shape (tokens,), and marks, (tokens + 1,), of documents first to last (exclusive)."""
    start, end = int(corpus.offsets[first_document]), int(corpus.offsets[end_document])
    return corpus.lemma_ids[start:end], corpus.marks[start : end + 1]


def get_token_documents(corpus: EncodedCorpus, first_document: int, end_document: int) -> NDArray[np.int64]:
    """Return the document of each token of a range of documents, counted from ``first_document``; shape (tokens,)."""
    return np.repeat(
        np.arange(end_document - first_document), np.diff(corpus.offsets[first_document : end_document + 1])
    )


def count_document_frequency(corpus: EncodedCorpus) -> NDArray[np.int32]:
    """Count the documents of each lemma, shape (lemmas,)."""
    frequency = np.zeros(len(corpus.lemmas), dtype=np.int32)
    for first, last in iterate_document_ranges(corpus):
        lemma_ids, _ = get_lemma_ids_and_marks(corpus, first, last)
        keys = unique_keys(get_token_documents(corpus, first, last) << 32 | lemma_ids)
        frequency += np.bincount(keys & LOW_32_BITS, minlength=len(frequency)).astype(np.int32)
    return frequency
