"""The document-phrase graph of an epoch as memory-mapped arrays: the documents of each phrase, with weights (postings).

Tantivy is not asked for edges: tantivy-py returns one score per document and none per clause of a query, so the weight
of each phrase in each document would take a query per phrase. Documents are numbered by id ascending (code point
order), so that order by number is order by id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from indexer.array_files import memory_map_array
from indexer.engines.search_types import may_read
from indexer.lazy_sequences import OffsetStringTable

GRAPH_ARRAYS = (
    *("starts", "documents", "weights", "degrees", "acl"),
    *("id_starts", "id_blob", "title_starts", "title_blob"),
)
"""Names of the ``.npy`` files."""
NAMES_FILE = "names.json"
"""Holds the distinct access lists, and the phrases with edges that the model does not name."""
Documents = NDArray[np.int64]
"""Document numbers, shape (documents,)."""
Flags = NDArray[np.bool_]

_EDGES_PER_SEARCH = 50
"""Edges that are compared with the documents looked for in the time of searching a posting for one of these."""


@dataclass(frozen=True)
class PhraseGraph:
    """Edges by phrase (the rows: phrases of the model by id, then ``other_phrases``), and fields of each document."""

    starts: NDArray[np.int64]
    """Edges of row r are ``[starts[r]:starts[r + 1]]`` of ``documents`` and ``weights``; shape (rows + 1,)."""
    documents: NDArray[np.int32]
    """Document number of each edge, ascending within a row; shape (edges,)."""
    weights: NDArray[np.float32]
    """BM25 of each edge; shape (edges,)."""
    degrees: NDArray[np.float64]
    """Sum of the weights of each document, shape (documents,)."""
    acl_numbers: NDArray[np.int32]
    """Index into ``acls`` of each document, shape (documents,)."""
    acls: Sequence[tuple[str, ...]]
    ids: OffsetStringTable
    titles: OffsetStringTable
    other_phrases: Mapping[str, int]
    """Rows of phrases that the epoch's model does not name."""

    def __len__(self) -> int:
        return len(self.degrees)

    def mask_readable(self, groups: frozenset[str] | None) -> NDArray[np.bool_] | None:
        """Return which documents these groups may read, shape (documents,), or None if they may read all."""
        if groups is None or all(may_read(acl, groups) for acl in self.acls):
            return None
        return np.array([may_read(acl, groups) for acl in self.acls], dtype=np.bool_)[self.acl_numbers]

    @cached_property
    def is_consistent(self) -> bool:
        """Whether the sizes of the arrays fit each other; a torn write does not pass."""
        return (
            self.starts[0] == 0
            and int(self.starts[-1]) == len(self.documents) == len(self.weights)
            and len(self.ids) == len(self.titles) == len(self.acl_numbers) == len(self.degrees)
            and int(self.ids.starts[-1]) == len(self.ids.blob)
            and int(self.titles.starts[-1]) == len(self.titles.blob)
        )


def load_phrase_graph(folder: Path) -> PhraseGraph:
    """Open the graph in a folder. Raise OSError or ValueError if a file is missing or cut short."""
    arrays = {name: memory_map_array(folder / f"{name}.npy") for name in GRAPH_ARRAYS}
    names = orjson.loads((folder / NAMES_FILE).read_bytes())
    graph = PhraseGraph(
        starts=arrays["starts"],
        documents=arrays["documents"],
        weights=arrays["weights"],
        degrees=arrays["degrees"],
        acl_numbers=arrays["acl"],
        acls=[tuple(acl) for acl in names["acls"]],
        ids=OffsetStringTable(arrays["id_starts"], arrays["id_blob"]),
        titles=OffsetStringTable(arrays["title_starts"], arrays["title_blob"]),
        other_phrases=names["other_phrases"],
    )
    if not graph.is_consistent:
        raise ValueError(f"the arrays in {folder} are inconsistent")
    return graph


class Posting(NamedTuple):
    """The documents of one requested phrase; arrays of shape (edges,)."""

    row: int
    """Index among the requested phrases."""
    documents: NDArray[np.int32]
    """Ascending."""
    weights: NDArray[np.float32]
    """BM25 without the boost."""
    boost: float
    """Summed over both sides."""
    is_in_a: bool
    is_in_b: bool


