"""What the corpus says about each pattern: sums over its occurrences, gathered level by level.

A pattern is looked at only when it neither begins nor ends with a function word or a number. Sums are kept per
pattern of a level: in titles, between brackets, next to a boundary, capitalised, inflected, and what the words
around it usually stand next to (*affinity*). The corpus is read in chunks of whole documents, so that memory does
not grow with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from indexer.int_arrays import distinct
from indexer.mining.encoded_corpus import Corpus, batches
from indexer.text.tokenizer import Mark

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

_CAPITAL, _UPPER, _PLURAL, _PAST, _GERUND = 1, 2, 4, 8, 16
_CHUNK = 1 << 19
"""Tokens looked at together."""
_PSEUDO = 5.0
"""Neighbours assumed on top of those seen, so that rare ones say little."""

SUMS = (
    "title", "left_boundary", "right_boundary", "bracketed", "quoted", "hyphen", "capital", "plain", "acronym_after",
    "left_stop", "right_stop", "first_s", "first_ed", "first_ing", "last_s", "last_ed", "last_ing",
    "left_affinity", "right_affinity", "sentence_start", "left_hyphen", "right_hyphen", "left_word", "right_word",
    "fit",
)  # fmt: skip
"""Of each occurrence: what is counted (affinities are added up)."""


@dataclass
class Level:
    """Patterns of one length; row r is pattern ``base + r`` of the miner."""

    n: int
    size: int
    example: Ints
    """A position where it occurs, -1 for a pattern that is not looked at, shape (size,)."""
    documents: NDArray[np.int32]
    """Distinct documents."""
    sums: dict[str, Floats] = field(default_factory=dict)

    @classmethod
    def empty(cls, n: int, size: int) -> Level:
        sums = {name: np.zeros(size, np.float32) for name in SUMS}
        return cls(n, size, np.full(size, -1, np.int64), np.zeros(size, np.int32), sums)

    @property
    def rows(self) -> Ints:
        """Patterns that are looked at."""
        return np.flatnonzero(self.example >= 0)

    def add(self, name: str, rows: NDArray[np.int32], weights: NDArray[np.generic]) -> None:
        """Count the rows where the weight is true, or add the weights up."""
        if weights.dtype == np.bool_:
            self.sums[name] += np.bincount(rows[weights], minlength=self.size)
        else:
            self.sums[name] += np.bincount(rows, weights, minlength=self.size)


@dataclass(frozen=True)
class Chunk:
    """Occurrences of the patterns of one level in some documents."""

    start: int
    """Token of the corpus where the chunk begins."""
    words: NDArray[np.int32]
    marks: NDArray[np.uint8]
    codes: NDArray[np.int32]
    document: NDArray[np.int32]
    position: Ints
    """Within the chunk."""
    rows: NDArray[np.int32]
    """Pattern of each occurrence, as a row of its level."""
    n: int

    def neighbours(self, outside: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The words before and after each occurrence; ``outside`` at a boundary."""
        after = self.position + self.n
        left = np.where(self.marks[self.position] & Mark.BOUNDARY, outside, self.words[self.position - 1])
        following = self.words[np.minimum(after, len(self.words) - 1)]
        return left, np.where(self.marks[after] & Mark.BOUNDARY, outside, following)


def shapes(surfaces: list[str]) -> NDArray[np.uint8]:
    """A byte of signs per spelling, shape (surfaces,)."""

    def shape(word: str) -> int:
        signs = _CAPITAL if word[0].isupper() else 0
        if word[1:2].isupper():
            signs |= _UPPER
        if len(word) > 3:
            if word.endswith("s") and not word.endswith(("ss", "us", "is")):
                signs |= _PLURAL
            elif word.endswith("ed"):
                signs |= _PAST
            elif word.endswith("ing"):
                signs |= _GERUND
        return signs

    return np.fromiter(map(shape, surfaces), dtype=np.uint8, count=len(surfaces))


