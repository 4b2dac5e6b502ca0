"""The document-phrase graph of an epoch as memory-mapped arrays: the documents of each phrase, with weights.

Tantivy is not asked for edges: tantivy-py returns one score per document and none per clause of a query, so the weight
of each phrase in each document would take a query per phrase. Documents are numbered by id ascending (code point
order), so that order by number is order by id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

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