class Edges(NamedTuple):
    """Edges of requested phrases; arrays of shape (edges,)."""

    rows: NDArray[np.int64]
    """Index of each phrase among the requested ones."""
    documents: Documents
    weights: NDArray[np.float64]


class ScannedPostings:
    """All edges of some postings: those only of side a first, then those of both, then those only of b."""

    def __init__(self, postings: Sequence[Posting], size: int) -> None:
        """``size``: number of document numbers."""
        ordered = sorted(postings, key=lambda posting: (posting.is_in_b, not posting.is_in_a, posting.row))
        self._postings, self._size = ordered, size
        self._ends = np.cumsum([0, *(len(posting.documents) for posting in ordered)])
        self._documents = np.empty(self._ends[-1], dtype=np.int64)
        self._weights = np.empty(self._ends[-1], dtype=np.float32)
        if ordered:
            np.concatenate([posting.documents for posting in ordered], out=self._documents)
            np.concatenate([posting.weights for posting in ordered], out=self._weights)

    def flag_reached(self) -> tuple[Flags, Flags]:
        """Return which documents have an edge to side a, and which to side b."""
        only_a = sum(not posting.is_in_b for posting in self._postings)
        in_a = sum(posting.is_in_a for posting in self._postings)
        from_a, from_b = np.zeros(self._size, dtype=np.bool_), np.zeros(self._size, dtype=np.bool_)
        from_a[self._documents[: self._ends[in_a]]] = True
        from_b[self._documents[self._ends[only_a] :]] = True
        return from_a, from_b

    def sum_boosts(self) -> NDArray[np.float64]:
        """Return the sum of the boosts of the phrases of each document number, shape (size,)."""
        boosts = np.repeat([posting.boost for posting in self._postings], np.diff(self._ends))
        return np.bincount(self._documents, boosts, self._size).astype(np.float64, copy=False)

    def select(self, is_selected: Flags) -> Edges:
        """Return the edges of the selected documents."""
        edges = np.flatnonzero(is_selected[self._documents])
        rows = np.array([posting.row for posting in self._postings], dtype=np.int64)
        counts = np.diff(np.searchsorted(edges, self._ends))
        return Edges(np.repeat(rows, counts), self._documents[edges], self._weights[edges].astype(np.float64))


class LookedUpPostings:
    """The edges of some postings to some documents."""

    def __init__(self, postings: Sequence[Posting], is_wanted: Flags) -> None:
        """``is_wanted``: which documents to look up, shape (size,)."""
        self._postings, self.documents = postings, np.flatnonzero(is_wanted)
        self._weights = np.zeros((len(postings), len(self.documents)))
        numbers = self.documents.astype(np.int32)  # of another type, all of a posting would be converted
        for posting, weights in zip(postings, self._weights, strict=True):
            if len(posting.documents) < _EDGES_PER_SEARCH * len(numbers):
                edges = np.flatnonzero(is_wanted.take(posting.documents))
                places = np.searchsorted(numbers, posting.documents[edges])
            else:
                edges = np.minimum(np.searchsorted(posting.documents, numbers), len(posting.documents) - 1)
                places = np.flatnonzero(posting.documents[edges] == numbers)
                edges = edges[places]
            weights[places] = posting.weights[edges]

    def flag_reached(self) -> tuple[Flags, Flags]:
        """Return which of the documents have an edge to side a, and which to side b."""
        is_in_a = [posting.is_in_a for posting in self._postings]
        is_in_b = [posting.is_in_b for posting in self._postings]
        from_a, from_b = (np.asarray((self._weights[rows] > 0).any(axis=0)) for rows in (is_in_a, is_in_b))
        return from_a, from_b

    def sum_boosts(self) -> NDArray[np.float64]:
        """Return the sum of the boosts of the phrases of each of the documents."""
        return np.array([posting.boost for posting in self._postings]) @ (self._weights > 0)

    def select(self, is_selected: Flags) -> Edges:
        """Return the edges of the selected documents."""
        rows, places = np.nonzero((self._weights > 0) & is_selected[self.documents])
        phrases = np.array([posting.row for posting in self._postings], dtype=np.int64)
        return Edges(phrases[rows], self.documents[places], self._weights[rows, places])
