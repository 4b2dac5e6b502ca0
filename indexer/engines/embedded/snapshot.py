"""The phrase graph of an epoch together with its delta: one state of an embedded index.

Documents of the epoch keep their numbers; added documents are numbered after them, by id ascending.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import merge
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from indexer.engines.embedded.delta import Delta
from indexer.engines.embedded.phrase_graph import PhraseGraph
from indexer.engines.search_types import may_read
from indexer.lazy_sequences import LazySequence

MIN_BATCH_LOOKUP = 50
"""Number of ids from which they are looked up together."""
_BLOCK_IDS = 4096
"""Ids that are read at a time when all are."""


@dataclass(frozen=True)
class EpochSnapshot:
    """Look-ups over the documents of an epoch and those added since."""

    graph: PhraseGraph
    delta: Delta

    @property
    def size(self) -> int:
        """Number of document numbers, including those of removed documents."""
        return len(self.graph) + len(self.delta.added)

    @property
    def live_count(self) -> int:
        return self.size - len(self.delta.removed)

    @cached_property
    def drift(self) -> float:
        """Documents added, replaced or deleted, as a share of the epoch's."""
        replaced = sum(self.graph.ids.find(id) in self.delta.removed for id in self.delta.added)
        return (len(self.delta.added) + len(self.delta.removed) - replaced) / max(len(self.graph), 1)

    @cached_property
    def added_ids(self) -> list[str]:
        return sorted(self.delta.added)

    @cached_property
    def added_numbers(self) -> dict[str, int]:
        return {id: len(self.graph) + i for i, id in enumerate(self.added_ids)}

    @cached_property
    def added_postings(self) -> dict[str, tuple[NDArray[np.int32], NDArray[np.float32]]]:
        """Numbers of the added documents of each phrase, and its weight in each."""
        postings: dict[str, tuple[list[int], list[float]]] = {}
        for id, number in self.added_numbers.items():
            document = self.delta.added[id]
            for phrase, weight in zip(document.phrases, document.weights, strict=True):
                documents, weights = postings.setdefault(phrase, ([], []))
                documents.append(number)
                weights.append(weight)
        return {p: (np.array(d, dtype=np.int32), np.array(w, dtype=np.float32)) for p, (d, w) in postings.items()}

    @cached_property
    def added_vectors(self) -> tuple[NDArray[np.int64], NDArray[np.float16]]:
        """Numbers of the added documents that have a vector, shape (n,), and their rows, shape (n, dimensions)."""
        rows = {number: self.delta.added[id].vector_row for id, number in self.added_numbers.items()}
        found = {number: np.frombuffer(row, dtype=np.float16) for number, row in rows.items() if row is not None}
        matrix = np.stack(list(found.values())) if found else np.zeros((0, 0), dtype=np.float16)
        return np.array(list(found), dtype=np.int64), matrix

    @cached_property
    def id_sort_keys(self) -> NDArray[np.float64] | None:
        """Sort key of each document number by id, shape (size,); None if the numbers are in the order of ids."""
        if not self.delta.added:
            return None
        step = 1.0 / (len(self.added_ids) + 1)
        between = [
            self.graph.ids.find_insertion_point(id) - 1.0 + (i + 1) * step for i, id in enumerate(self.added_ids)
        ]
        return np.concatenate([np.arange(len(self.graph), dtype=np.float64), between])

    @cached_property
    def _live_mask(self) -> NDArray[np.bool_]:
        is_live = np.ones(self.size, dtype=np.bool_)
        is_live[list(self.delta.removed)] = False
        return is_live

    def mask_visible(self, groups: frozenset[str] | None) -> NDArray[np.bool_] | None:
        """Return which documents are live and readable by these groups, shape (size,), or None if all are."""
        readable = self.graph.mask_readable(groups)
        if readable is None and not self.delta.removed and not self.delta.added:
            return None
        visible = self._live_mask.copy()
        if readable is not None:
            visible[: len(self.graph)] &= readable
        for id, number in self.added_numbers.items():
            visible[number] = may_read(self.delta.added[id].acl, groups)
        return visible

    def find_document_number(self, id: str) -> int:
        """Return the number of a document, or -1; a deleted document may still have its number."""
        return self.added_numbers[id] if id in self.delta.added else self.graph.ids.find(id)

    def find_document_numbers(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """Return the number of each document as ``find_document_number`` does, shape (ids,)."""
        if len(ids) < MIN_BATCH_LOOKUP:
            return np.array([self.find_document_number(id) for id in ids], dtype=np.int64)
        numbers = self.graph.ids.find_many(ids)
        if self.delta.added:
            added, known = self.added_numbers, numbers.tolist()
            return np.array([added.get(id, number) for id, number in zip(ids, known, strict=True)], dtype=np.int64)
        return numbers

    def find_unchanged_numbers(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """Return the numbers of documents that are as the epoch was built, -1 for all others; shape (ids,)."""
        numbers = self.find_document_numbers(ids)
        is_unchanged = (numbers >= 0) & (numbers < len(self.graph))
        is_unchanged[is_unchanged] = self._live_mask[numbers[is_unchanged]]
        return np.where(is_unchanged, numbers, -1)

    def iterate_live_ids(self) -> Iterator[str]:
        """Yield the ids of all live documents, ascending."""
        numbers = np.flatnonzero(self._live_mask[: len(self.graph)])
        blocks = (numbers[first : first + _BLOCK_IDS] for first in range(0, len(numbers), _BLOCK_IDS))
        return merge(chain.from_iterable(map(self.graph.ids.take, blocks)), sorted(self.added_ids))

    def read_ids_titles_and_degrees(
        self, numbers: NDArray[np.int64]
    ) -> tuple[Sequence[str], Sequence[str], NDArray[np.float64]]:
        """Return ids, titles and degrees of documents, in the order of ``numbers``; strings are read when asked for."""
        known, epoch_size = numbers.tolist(), len(self.graph)
        degrees = np.zeros(len(numbers))
        is_of_epoch = numbers < epoch_size
        degrees[is_of_epoch] = self.graph.degrees[numbers[is_of_epoch]]
        for i in np.flatnonzero(~is_of_epoch).tolist():
            degrees[i] = self.delta.added[self.added_ids[known[i] - epoch_size]].degree
        ids = LazySequence(len(known), lambda i: self._get_id(known[i]))
        return ids, LazySequence(len(known), lambda i: self._get_title(known[i])), degrees

    def _get_id(self, number: int) -> str:
        added = number - len(self.graph)
        return self.graph.ids[number] if added < 0 else self.added_ids[added]

    def _get_title(self, number: int) -> str:
        added = number - len(self.graph)
        return self.graph.titles[number] if added < 0 else self.delta.added[self.added_ids[added]].title
