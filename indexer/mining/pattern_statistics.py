"""Statistics of patterns: sums of signals over their occurrences, gathered level by level.

A pattern is a candidate only if it neither begins nor ends with a function word or a number. Signals of an occurrence
are: in a title, between brackets, next to a boundary, capitalised, inflected, and how much its neighbours are those of
known phrases (*affinity*). The corpus is read in chunks of whole documents, so that memory does not grow with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from indexer.int_arrays import unique_keys
from indexer.mining.encoded_corpus import EncodedCorpus, iterate_document_ranges
from indexer.text.tokenizer import Mark

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

_CAPITAL, _UPPER, _PLURAL, _PAST, _GERUND = 1, 2, 4, 8, 16
"""Bits of the shape of a word; _UPPER: its second letter is upper case too."""
_CHUNK_TOKENS = 1 << 19
"""Tokens of a chunk."""
_PSEUDO_COUNT = 5.0
"""Neighbours assumed on top of those counted, so that rare ones say little."""
_MAX_AFFINITY = 2.0

SIGNALS = (
    "title", "left_boundary", "right_boundary", "bracketed", "quoted", "hyphen", "capital", "plain", "acronym_after",
    "left_stop", "right_stop", "first_s", "first_ed", "first_ing", "last_s", "last_ed", "last_ing",
    "left_affinity", "right_affinity", "sentence_start", "left_hyphen", "right_hyphen", "left_word", "right_word",
    "fit",
)  # fmt: skip
"""Names of the signals: occurrences that have one are counted, affinities are added up."""


@dataclass
class LevelStatistics:
    """Statistics of the patterns of one length; row r is pattern ``level_starts[length - 1] + r``."""

    length: int
    size: int
    example_position: Ints
    """Token where an occurrence begins, -1 for a pattern that is no candidate, shape (size,)."""
    document_frequency: NDArray[np.int32]
    """Documents of the pattern, shape (size,)."""
    signal_sums: dict[str, Floats] = field(default_factory=dict)
    """Name of a signal -> its sum over the occurrences, shape (size,)."""

    @classmethod
    def create_empty(cls, length: int, size: int) -> LevelStatistics:
        sums = {name: np.zeros(size, np.float32) for name in SIGNALS}
        return cls(length, size, np.full(size, -1, np.int64), np.zeros(size, np.int32), sums)

    @property
    def candidate_rows(self) -> Ints:
        """Rows of the candidates, ascending."""
        return np.flatnonzero(self.example_position >= 0)

    def add_signal(self, name: str, rows: NDArray[np.int32], values: NDArray[np.generic]) -> None:
        """Add the values of occurrences of the patterns ``rows``; of booleans the true ones are counted."""
        if values.dtype == np.bool_:
            self.signal_sums[name] += np.bincount(rows[values], minlength=self.size)
        else:
            self.signal_sums[name] += np.bincount(rows, values, minlength=self.size)


@dataclass(frozen=True)
class OccurrenceChunk:
    """Occurrences of the candidates of one level in some documents."""

    start: int
    """Token of the corpus where the chunk begins."""
    lemma_ids: NDArray[np.int32]
    marks: NDArray[np.uint8]
    surface_ids: NDArray[np.int32]
    document: NDArray[np.int32]
    """Document of each token, counted from the first of the chunk."""
    position: Ints
    """First token of each occurrence, within the chunk."""
    rows: NDArray[np.int32]
    """Pattern of each occurrence, as a row of its level."""
    length: int
    """Words of the patterns."""

    def get_neighbour_lemma_ids(self, outside_id: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the lemma ids before and after each occurrence, ``outside_id`` at a boundary; (occurrences,) each."""
        after = self.position + self.length
        left = np.where(self.marks[self.position] & Mark.BOUNDARY, outside_id, self.lemma_ids[self.position - 1])
        following = self.lemma_ids[np.minimum(after, len(self.lemma_ids) - 1)]
        return left, np.where(self.marks[after] & Mark.BOUNDARY, outside_id, following)


def encode_word_shapes(surfaces: list[str]) -> NDArray[np.uint8]:
    """Return capitals and inflection of each surface form as bits, shape (surfaces,)."""

    def encode_shape(word: str) -> int:
        bits = _CAPITAL if word[0].isupper() else 0
        if word[1:2].isupper():
            bits |= _UPPER
        if len(word) > 3:
            if word.endswith("s") and not word.endswith(("ss", "us", "is")):
                bits |= _PLURAL
            elif word.endswith("ed"):
                bits |= _PAST
            elif word.endswith("ing"):
                bits |= _GERUND
        return bits

    return np.fromiter(map(encode_shape, surfaces), dtype=np.uint8, count=len(surfaces))


