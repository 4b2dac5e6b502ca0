"""A corpus as integers: what mining works on.

Documents are read once, as a stream. Of each token remain its spelling's number (four bytes) and the marks
of what stands before it (one byte); lemmas and the shape of a word are tables over distinct spellings.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from indexer.documents import Document
from indexer.lemmas import Lemmas
from indexer.phrases.spill import Spill
from indexer.text import FIELD_START, words_and_marks

Progress = Callable[[str, int, int], None]
"""Stage, done, total (0 when it is not known)."""

_BATCH = 1 << 18


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

    def lemmatised(self) -> dict[str, str]:
        """Spelling -> lemma."""
        return dict(zip(self.surfaces, [self.lemmas[number] for number in self.lemma_of.tolist()], strict=True))

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


class _Coder:
    """Codes words as they come, a batch at a time."""

    def __init__(self, lemmas: Lemmas) -> None:
        self.lemmas = lemmas
        self.surfaces = _Numbers()
        self.names = _Numbers()
        self.lemma_of: list[int] = []
        self.codes = Spill()
        self.words = array("i")
        self.marks = bytearray()
        self.lengths = array("q")
        self.batch: list[str] = []

    def add(self, document: Document) -> None:
        words, marks, _ = words_and_marks(document)
        self.batch += words
        self.marks += bytes(marks[:-1])
        self.lengths.append(len(words))
        if len(self.batch) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        codes = np.fromiter(map(self.surfaces.__getitem__, self.batch), dtype=np.int32, count=len(self.batch))
        new = islice(self.surfaces, len(self.lemma_of), None)
        self.lemma_of += [self.names[self.lemmas[surface]] for surface in new]
        self.codes.append(codes)
        self.words.frombytes(np.array(self.lemma_of, dtype=np.int32)[codes].tobytes())
        self.batch.clear()


def code(documents: Iterable[Document], lemmas: Lemmas, progress: Progress = no_progress, total: int = 0) -> Corpus:
    """Read the stream once; documents without a word keep their place with no tokens."""
    coder = _Coder(lemmas)
    characters = 0
    for number, document in enumerate(documents, start=1):
        coder.add(document)
        characters += len(document.title) + len(document.text)
        if number % 1000 == 0:
            progress("read", number, total)
    coder.flush()
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
        characters=characters,
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
