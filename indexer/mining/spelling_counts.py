"""Display forms: the most frequent original spelling of each phrase."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.int_arrays import range_positions
from indexer.mining.encoded_corpus import EncodedCorpus, get_lemma_ids_and_marks
from indexer.segmentation.matcher import Occurrences
from indexer.text.tokenizer import Mark, is_ideograph

_HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_MAX_PENDING_BATCHES = 8
"""Batches whose counts are kept apart: merging each one at once would sort the total again and again."""


class DisplayFormCounts(NamedTuple):
    """Counts of spellings, each array of shape (spellings,)."""

    keys: NDArray[np.uint64]
    """Phrase << 32 | hash of the spelling, ascending."""
    counts: NDArray[np.int64]
    first_occurrences: NDArray[np.int64]
    """Position of the spelling's first occurrence << 3 | its length in words."""


def count_display_forms(
    corpus: EncodedCorpus, document_range: tuple[int, int], occurrences: Occurrences
) -> DisplayFormCounts:
    """Count the spellings of the phrases that occur in a batch of documents."""
    _, marks = get_lemma_ids_and_marks(corpus, *document_range)
    start, end = corpus.offsets[list(document_range)].tolist()
    keys, first, counts = np.unique(
        _hash_spellings(corpus.surface_ids[start:end], marks, occurrences), return_index=True, return_counts=True
    )
    return DisplayFormCounts(keys, counts, (occurrences.position[first] + start) << 3 | occurrences.length[first])


class DisplayFormTotals:
    """Adds up the counts of batches, in order."""

    def __init__(self) -> None:
        self._parts: list[DisplayFormCounts] = []

    def add(self, counts: DisplayFormCounts) -> None:
        self._parts = _merge_counts([*self._parts, counts], _MAX_PENDING_BATCHES)

    def choose_most_frequent(self, corpus: EncodedCorpus, phrase_count: int) -> list[str]:
        """Return the most frequent spelling of each phrase, the earlier one of two that are as frequent."""
        display_forms = ["" for _ in range(phrase_count)]
        for keys, counts, first_occurrences in _merge_counts(self._parts, max_parts=1):
            order = np.lexsort((first_occurrences, -counts))
            phrase = keys >> np.uint64(32)
            _, best = np.unique(phrase[order], return_index=True)
            rows = order[best]
            for row, form in zip(
                rows.tolist(), _render_packed_occurrences(corpus, first_occurrences[rows]), strict=True
            ):
                display_forms[int(phrase[row])] = form
        return display_forms


def _hash_spellings(
    surface_ids: NDArray[np.int32], marks: NDArray[np.uint8], occurrences: Occurrences
) -> NDArray[np.uint64]:
    """Return phrase << 32 | hash of the spelling of each occurrence."""
    hashes = np.zeros(len(occurrences.position), dtype=np.uint64)
    for i in range(int(occurrences.length.max(initial=1))):
        rows = np.flatnonzero(occurrences.length > i)
        position = occurrences.position[rows] + i
        hyphen = ((marks[position] & Mark.HYPHEN) != 0) & (i > 0)
        token = surface_ids[position].astype(np.uint64) << np.uint64(1) | hyphen.astype(np.uint64)
        hashes[rows] = (hashes[rows] ^ token) * _HASH_MULTIPLIER
    return occurrences.phrase.astype(np.uint64) << np.uint64(32) | hashes >> np.uint64(32)


def _merge_counts(parts: list[DisplayFormCounts], max_parts: int) -> list[DisplayFormCounts]:
    """Merge the parts into one if there are more than ``max_parts``: add up counts, keep first occurrences."""
    if len(parts) <= max_parts:
        return parts
    all_keys, counts, first_occurrences = (np.concatenate(column) for column in zip(*parts, strict=True))
    keys, first, row = np.unique(all_keys, return_index=True, return_inverse=True)
    total = np.bincount(row, counts, minlength=len(keys)).astype(np.int64)
    return [DisplayFormCounts(keys, total, first_occurrences[first])]


def _render_packed_occurrences(corpus: EncodedCorpus, packed_occurrences: NDArray[np.int64]) -> list[str]:
    """Return the text of occurrences (position << 3 | length) as it was written."""
    starts, lengths = packed_occurrences >> 3, packed_occurrences & 7
    positions, ends = range_positions(starts, lengths), np.cumsum(lengths)
    words = [corpus.surfaces[surface] for surface in corpus.surface_ids.take(positions).tolist()]
    hyphens = ((corpus.marks[positions] & Mark.HYPHEN) != 0).tolist()
    return [
        _join_words(words[end - n : end], hyphens[end - n : end])
        for n, end in zip(lengths.tolist(), ends.tolist(), strict=True)
    ]


def _join_words(words: list[str], hyphens: list[bool]) -> str:
    """Join words by a hyphen where one was, by nothing between ideographs, else by a space."""
    pieces = words[:1]
    for word, hyphen in zip(words[1:], hyphens[1:], strict=True):
        apart = not (is_ideograph(word) and is_ideograph(pieces[-1]))
        pieces += ["-" if hyphen else " " if apart else "", word]
    return "".join(pieces)