class PatternStatistics:
    """Statistics of all levels; ``add_level`` is the call-back of ``find_frequent_patterns``."""

    def __init__(
        self, corpus: EncodedCorpus, is_edge_word: NDArray[np.bool_], known_phrases: set[tuple[int, ...]]
    ) -> None:
        """``is_edge_word``, shape (lemmas,): may begin or end a phrase; ``known_phrases``: tuples of lemma ids."""
        self.corpus = corpus
        self.is_edge_word = is_edge_word
        self.known_phrases = known_phrases
        self.count_below: int | None = None
        self.word_shapes = encode_word_shapes(corpus.surfaces)
        self.levels: list[LevelStatistics] = []
        self.level_starts = [0]
        self.left_affinities = np.zeros(len(is_edge_word) + 1, dtype=np.float32)
        self.right_affinities = np.zeros(len(is_edge_word) + 1, dtype=np.float32)

    def create_for_rare_patterns(self, count_below: int) -> PatternStatistics:
        """Return empty statistics of patterns with fewer than this many occurrences, with the affinities of these."""
        rare = copy(self)
        rare.count_below, rare.known_phrases, rare.levels, rare.level_starts = count_below, set(), [], [0]
        return rare

    def add_level(self, pattern_length: int, pattern_at: NDArray[np.int32]) -> None:
        """Add the level of patterns of n words; ``pattern_at`` is the one that begins at each token, or -1."""
        base = self.level_starts[-1]
        size = len(self.is_edge_word) if pattern_length == 1 else int(pattern_at.max(initial=base - 1)) + 1 - base
        self.level_starts.append(base + size)
        level = LevelStatistics.create_empty(pattern_length, 0 if pattern_length == 1 and self.count_below else size)
        self.levels.append(level)
        if pattern_length == 1 and self.count_below:
            return
        is_rare = None
        if self.count_below:
            is_rare = self._count_patterns(pattern_at, base, size) < self.count_below
        if pattern_length == 2 and not self.count_below:
            self._learn_affinities(pattern_at, base, size)
            for chunk in self._iterate_occurrence_chunks(1, self.corpus.lemma_ids, 0):
                self._add_neighbour_signals(self.levels[0], chunk)
        for chunk in self._iterate_occurrence_chunks(pattern_length, pattern_at, base, is_rare):
            level.example_position[chunk.rows] = chunk.position + chunk.start
            self._add_occurrence_signals(level, chunk)
            if pattern_length > 1:
                self._add_neighbour_signals(level, chunk)

    @staticmethod
    def _count_patterns(pattern_at: NDArray[np.int32], first_id: int, pattern_count: int) -> Ints:
        """Count the occurrences of each pattern of a level, shape (size,)."""
        counts = np.zeros(pattern_count, dtype=np.int64)
        for start in range(0, len(pattern_at), _CHUNK_TOKENS):
            here = pattern_at[start : start + _CHUNK_TOKENS]
            counts += np.bincount(here[here >= 0] - first_id, minlength=pattern_count)
        return counts

    def _iterate_occurrence_chunks(
        self,
        pattern_length: int,
        pattern_at: NDArray[np.int32],
        first_id: int,
        is_rare: NDArray[np.bool_] | None = None,
    ) -> Iterator[OccurrenceChunk]:
        corpus = self.corpus
        for first, last in iterate_document_ranges(corpus, _CHUNK_TOKENS):
            start, end = int(corpus.offsets[first]), int(corpus.offsets[last])
            words, marks, patterns = corpus.lemma_ids[start:end], corpus.marks[start : end + 1], pattern_at[start:end]
            position = np.flatnonzero(patterns >= 0)
            position = position[self._mask_valid_ends(words, marks, position, pattern_length)]
            rows = patterns[position] - np.int32(first_id)
            if is_rare is not None:
                position, rows = position[is_rare[rows]], rows[is_rare[rows]]
            document = np.repeat(np.arange(last - first, dtype=np.int32), np.diff(corpus.offsets[first : last + 1]))
            yield OccurrenceChunk(
                start, words, marks, corpus.surface_ids[start:end], document, position, rows, pattern_length
            )

    def _mask_valid_ends(
        self, words: NDArray[np.int32], marks: NDArray[np.uint8], position: Ints, phrase_length: int
    ) -> NDArray[np.bool_]:
        """Return whether a phrase of n words may begin at each position and end where it would, shape (positions,).

        A function word may do so only where a hyphen ties it to the phrase and none to the word outside ("in-context
        learning").
        """
        first = self.is_edge_word[words[position]]
        if phrase_length == 1:
            return first
        tied = (marks & Mark.HYPHEN) != 0
        end = position + phrase_length
        last = self.is_edge_word[words[end - 1]] | (tied[end - 1] & ~tied[end])
        return np.asarray((first | (tied[position + 1] & ~tied[position])) & last, dtype=np.bool_)

    def _add_occurrence_signals(self, level: LevelStatistics, chunk: OccurrenceChunk) -> None:
        n, rows = level.length, chunk.rows
        before, after = chunk.marks[chunk.position], chunk.marks[chunk.position + n]
        level.add_signal("fit", rows, np.ones(len(rows), np.bool_))
        level.add_signal("title", rows, (before & Mark.TITLE) != 0)
        for name, marks in (("left", before), ("right", after)):
            level.add_signal(f"{name}_boundary", rows, (marks & Mark.BOUNDARY) != 0)
            level.add_signal(f"{name}_hyphen", rows, (marks & Mark.HYPHEN) != 0)
        level.add_signal("sentence_start", rows, (before & Mark.SENTENCE) != 0)
        level.add_signal("bracketed", rows, ((before & Mark.OPEN) != 0) & ((after & Mark.CLOSE) != 0))
        level.add_signal("quoted", rows, ((before & Mark.QUOTE_OPEN) != 0) & ((after & Mark.QUOTE_CLOSE) != 0))
        level.add_signal("hyphen", rows, self._has_hyphen(chunk))
        self._add_shape_signals(level, chunk, before, after)
        keys = unique_keys(rows.astype(np.int64) << 32 | chunk.document[chunk.position])
        level.document_frequency += np.bincount(keys >> 32, minlength=level.size).astype(np.int32)

    def _add_shape_signals(
        self, level: LevelStatistics, chunk: OccurrenceChunk, before: NDArray[np.uint8], after: NDArray[np.uint8]
    ) -> None:
        rows = chunk.rows
        first = self.word_shapes[chunk.surface_ids[chunk.position]]
        last = self.word_shapes[chunk.surface_ids[chunk.position + level.length - 1]]
        plain = (before & (Mark.TITLE | Mark.SENTENCE)) == 0
        level.add_signal("plain", rows, plain)
        level.add_signal("capital", rows, plain & ((first & last & _CAPITAL) != 0))
        for name, sign in (("s", _PLURAL), ("ed", _PAST), ("ing", _GERUND)):
            level.add_signal(f"first_{name}", rows, (first & sign) != 0)
            level.add_signal(f"last_{name}", rows, (last & sign) != 0)
        follows = self.word_shapes[
            chunk.surface_ids[np.minimum(chunk.position + level.length, len(chunk.surface_ids) - 1)]
        ]
        level.add_signal("acronym_after", rows, ((after & Mark.OPEN) != 0) & ((follows & _UPPER) != 0))

    @staticmethod
    def _has_hyphen(chunk: OccurrenceChunk) -> NDArray[np.bool_]:
        """Return whether there is a hyphen inside each occurrence (next to it, for a word)."""
        tied = (chunk.marks & Mark.HYPHEN) != 0
        if chunk.length == 1:
            return np.asarray(tied[chunk.position] | tied[chunk.position + 1], dtype=np.bool_)
        inside: NDArray[np.bool_] = tied[chunk.position + 1]
        for i in range(2, chunk.length):
            inside |= tied[chunk.position + i]
        return inside

    def _add_neighbour_signals(self, level: LevelStatistics, chunk: OccurrenceChunk) -> None:
        content, stop = np.append(self.is_edge_word, False), np.append(~self.is_edge_word, False)
        sides = zip(("left", "right"), chunk.get_neighbour_lemma_ids(len(self.is_edge_word)), strict=True)
        for (name, side), table in zip(sides, (self.left_affinities, self.right_affinities), strict=True):
            level.add_signal(f"{name}_affinity", chunk.rows, table[side])
            level.add_signal(f"{name}_word", chunk.rows, content[side])
            level.add_signal(f"{name}_stop", chunk.rows, stop[side])

    def _learn_affinities(self, pattern_at: NDArray[np.int32], first_id: int, pattern_count: int) -> None:
        """Set how much more often a word is next to known phrases than next to any candidate (log ratio)."""
        words, kinds = self.corpus.lemma_ids, len(self.is_edge_word) + 1
        everywhere, near = np.zeros((2, kinds)), np.zeros((2, kinds))
        for chunk in self._iterate_occurrence_chunks(2, pattern_at, first_id):
            rows, where = np.unique(chunk.rows, return_index=True)
            example = chunk.position[where] + chunk.start
            pairs = zip(words[example].tolist(), words[example + 1].tolist(), strict=True)
            is_known = np.zeros(pattern_count, np.bool_)
            is_known[rows] = np.fromiter((pair in self.known_phrases for pair in pairs), np.bool_, len(rows))
            next_to_known = is_known[chunk.rows]
            for i, side in enumerate(chunk.get_neighbour_lemma_ids(len(self.is_edge_word))):
                everywhere[i] += np.bincount(side, minlength=kinds)
                near[i] += np.bincount(side[next_to_known], minlength=kinds)
        for i, table in enumerate((self.left_affinities, self.right_affinities)):
            share = max(near[i].sum(), 1) / max(everywhere[i].sum(), 1)
            expected = (everywhere[i] + 1) * share
            ratio = np.log((near[i] + _PSEUDO_COUNT) / (expected + _PSEUDO_COUNT))
            table[:] = np.clip(ratio, -_MAX_AFFINITY, _MAX_AFFINITY)