class Evidence:
    """Gathers ``Level`` by level; ``visit`` is handed to the miner."""

    def __init__(self, corpus: Corpus, edge: NDArray[np.bool_], good: set[tuple[int, ...]]) -> None:
        """``edge``: which words may begin or end a phrase; ``good``: known phrases as lemma numbers."""
        self.corpus = corpus
        self.edge = edge
        self.good = good
        self.below: int | None = None
        self.shape = shapes(corpus.surfaces)
        self.levels: list[Level] = []
        self.base = [0]
        self.left_affinity = np.zeros(len(edge) + 1, dtype=np.float32)
        self.right_affinity = np.zeros(len(edge) + 1, dtype=np.float32)

    def for_rare(self, below: int) -> Evidence:
        """To look only at patterns of fewer than ``below`` occurrences, with the affinities learnt here."""
        rare = Evidence.__new__(Evidence)
        rare.corpus, rare.edge, rare.good, rare.shape = self.corpus, self.edge, set(), self.shape
        rare.left_affinity, rare.right_affinity = self.left_affinity, self.right_affinity
        rare.below, rare.levels, rare.base = below, [], [0]
        return rare

    def visit(self, n: int, at: NDArray[np.int32]) -> None:
        """Miner's call-back: level n with the pattern that begins at each position."""
        base = self.base[-1]
        size = len(self.edge) if n == 1 else int(at.max(initial=base - 1)) + 1 - base
        self.base.append(base + size)
        level = Level.empty(n, 0 if n == 1 and self.below else size)
        self.levels.append(level)
        if n == 1 and self.below:
            return
        if n == 1:
            at = self.corpus.words
        rare = None
        if self.below:
            rare = self._counts(at, base, size) < self.below
        if n == 2 and not self.below:
            self._learn_affinity(at, base, size)
            for chunk in self._chunks(1, self.corpus.words, 0):
                self._add_neighbours(self.levels[0], chunk)
        for chunk in self._chunks(n, at, base, rare):
            level.example[chunk.rows] = chunk.position + chunk.start
            self._add(level, chunk)
            if n > 1:
                self._add_neighbours(level, chunk)

    @staticmethod
    def _counts(at: NDArray[np.int32], base: int, size: int) -> Ints:
        """How often each pattern of a level begins somewhere, shape (size,)."""
        counts = np.zeros(size, dtype=np.int64)
        for start in range(0, len(at), _CHUNK):
            here = at[start : start + _CHUNK]
            counts += np.bincount(here[here >= 0] - base, minlength=size)
        return counts

    def _chunks(
        self, n: int, at: NDArray[np.int32], base: int, rare: NDArray[np.bool_] | None = None
    ) -> Iterator[Chunk]:
        corpus = self.corpus
        for first, last in batches(corpus, _CHUNK):
            start, end = int(corpus.offsets[first]), int(corpus.offsets[last])
            words, marks, patterns = corpus.words[start:end], corpus.marks[start : end + 1], at[start:end]
            position = np.flatnonzero(patterns >= 0)
            position = position[self._edges_fit(words, marks, position, n)]
            rows = patterns[position] - np.int32(base)
            if rare is not None:
                position, rows = position[rare[rows]], rows[rare[rows]]
            document = np.repeat(np.arange(last - first, dtype=np.int32), np.diff(corpus.offsets[first : last + 1]))
            yield Chunk(start, words, marks, corpus.codes[start:end], document, position, rows, n)

    def _edges_fit(
        self, words: NDArray[np.int32], marks: NDArray[np.uint8], position: Ints, n: int
    ) -> NDArray[np.bool_]:
        """May a phrase begin and end here? A function word may only where a hyphen ties it to the phrase and none
        ties it to what is outside ("in-context learning")."""
        first = self.edge[words[position]]
        if n == 1:
            return first
        tied = (marks & Mark.HYPHEN) != 0
        end = position + n
        last = self.edge[words[end - 1]] | (tied[end - 1] & ~tied[end])
        return np.asarray((first | (tied[position + 1] & ~tied[position])) & last, dtype=np.bool_)

    def _add(self, level: Level, chunk: Chunk) -> None:
        n, rows = level.n, chunk.rows
        before, after = chunk.marks[chunk.position], chunk.marks[chunk.position + n]
        level.add("fit", rows, np.ones(len(rows), np.bool_))
        level.add("title", rows, (before & Mark.TITLE) != 0)
        for name, marks in (("left", before), ("right", after)):
            level.add(f"{name}_boundary", rows, (marks & Mark.BOUNDARY) != 0)
            level.add(f"{name}_hyphen", rows, (marks & Mark.HYPHEN) != 0)
        level.add("sentence_start", rows, (before & Mark.SENTENCE) != 0)
        level.add("bracketed", rows, ((before & Mark.OPEN) != 0) & ((after & Mark.CLOSE) != 0))
        level.add("quoted", rows, ((before & Mark.QUOTE_OPEN) != 0) & ((after & Mark.QUOTE_CLOSE) != 0))
        level.add("hyphen", rows, self._hyphenated(chunk))
        self._add_shapes(level, chunk, before, after)
        keys = distinct(rows.astype(np.int64) << 32 | chunk.document[chunk.position])
        level.documents += np.bincount(keys >> 32, minlength=level.size).astype(np.int32)

    def _add_shapes(self, level: Level, chunk: Chunk, before: NDArray[np.uint8], after: NDArray[np.uint8]) -> None:
        rows = chunk.rows
        first = self.shape[chunk.codes[chunk.position]]
        last = self.shape[chunk.codes[chunk.position + level.n - 1]]
        plain = (before & (Mark.TITLE | Mark.SENTENCE)) == 0
        level.add("plain", rows, plain)
        level.add("capital", rows, plain & ((first & last & _CAPITAL) != 0))
        for name, sign in (("s", _PLURAL), ("ed", _PAST), ("ing", _GERUND)):
            level.add(f"first_{name}", rows, (first & sign) != 0)
            level.add(f"last_{name}", rows, (last & sign) != 0)
        follows = self.shape[chunk.codes[np.minimum(chunk.position + level.n, len(chunk.codes) - 1)]]
        level.add("acronym_after", rows, ((after & Mark.OPEN) != 0) & ((follows & _UPPER) != 0))

    @staticmethod
    def _hyphenated(chunk: Chunk) -> NDArray[np.bool_]:
        """Is there a hyphen inside (beside, for a word)?"""
        tied = (chunk.marks & Mark.HYPHEN) != 0
        if chunk.n == 1:
            return np.asarray(tied[chunk.position] | tied[chunk.position + 1], dtype=np.bool_)
        inside: NDArray[np.bool_] = tied[chunk.position + 1]
        for i in range(2, chunk.n):
            inside |= tied[chunk.position + i]
        return inside

    def _add_neighbours(self, level: Level, chunk: Chunk) -> None:
        content, stop = np.append(self.edge, False), np.append(~self.edge, False)
        sides = zip(("left", "right"), chunk.neighbours(len(self.edge)), strict=True)
        for (name, side), table in zip(sides, (self.left_affinity, self.right_affinity), strict=True):
            level.add(f"{name}_affinity", chunk.rows, table[side])
            level.add(f"{name}_word", chunk.rows, content[side])
            level.add(f"{name}_stop", chunk.rows, stop[side])

    def _learn_affinity(self, at: NDArray[np.int32], base: int, size: int) -> None:
        """How much more often a word stands next to known phrases than next to any candidate (log ratio)."""
        words, kinds = self.corpus.words, len(self.edge) + 1
        everywhere, near = np.zeros((2, kinds)), np.zeros((2, kinds))
        for chunk in self._chunks(2, at, base):
            rows, where = np.unique(chunk.rows, return_index=True)
            example = chunk.position[where] + chunk.start
            pairs = zip(words[example].tolist(), words[example + 1].tolist(), strict=True)
            known = np.zeros(size, np.bool_)
            known[rows] = np.fromiter((pair in self.good for pair in pairs), np.bool_, len(rows))
            chosen = known[chunk.rows]
            for i, side in enumerate(chunk.neighbours(len(self.edge))):
                everywhere[i] += np.bincount(side, minlength=kinds)
                near[i] += np.bincount(side[chosen], minlength=kinds)
        for i, table in enumerate((self.left_affinity, self.right_affinity)):
            share = max(near[i].sum(), 1) / max(everywhere[i].sum(), 1)
            table[:] = np.clip(np.log((near[i] + _PSEUDO) / ((everywhere[i] + 1) * share + _PSEUDO)), -2, 2)
