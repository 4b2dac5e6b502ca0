"""Documents of an embedded index that are read only as far as they are looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from indexer.documents import AnalysedDocument
from indexer.engines.embedded.forward_index import Forward
from indexer.engines.embedded.phrase_graph import Graph
from indexer.engines.shelf import Places, Shelf, ShelvedDocument, Weights, Words

BLOCK = 256
"""Documents whose tokens are put together at once."""
SINGLY = 0.25
"""Share of the documents that are read one at a time; whoever looks at more will look at most."""
Read = Callable[[Sequence[str]], Mapping[str, AnalysedDocument]]
"""Reads documents as they were stored, by their ids."""


class Names(Protocol):
    """Of what is numbered: the phrases and words of a model."""

    @property
    def phrases(self) -> Sequence[str]: ...
    @property
    def words(self) -> Sequence[str]: ...


class TantivyShelf(Shelf):
    def __init__(
        self, forward: Forward, graph: Graph, names: Names, row: Callable[[str], int | None],
        ids: Sequence[str], numbers: NDArray[np.int64], read: Read,
    ) -> None:  # fmt: skip
        """``numbers``: of the documents ``ids`` in the graph."""
        self._forward, self._graph, self._names, self._row = forward, graph, names, row
        self._ids, self._numbers, self._read = ids, numbers, read
        self._whole: dict[str, AnalysedDocument] = {}
        self._tokens: dict[int, list[str]] = {}

    def documents(self) -> list[AnalysedDocument]:
        graph, at = self._graph, self._numbers
        acls, degrees = graph.acl[at].tolist(), graph.degrees[at].tolist()
        versions = self._forward.versions[at].tolist()
        return [
            ShelvedDocument.of(self, place, name, graph.acls[acl], degree, f"{version:016x}")
            for place, (name, acl, degree, version) in enumerate(zip(self._ids, acls, degrees, versions, strict=True))
        ]

    def words(self, places: Places) -> Words:
        return self._forward.lined(self._numbers[places])

    def edges(self, places: Places) -> Weights:
        return self._forward.edges(self._numbers[places])

    def salience(self, places: Places) -> Weights:
        return self._forward.salient(self._numbers[places])

    def row(self, phrase: str) -> int | None:
        return self._row(phrase)

    def phrase(self, row: int) -> str:
        return self._names.phrases[row] if row < len(self._names.phrases) else self._others[row]

    def tokens(self, place: int) -> str:
        block, at = divmod(place, BLOCK)
        if block not in self._tokens:
            self._tokens[block] = self._joined(np.arange(block * BLOCK, min((block + 1) * BLOCK, len(self._ids))))
        return self._tokens[block][at]

    def whole(self, place: int) -> AnalysedDocument:
        name = self._ids[place]
        if name not in self._whole:
            self._whole.update(self._read([name] if len(self._whole) < SINGLY * len(self._ids) else self._ids))
        return self._whole[name]

    @cached_property
    def _others(self) -> dict[int, str]:
        return {row: phrase for phrase, row in self._graph.other_phrases.items()}

    @cached_property
    def _pieces(self) -> list[str]:
        """Words by their numbers, and at -1 what ends a line."""
        return [*self._names.words, "\n"]

    def _joined(self, places: Places) -> list[str]:
        """The tokens of documents as they were before they were numbered."""
        lined, lengths = self.words(places)
        pieces = list(map(self._pieces.__getitem__, lined.tolist()))
        at, after = np.flatnonzero(lined >= 0).tolist(), np.cumsum(lengths).tolist()
        return [
            " ".join(pieces[at[first] : at[end - 1] + 1]).replace(" \n ", "\n") if end > first else ""
            for first, end in pairwise([0, *after])
        ]
