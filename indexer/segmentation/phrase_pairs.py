"""Phrase pairs: two phrases that keep close company in one document."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indexer.int_arrays import distinct
from indexer.mining.everyday import everyday
from indexer.segmentation.phrase_set import PhraseSet
from indexer.text.tokenizer import PAIR_WINDOW

MORE_THAN = 3
"""The members stand near each other more often than this."""

Ints = NDArray[np.int64]


def close_pairs(document: Ints, position: Ints, phrase: NDArray[np.int32]) -> tuple[Ints, Ints, Ints, Ints]:
    """Document, phrase, other phrase (the smaller number first) and times of every pair, each of shape (pairs,).

    The arrays name the segments of a batch of documents, by document and position ascending. A pair is met
    as often as the rarer of its members stands within reach of the other.
    """
    nothing = np.zeros(0, dtype=np.int64)
    if len(document) == 0:
        return nothing, nothing, nothing, nothing
    names, row, counts = np.unique(document << 32 | phrase, return_inverse=True, return_counts=True)
    often = np.flatnonzero(counts[row] > MORE_THAN)
    near = [_neighbours(document[often], position[often], row[often], step) for step in range(1, PAIR_WINDOW + 1)]
    one = often[np.concatenate([one for one, _ in near])]
    other = often[np.concatenate([other for _, other in near])]
    swap = row[one] > row[other]
    one, other = np.where(swap, other, one), np.where(swap, one, other)
    pairs, at = np.unique(row[one] << 32 | row[other], return_inverse=True)
    times = np.minimum(_distinct(at, one, len(pairs)), _distinct(at, other, len(pairs)))
    kept = pairs[times > MORE_THAN]
    first, second = names[kept >> 32], names[kept & 0xFFFFFFFF]
    return first >> 32, first & 0xFFFFFFFF, second & 0xFFFFFFFF, times[times > MORE_THAN]


def everyday_words(phrases: PhraseSet, frequency: NDArray[np.int32], documents: int) -> NDArray[np.bool_]:
    """Which phrases are everyday words by themselves, shape (phrases,): no members, as beside what a text is about they
    stand in every second sentence ("error", "option"). ``frequency``: documents of each word."""
    often = everyday(frequency, documents)
    return np.asarray((phrases.lengths == 1) & often[phrases.words[phrases.starts[:-1]]])


def _neighbours(document: Ints, position: Ints, row: Ints, step: int) -> tuple[Ints, Ints]:
    """Segments ``step`` places apart in the list that stand within reach in one document."""
    one = np.arange(len(document) - step) if len(document) > step else np.zeros(0, dtype=np.int64)
    other = one + step
    near = document[one] == document[other]
    near &= (position[other] - position[one] <= PAIR_WINDOW) & (row[one] != row[other])
    return one[near], other[near]


def _distinct(pair: Ints, member: Ints, size: int) -> Ints:
    """How many different members each pair has, shape (size,)."""
    keys = distinct(pair << 32 | member)
    return np.bincount(keys >> 32, minlength=size)
