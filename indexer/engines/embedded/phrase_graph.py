"""The document-phrase graph of an epoch as memory-mapped arrays: what the embedded engine reads edges from.

Documents are numbered by id ascending (code point order), so that order by number is order by id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from indexer.engines.document_codec import may_read
from indexer.strings import Strings

ARRAYS = ("starts", "documents", "weights", "degrees", "acl", "id_starts", "id_blob", "title_starts", "title_blob")
EXTRA = "names.json"
"""What is not an array: the distinct access lists, and phrases with edges that the model does not name."""


@dataclass(frozen=True)
class Graph:
    starts: NDArray[np.int64]
    """Edges of phrase p are ``[starts[p]:starts[p + 1]]`` of the next two; shape (phrases + 1,)."""
    documents: NDArray[np.int32]
    """Document of each edge, ascending within a phrase; shape (edges,)."""
    weights: NDArray[np.float32]
    """BM25 of each edge; shape (edges,)."""
    degrees: NDArray[np.float64]
    """Shape (documents,)."""
    acl: NDArray[np.int32]
    """Which of ``acls`` each document has; shape (documents,)."""
    acls: Sequence[tuple[str, ...]]
    ids: Strings
    titles: Strings
    other_phrases: Mapping[str, int]
    """Rows of phrases that the epoch's model does not name."""

    def __len__(self) -> int:
        return len(self.degrees)

    def readable(self, groups: frozenset[str] | None) -> NDArray[np.bool_] | None:
        """Which documents these groups may read, shape (documents,); None when they may read all."""
        if groups is None or all(may_read(acl, groups) for acl in self.acls):
            return None
        return np.array([may_read(acl, groups) for acl in self.acls], dtype=np.bool_)[self.acl]

    @cached_property
    def is_sound(self) -> bool:
        """Whether the arrays fit each other; a torn write does not pass."""
        return (
            self.starts[0] == 0
            and int(self.starts[-1]) == len(self.documents) == len(self.weights)
            and len(self.ids) == len(self.titles) == len(self.acl) == len(self.degrees)
            and int(self.ids.starts[-1]) == len(self.ids.blob)
            and int(self.titles.starts[-1]) == len(self.titles.blob)
        )


def load_graph(folder: Path) -> Graph:
    """Raises OSError or ValueError when a file is missing or cut short."""
    arrays = {name: mapped(folder / f"{name}.npy") for name in ARRAYS}
    names = orjson.loads((folder / EXTRA).read_bytes())
    graph = Graph(
        starts=arrays["starts"],
        documents=arrays["documents"],
        weights=arrays["weights"],
        degrees=arrays["degrees"],
        acl=arrays["acl"],
        acls=[tuple(acl) for acl in names["acls"]],
        ids=Strings(arrays["id_starts"], arrays["id_blob"]),
        titles=Strings(arrays["title_starts"], arrays["title_blob"]),
        other_phrases=names["other_phrases"],
    )
    if not graph.is_sound:
        raise ValueError(f"the arrays in {folder} do not fit each other")
    return graph


def mapped(path: Path) -> NDArray[Any]:
    # a plain view: the memmap subclass makes every slice dearer
    mapped: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False).view(np.ndarray)
    return mapped
