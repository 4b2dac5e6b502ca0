"""Words of a corpus that its sample does not have, counted on disk: most of them are in one document only.

Each slice's words are appended with their hashes; the counts of a word are added up when all of it are known, a range
of hashes at a time, so that memory holds a part of them whatever the corpus.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from indexer.int_arrays import Ints
from indexer.lazy_sequences import OffsetStringTable, hash_strings
from indexer.runtime.array_spill import ArraySpool

_RANGE_ENTRIES = 1 << 21
"""Entries whose counts are added up at a time."""
_MAX_COUNTED_FREQUENCY = 1 << 16
"""Higher frequencies need not be told apart to select the most frequent words."""

Hashes = NDArray[np.uint64]


class NewWords:
    """Words of slices with the number of documents of each; the order of the slices makes no difference."""

    def __init__(self) -> None:
        self._slices = ArraySpool()
        """Of each slice, by hash ascending: hashes, documents, starts and bytes of the words."""
        self._entry_count = 0

    def append(self, words: Sequence[str], document_frequency: Ints) -> None:
        """Add the distinct words of a slice."""
        if not words:
            return
        hashes = hash_strings(OffsetStringTable.from_strings(words))
        order = np.argsort(hashes, kind="stable")
        table = OffsetStringTable.from_strings([words[row] for row in order.tolist()])
        frequency = np.asarray(document_frequency)[order].astype(np.int32)
        self._slices.append([hashes[order], frequency, table.starts.astype(np.int32), table.blob])
        self._entry_count += len(words)

    def select_frequent(self, max_words: int) -> tuple[list[str], Ints]:
        """Return the words in the most documents, sorted, and in how many each is.

        The least frequent ones are left out together, so that there are no more than ``max_words``.
        """
        counts = np.zeros(_MAX_COUNTED_FREQUENCY + 1, dtype=np.int64)
        for _, frequency in self._add_up():
            counts += np.bincount(np.minimum(frequency, _MAX_COUNTED_FREQUENCY), minlength=len(counts))
        words_from = np.cumsum(counts[::-1])[::-1]  # words in at least so many documents
        min_frequency = int(np.argmax(np.append(words_from, 0) <= max_words))
        selected: dict[str, int] = {}
        for hashes, frequency in self._add_up():
            is_frequent = frequency >= max(min_frequency, 1)
            selected |= self._find_words(hashes[is_frequent], frequency[is_frequent])
        words = sorted(selected)
        return words, np.array([selected[word] for word in words], dtype=np.int64)

    def _add_up(self) -> Iterator[tuple[Hashes, Ints]]:
        """Yield distinct hashes, ascending, and the documents of each, a range at a time."""
        range_count = 1 + self._entry_count // _RANGE_ENTRIES
        bounds = [(number << 64) // range_count for number in range(range_count)]
        for first, last in zip(bounds, [*bounds[1:], 1 << 64], strict=True):
            parts = [self._read_range(number, first, last) for number in range(len(self._slices))]
            if parts:
                hashes, row = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
                frequency = np.concatenate([part[1] for part in parts])
                yield hashes, np.bincount(row, frequency, minlength=len(hashes)).astype(np.int64)

    def _read_range(self, slice_number: int, first: int, last: int) -> tuple[Hashes, NDArray[np.int32]]:
        hashes, frequency = self._slices.read(slice_number, 2)
        here = slice(
            int(np.searchsorted(hashes, np.uint64(first))),
            int(np.searchsorted(hashes, np.uint64(last - 1), side="right")),
        )
        return hashes[here], frequency[here]

    def _find_words(self, hashes: Hashes, frequency: Ints) -> dict[str, int]:
        """Return the words of these hashes, ascending, with the documents of each."""
        found: dict[str, int] = {}
        is_missing = np.ones(len(hashes), dtype=np.bool_)
        for number in range(len(self._slices)):
            own_hashes, _, starts, blob = self._slices.read(number)
            wanted = hashes[is_missing]
            rows = np.flatnonzero(np.isin(own_hashes, wanted, assume_unique=True))
            targets = np.searchsorted(hashes, own_hashes[rows])
            words = OffsetStringTable(starts.astype(np.int64), blob).take(rows)
            found |= dict(zip(words, frequency[targets].tolist(), strict=True))
            is_missing[targets] = False
        return found
