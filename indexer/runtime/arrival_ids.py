"""Ids of the documents of a build, sorted on disk: as strings in memory they would grow with the corpus."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterator
from heapq import merge
from itertools import pairwise
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.int_arrays import csr_starts
from indexer.runtime.array_spill import ArraySpool

_RUN_IDS = 1 << 16
"""Ids that are sorted in memory."""
_GROUP_IDS = 1 << 10
"""Ids of a run that are read at a time when the runs are merged."""


class SortedIds(NamedTuple):
    """Distinct ids, ascending, whose bytes are in a file."""

    starts: NDArray[np.int64]
    """First byte of each id and the end of the last, shape (ids + 1,)."""
    arrival_numbers: NDArray[np.int64]
    """Arrival number of the last document of each id, shape (ids,)."""


class ArrivalIds:
    """Numbers ids as they arrive; holds eight bytes for each and some thousands of them."""

    def __init__(self) -> None:
        self._spool = ArraySpool()
        self._runs: list[range] = []
        """Groups of each sorted run in the spool."""
        self._recent: list[tuple[bytes, int]] = []
        self._recent_hashes: set[int] = set()
        self._hashes = np.zeros(0, dtype=np.uint64)
        """Of all ids but the recent ones, ascending."""
        self.count = 0

    def add(self, id: str) -> bool:
        """Number the next document; return whether an earlier one may have the same id.

        It may be wrong by chance, about once in 10^19 pairs of ids, and only in saying that there is one.
        """
        encoded = id.encode()
        hash = int.from_bytes(hashlib.blake2b(encoded, digest_size=8).digest())
        is_known = hash in self._recent_hashes or self._is_among_older(hash)
        self._recent.append((encoded, self.count))
        self._recent_hashes.add(hash)
        self.count += 1
        if len(self._recent) >= _RUN_IDS:
            self._close_run()
        return is_known

    def write_sorted(self, out: BinaryIO) -> SortedIds:
        """Write the distinct ids one after another, ascending, and return where each is."""
        self._close_run()
        lengths, numbers = array("i"), array("q")
        for id, number in self._iterate_last_of_each():
            out.write(id)
            lengths.append(len(id))
            numbers.append(number)
        return SortedIds(csr_starts(np.frombuffer(lengths, dtype=np.int32)), np.frombuffer(numbers, dtype=np.int64))

    def _is_among_older(self, hash: int) -> bool:
        row = int(np.searchsorted(self._hashes, np.uint64(hash)))
        return row < len(self._hashes) and int(self._hashes[row]) == hash

    def _close_run(self) -> None:
        self._recent.sort()
        first = len(self._spool)
        for start in range(0, len(self._recent), _GROUP_IDS):
            ids, numbers = zip(*self._recent[start : start + _GROUP_IDS], strict=True)
            blob = np.frombuffer(b"".join(ids), dtype=np.uint8)
            self._spool.append([csr_starts([len(id) for id in ids]), blob, np.array(numbers, dtype=np.int64)])
        self._runs.append(range(first, len(self._spool)))
        recent_hashes = np.fromiter(self._recent_hashes, dtype=np.uint64, count=len(self._recent_hashes))
        self._hashes = np.sort(np.concatenate([self._hashes, recent_hashes]))
        self._recent.clear()
        self._recent_hashes.clear()

    def _iterate_last_of_each(self) -> Iterator[tuple[bytes, int]]:
        previous: tuple[bytes, int] | None = None
        for entry in merge(*map(self._iterate_run, self._runs)):
            if previous is not None and entry[0] != previous[0]:
                yield previous
            previous = entry
        if previous is not None:
            yield previous

    def _iterate_run(self, groups: range) -> Iterator[tuple[bytes, int]]:
        for group in groups:
            starts, blob, numbers = self._spool.read(group)
            data = blob.tobytes()
            ids = [data[start:end] for start, end in pairwise(starts.tolist())]
            yield from zip(ids, numbers.tolist(), strict=True)
