"""The graph of an epoch together with what has changed since: one state of an embedded index.

Documents of the epoch keep their numbers; added ones are numbered after them, by id ascending.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from indexer.engines.document_codec import may_read
from indexer.engines.embedded.delta import Delta
from indexer.engines.embedded.phrase_graph import Graph
from indexer.lazy_sequences import Lazily

MANY = 50
"""From so many documents on they are looked up together."""


@dataclass(frozen=True)
class Snapshot:
    graph: Graph
    delta: Delta

    @property
    def size(self) -> int:
        """How many document numbers there are, those of documents now gone included."""
        return len(self.graph) + len(self.delta.added)

    @property
    def live(self) -> int:
        return self.size - len(self.delta.gone)

    @cached_property
    def drift(self) -> float:
        """Documents added, replaced or deleted, as a share of the epoch's."""
        replaced = sum(self.graph.ids.find(name) in self.delta.gone for name in self.delta.added)
        return (len(self.delta.added) + len(self.delta.gone) - replaced) / max(len(self.graph), 1)

    @cached_property
    def added_ids(self) -> list[str]:
        return sorted(self.delta.added)

    @cached_property
    def added_numbers(self) -> dict[str, int]:
        return {name: len(self.graph) + i for i, name in enumerate(self.added_ids)}

    @cached_property
    def added_postings(self) -> dict[str, tuple[NDArray[np.int32], NDArray[np.float32]]]:
        """Phrase -> numbers of the added documents that hold it, and its weight in each."""
        found: dict[str, tuple[list[int], list[float]]] = {}
        for name, number in self.added_numbers.items():
            document = self.delta.added[name]
            for phrase, weight in zip(document.phrases, document.weights, strict=True):
                documents, weights = found.setdefault(phrase, ([], []))
                documents.append(number)
                weights.append(weight)
        return {p: (np.array(d, dtype=np.int32), np.array(w, dtype=np.float32)) for p, (d, w) in found.items()}

    @cached_property
    def id_order(self) -> NDArray[np.float64] | None:
        """A value for each document that grows with its id, shape (size,); None when its own number does."""
        if not self.delta.added:
            return None
        step = 1.0 / (len(self.added_ids) + 1)
        between = [self.graph.ids.position(name) - 1.0 + (i + 1) * step for i, name in enumerate(self.added_ids)]
        return np.concatenate([np.arange(len(self.graph), dtype=np.float64), between])

    @cached_property
    def _alive(self) -> NDArray[np.bool_]:
        alive = np.ones(self.size, dtype=np.bool_)
        alive[list(self.delta.gone)] = False
        return alive

    def visible(self, groups: frozenset[str] | None) -> NDArray[np.bool_] | None:
        """Which documents are alive and readable by these groups, shape (size,); None when all are."""
        readable = self.graph.readable(groups)
        if readable is None and not self.delta.gone and not self.delta.added:
            return None
        visible = self._alive.copy()
        if readable is not None:
            visible[: len(self.graph)] &= readable
        for name, number in self.added_numbers.items():
            visible[number] = may_read(self.delta.added[name].acl, groups)
        return visible

    def number(self, name: str) -> int:
        """The document's number, or -1; one that is gone may still have its number."""
        return self.added_numbers[name] if name in self.delta.added else self.graph.ids.find(name)

    def numbers(self, names: Sequence[str]) -> NDArray[np.int64]:
        """The same of many documents, shape (names,)."""
        if len(names) < MANY:
            return np.array([self.number(name) for name in names], dtype=np.int64)
        found = self.graph.ids.find_many(names)
        if self.delta.added:
            of_added = self.added_numbers
            found = np.array([of_added.get(n, at) for n, at in zip(names, found.tolist(), strict=True)], dtype=np.int64)
        return found

    def unchanged(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Numbers of documents that are as the epoch was built, -1 of all others; shape (names,)."""
        numbers = self.numbers(names)
        held = np.flatnonzero((numbers >= 0) & (numbers < len(self.graph)))
        found = np.full(len(names), -1, dtype=np.int64)
        found[held] = np.where(self._alive[numbers[held]], numbers[held], -1)
        return found

    def sorted_ids(self) -> list[str]:
        """Every live id ascending."""
        numbers = np.flatnonzero(self._alive)
        kept = self.graph.ids.take(numbers[numbers < len(self.graph)])
        return sorted([*kept, *self.added_ids]) if self.added_ids else kept

    def describe(self, numbers: NDArray[np.int64]) -> tuple[list[str], Sequence[str], NDArray[np.float64]]:
        """Ids, titles and degrees of documents, in the order given."""
        graph, old = self.graph, numbers < len(self.graph)
        if len(graph):
            some = np.where(old, numbers, 0)  # an added document is filled in below
            ids, degrees = graph.ids.take(some), graph.degrees[some]
        else:
            ids, degrees = [""] * len(numbers), np.zeros(len(numbers))
        for i in np.flatnonzero(~old).tolist():
            ids[i] = self.added_ids[int(numbers[i]) - len(graph)]
            degrees[i] = self.delta.added[ids[i]].degree
        return ids, Lazily(len(ids), lambda i: self._title(int(numbers[i]))), degrees

    def _title(self, number: int) -> str:
        added = number - len(self.graph)
        return self.graph.titles[number] if added < 0 else self.delta.added[self.added_ids[added]].title
