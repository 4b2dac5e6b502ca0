"""A corpus as integers: what mining works on.

Documents are read once, as a stream. Of each token remain its spelling's number (four bytes) and the marks
of what stands before it (one byte); lemmas and the shape of a word are tables over distinct spellings.
"""

from __future__ import annotations

import os
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.documents import Document
from indexer.runtime.array_spill import Spill
from indexer.runtime.document_spool import in_parts
from indexer.runtime.process_pool import in_order
from indexer.text.lemmatizer import Lemmas
from indexer.text.tokenizer import FIELD_START, parse

Progress = Callable[[str, int, int], None]
"""Stage, done, total (0 when it is not known)."""

_PART = 256
"""Documents coded together."""


def no_progress(stage: str, done: int, total: int) -> None:
    """Tells nobody."""


@dataclass(frozen=True)
class Corpus:
    """Tokens of all documents in one line; ``offsets`` says where each document begins."""

    surfaces: list[str]
    """Distinct spellings."""
    lemmas: list[str]
    """Distinct lemmas."""
    lemma_of: NDArray[np.int32]
    """Spelling -> lemma."""
    codes: Spill
    """Spelling of each token, shape (tokens,); on disk."""
    words: NDArray[np.int32]
    """Lemma of each token, shape (tokens,)."""
    marks: NDArray[np.uint8]
    """Marks before each token and after the last, shape (tokens + 1,)."""
    offsets: NDArray[np.int64]
    """Document d is tokens offsets[d] to offsets[d + 1], shape (documents + 1,)."""
    characters: int
    sizes: Spill | None = None
    """Characters of the separators and words of each field in turn, shape (2 * (tokens + documents),), if they were
    asked for; on disk."""

    @property
    def tokens(self) -> int:
        return len(self.words)

    @property
    def documents(self) -> int:
        return len(self.offsets) - 1


class _Numbers(dict[str, int]):
    """Gives each new string the next number."""

    def __missing__(self, key: str) -> int:
        self[key] = number = len(self)
        return number


class _Part(NamedTuple):
    """Some documents in the numbers of the process that read them."""

    process: int
    new: list[str]
    """Spellings that this process had not met before; they have its next numbers."""
    codes: NDArray[np.int32]
    marks: bytes
    lengths: list[int]
    characters: int
    sizes: NDArray[np.int32] | None


class _Scanner:
    """Splits documents into numbered words; each process has its own."""

    def __init__(self, sizes: bool) -> None:
        """``sizes``: are those of words and separators wanted?"""
        self.surfaces = _Numbers()
        self.sizes = sizes

    def __call__(self, documents: list[Document]) -> _Part:
        words: list[str] = []
        marks = bytearray()
        lengths: list[int] = []
        pieces: list[str] = []
        for document in documents:
            parsed = parse(document)
            words += parsed.words
            marks += bytes(parsed.marks[:-1])
            lengths.append(len(parsed.words))
            if self.sizes:
                pieces += parsed.pieces[0]
                pieces += parsed.pieces[1]
        known = len(self.surfaces)
        codes = np.fromiter(map(self.surfaces.__getitem__, words), dtype=np.int32, count=len(words))
        new = list(islice(reversed(self.surfaces), len(self.surfaces) - known))[::-1]
        characters = sum(len(document.title) + len(document.text) for document in documents)
        sizes = np.fromiter(map(len, pieces), dtype=np.int32, count=len(pieces)) if self.sizes else None
        return _Part(os.getpid(), new, codes, bytes(marks), lengths, characters, sizes)


class _Coder:
    """Puts the parts together. A spelling gets its number where the corpus has it first, whoever met it."""

    def __init__(self, lemmas: Lemmas, sizes: bool) -> None:
        self.lemmas = lemmas
        self.sizes = Spill() if sizes else None
        self.surfaces = _Numbers()
        self.names = _Numbers()
        self.lemma_of = array("i")
        self.number_of: defaultdict[int, array[int]] = defaultdict(lambda: array("i"))
        """Of each process: its numbers -> ours."""
        self.codes = Spill()
        self.words = array("i")
        self.marks = bytearray()
        self.lengths = array("q")
        self.characters = 0

    def add(self, part: _Part) -> None:
        known, number_of = len(self.surfaces), self.number_of[part.process]
        numbers = [self.surfaces[surface] for surface in part.new]
        number_of.extend(numbers)
        new = [surface for surface, number in zip(part.new, numbers, strict=True) if number >= known]
        self.lemma_of.extend([self.names[self.lemmas[surface]] for surface in new])
        codes = np.frombuffer(number_of, dtype=np.int32)[part.codes]
        self.codes.append(codes)
        self.words.frombytes(np.frombuffer(self.lemma_of, dtype=np.int32)[codes].tobytes())
        self.marks += part.marks
        self.lengths.extend(part.lengths)
        self.characters += part.characters
        if self.sizes is not None and part.sizes is not None:
            self.sizes.append(part.sizes)


def code(
    documents: Iterable[Document],
    lemmas: Lemmas,
    progress: Progress = no_progress,
    total: int = 0,
    processes: int = 1,
    sizes: bool = False,
) -> Corpus:
    """Read the stream once; documents without a word keep their place with no tokens.

    ``sizes``: keep what tells where each token stands in its field.
    """
    coder, scanner = _Coder(lemmas, sizes), _Scanner(sizes)
    parts, documents_of = in_parts(documents, _PART)
    for _, part in in_order(lambda part: scanner(documents_of(part)), parts, processes):
        coder.add(part)
        progress("read", len(coder.lengths), total)
    progress("read", len(coder.lengths), total or len(coder.lengths))
    coder.marks.append(FIELD_START)
    return Corpus(
        surfaces=list(coder.surfaces),
        lemmas=list(coder.names),
        lemma_of=np.array(coder.lemma_of, dtype=np.int32),
        codes=coder.codes,
        words=np.frombuffer(coder.words, dtype=np.int32),
        marks=np.frombuffer(coder.marks, dtype=np.uint8),
        offsets=np.concatenate([[0], np.cumsum(np.frombuffer(coder.lengths, dtype=np.int64))]).astype(np.int64),
        characters=coder.characters,
        sizes=coder.sizes,
    )


def batches(corpus: Corpus, tokens: int = 1 << 18) -> Iterator[tuple[int, int]]:
    """Runs of whole documents of about so many tokens: first and last (exclusive)."""
    first = 0
    while first < corpus.documents:
        goal = corpus.offsets[first] + tokens
        last = int(np.searchsorted(corpus.offsets, goal, side="right")) - 1
        last = min(max(last, first + 1), corpus.documents)
        yield first, last
        first = last


def batch_tokens(corpus: Corpus, first: int, last: int) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Words and marks of documents first to last (exclusive)."""
    start, end = int(corpus.offsets[first]), int(corpus.offsets[last])
    return corpus.words[start:end], corpus.marks[start : end + 1]


def document_of_tokens(corpus: Corpus, first: int, last: int) -> NDArray[np.int64]:
    """The document of each of their tokens, counted from ``first``."""
    return np.repeat(np.arange(last - first), np.diff(corpus.offsets[first : last + 1]))
