"""Frequent contiguous patterns, level by level over positions.

A pattern of one word is the word itself (its number is the lemma's). A longer pattern is a shorter one and
the word after it; it is frequent only if both patterns one word shorter are, so level n looks only where
two frequent patterns of level n - 1 stand one word apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.runtime.memory import give_back

MAX_LENGTH = 5
_PART = 1 << 20
"""Positions sorted at a time: bounds the memory of a level."""
_NONE = 255
_MIX = 31

Visit = Callable[[int, NDArray[np.int32]], None]
"""Level, and the pattern that begins at each position (-1: none), shape (tokens,). At level 1 every word is there."""


@dataclass(frozen=True)
class Patterns:
    """Row p of every array is pattern p; rows come by length, and the first rows are the words."""

    count: NDArray[np.int32]
    prefix: NDArray[np.int32]
    """The pattern without its last word (-1 for a word)."""
    suffix: NDArray[np.int32]
    """The pattern without its first word (-1 for a word)."""
    levels: NDArray[np.int64]
    """Patterns of length n are rows levels[n - 1] to levels[n], shape (max length + 1,)."""

    @property
    def size(self) -> int:
        return len(self.count)

    def first_word(self) -> NDArray[np.int32]:
        """The first word of each pattern, shape (patterns,)."""
        return _end_word(self.prefix, self.levels)

    def last_word(self) -> NDArray[np.int32]:
        return _end_word(self.suffix, self.levels)

    def spelled(self, rows: NDArray[np.int64], n: int) -> NDArray[np.int32]:
        """The words of patterns of length n, shape (rows, n)."""
        words = np.empty((len(rows), n), dtype=np.int32)
        last = self.last_word()
        at = rows.astype(np.int64)
        for column in range(n - 1, -1, -1):
            words[:, column] = last[at]
            at = self.prefix[at].astype(np.int64)
        return words


def _end_word(shorter: NDArray[np.int32], levels: NDArray[np.int64]) -> NDArray[np.int32]:
    ends = np.arange(len(shorter), dtype=np.int32)
    for n in range(1, len(levels) - 1):
        rows = slice(levels[n], levels[n + 1])
        ends[rows] = ends[shorter[rows]]
    return ends


def support_for(tokens: int) -> int:
    """The least count of a frequent pattern: 10, less in a small corpus."""
    return int(np.clip(round(2.5 * np.log10(max(tokens, 1)) - 8), 2, 10))


def frequent_patterns(
    words: NDArray[np.int32],
    marks: NDArray[np.uint8],
    vocabulary: int,
    support: int,
    max_length: int = MAX_LENGTH,
    visit: Visit | None = None,
    allowed: NDArray[np.bool_] | None = None,
) -> Patterns:
    """Every word, and every pattern of 2 to ``max_length`` words that occurs ``support`` times or more.

    ``words`` are the tokens, ``marks`` what stands before each and after the last; ``allowed`` says which words a
    pattern may hold.
    """
    count = [np.bincount(words, minlength=vocabulary).astype(np.int32)]
    prefix = [np.full(vocabulary, -1, dtype=np.int32)]
    suffix = [np.full(vocabulary, -1, dtype=np.int32)]
    levels = [0, vocabulary]
    fit = count[0] >= support if allowed is None else (count[0] >= support) & allowed
    if visit:
        visit(1, words)
    at = words
    for n in range(1, max_length):
        at, *new = _grow(at, words, marks, n, support, levels[-1], fit)
        for parts, part in zip((count, prefix, suffix), new, strict=True):
            parts.append(part)
        levels.append(levels[-1] + len(new[0]))
        if visit:
            visit(n + 1, at)
        give_back()
    return Patterns(np.concatenate(count), np.concatenate(prefix), np.concatenate(suffix), np.array(levels))


def _grow(
    at: NDArray[np.int32],
    words: NDArray[np.int32],
    marks: NDArray[np.uint8],
    n: int,
    support: int,
    base: int,
    fit: NDArray[np.bool_],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """From patterns of length n to those of n + 1: where they begin, their counts, prefixes and suffixes.

    ``fit`` says which words are patterns.
    """
    longer = np.full(len(at), -1, dtype=np.int32)
    parts = min(-(-max(len(at), 1) // _PART), _NONE)
    group = _groups(at, marks, n, parts, fit)
    found: list[tuple[NDArray[np.int32], ...]] = []
    for part in range(parts):
        positions = np.flatnonzero(group == part)
        counts, prefixes, suffixes = _count(at, words, positions, n, support, base, longer)
        found.append((counts, prefixes, suffixes))
        base += len(counts)
    counts, prefixes, suffixes = (np.concatenate(column) for column in zip(*found, strict=True))
    return longer, counts, prefixes, suffixes


def _groups(
    at: NDArray[np.int32], marks: NDArray[np.uint8], n: int, parts: int, fit: NDArray[np.bool_]
) -> NDArray[np.uint8]:
    """Which part counts the pattern that may begin at each position; ``_NONE``: none may. Shape (tokens,)."""
    group = np.full(len(at), _NONE, dtype=np.uint8)
    for start in range(0, len(at) - 1, _PART):
        end = min(start + _PART, len(at) - 1)
        here, following = at[start:end], at[start + 1 : end + 1]
        if n == 1:
            joinable = fit[here] & fit[following] & ((marks[start + 1 : end + 1] & 1) == 0)
        else:
            joinable = (here >= 0) & (following >= 0)
        # Of both patterns: one frequent word alone would make its part too large.
        mixed = here[joinable].astype(np.int64) * _MIX + following[joinable]
        group[start:end][joinable] = mixed % parts
    return group


def _count(
    at: NDArray[np.int32],
    words: NDArray[np.int32],
    positions: NDArray[np.int64],
    n: int,
    support: int,
    base: int,
    longer: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Count the patterns that begin at ``positions``; writes the numbers of frequent ones into ``longer``."""
    # in place and let go early: this is where mining needs most memory
    keys = at[positions].astype(np.int64)
    keys <<= 32
    keys |= words[positions + n]
    order = np.argsort(keys)  # sorted, equal keys stand together; which of them comes first does not matter
    keys = keys[order]
    first, counts = _frequent(keys, support)
    where = order[np.repeat(first, counts) + _within(counts)]
    longer[positions[where]] = np.repeat(np.arange(base, base + len(first), dtype=np.int32), counts)
    return counts, (keys[first] >> 32).astype(np.int32), at[positions[order[first]] + 1]


def _frequent(ordered: NDArray[np.int64], support: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Of the keys that occur ``support`` times or more among ordered ones: where each stands first, and how often."""
    new = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    starts = np.flatnonzero(new)
    counts = np.diff(starts, append=len(ordered)).astype(np.int32)
    frequent = counts >= support
    return starts[frequent], counts[frequent]


def _within(counts: NDArray[np.int32]) -> NDArray[np.int64]:
    """0, 1, ... for each of some counts, one after the other."""
    ends = np.cumsum(counts, dtype=np.int64)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)
