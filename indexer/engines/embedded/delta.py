"""Documents added, replaced or deleted since the embedded epoch was built, and the order of these writes.

One small file next to the graph, replaced in one step at each change, so that a reader in another process sees either
the state before the change or the one after it.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from indexer.atomic_files import open_replacement
from indexer.documents import AnalysedDocument
from indexer.engines.embedded.phrase_graph import PhraseGraph
from indexer.engines.embedded.vectors.vector_index import FindVector, get_own_vector, make_row
from indexer.engines.write_order import WriteMark, keep_recent_marks
from indexer.lazy_sequences import OffsetStringTable


@dataclass(frozen=True, slots=True)
class AddedDocument:
    """Fields of a document that a search for a neighbourhood or for the nearest vectors needs."""

    title: str
    acl: tuple[str, ...]
    degree: float
    phrases: tuple[str, ...]
    weights: tuple[float, ...]
    vector_row: bytes | None = None
    """Bytes of ``vector_index.make_row``; None without a vector."""

    @classmethod
    def from_analysed(cls, analysed: AnalysedDocument, vector: bytes | None) -> AddedDocument:
        """``vector``: by which the document is found, as ``encode_vector`` returns it; None for none."""
        document = analysed.document
        row = None if vector is None else make_row(vector).tobytes()
        return cls(document.title, document.acl, analysed.degree, analysed.phrases, analysed.weights, row)


@dataclass(frozen=True)
class Delta:
    """Difference between the epoch as built and the index now."""

    added: Mapping[str, AddedDocument] = field(default_factory=dict)
    """Added documents by id; a replaced document is here and in ``removed``."""
    removed: frozenset[int] = frozenset()
    """Numbers of the epoch's documents that were replaced or deleted."""
    opstamp: int = 0
    """The tantivy commit that this delta belongs to."""
    marks: Mapping[str, WriteMark] = field(default_factory=dict)
    """The last write or deletion of each document that was written since the epoch was built or a day before."""

    def with_documents(
        self,
        documents: Iterable[AnalysedDocument],
        graph: PhraseGraph,
        mark: WriteMark,
        find_vector: FindVector = get_own_vector,
    ) -> Delta:
        """Return the delta after documents were added or replaced."""
        added, removed, marks = dict(self.added), set(self.removed), dict(self.marks)
        for analysed in documents:
            id = analysed.document.id
            added[id] = AddedDocument.from_analysed(analysed, find_vector(analysed))
            removed.add(graph.ids.find(id))
            marks[id] = mark
        return Delta(added, frozenset(removed - {-1}), self.opstamp, marks)

    def without_documents(self, ids: Iterable[str], graph: PhraseGraph, mark: WriteMark) -> Delta:
        """Return the delta after documents were deleted."""
        added, removed, marks = dict(self.added), set(self.removed), dict(self.marks)
        for id in ids:
            added.pop(id, None)
            removed.add(graph.ids.find(id))
            marks[id] = mark
        return Delta(added, frozenset(removed - {-1}), self.opstamp, marks)

    def is_superseded(self, id: str, sequence: int) -> bool:
        """Return whether a write with this number is older than the last one of the document."""
        mark = self.marks.get(id)
        return mark is not None and mark.sequence > sequence

    def start_epoch(self, opstamp: int) -> Delta:
        """Return the delta of the epoch that follows: without documents, with the recent marks."""
        return Delta(opstamp=opstamp, marks=keep_recent_marks(self.marks))


def save_delta(delta: Delta, path: Path) -> None:
    """Replace the delta file in one step."""
    ids = sorted(delta.added)
    documents = [delta.added[id] for id in ids]
    phrase_ids: dict[str, int] = {}
    edges = [phrase_ids.setdefault(phrase, len(phrase_ids)) for document in documents for phrase in document.phrases]
    tables = {
        "ids": OffsetStringTable.from_strings(ids),
        "titles": OffsetStringTable.from_strings(document.title for document in documents),
        "phrases": OffsetStringTable.from_strings(phrase_ids),
        "acls": OffsetStringTable.from_strings(orjson.dumps(document.acl).decode() for document in documents),
        "marks": OffsetStringTable.from_strings(delta.marks),
    }
    arrays: dict[str, Any] = {
        "sizes": np.array([len(document.phrases) for document in documents], dtype=np.int64),
        "degrees": np.array([document.degree for document in documents], dtype=np.float64),
        "edges": np.array(edges, dtype=np.int64),
        "weights": np.array([w for document in documents for w in document.weights], dtype=np.float32),
        "vector_bytes": np.array([len(document.vector_row or b"") for document in documents], dtype=np.int64),
        "vectors": np.frombuffer(b"".join(document.vector_row or b"" for document in documents), dtype=np.uint8),
        "gone": np.array(sorted(delta.removed), dtype=np.int64),
        "opstamp": np.array(delta.opstamp),
        "mark_sequences": np.array([mark.sequence for mark in delta.marks.values()], dtype=np.int64),
        "mark_times": np.array([mark.written for mark in delta.marks.values()], dtype=np.float64),
    }
    for name, strings in tables.items():
        arrays |= {f"{name}_starts": strings.starts, f"{name}_blob": strings.blob}
    with open_replacement(path, is_synced=True) as file:
        np.savez(file, **arrays)


def load_delta(path: Path) -> Delta:
    """Read the delta file. Raise OSError or ValueError if it is missing or broken."""
    with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
        ids, titles, phrases, acls = (
            OffsetStringTable(arrays[f"{name}_starts"], arrays[f"{name}_blob"]).to_list()
            for name in ("ids", "titles", "phrases", "acls")
        )
        ends = np.cumsum(arrays["sizes"]).tolist()
        edges = [phrases[i] for i in arrays["edges"].tolist()]
        weights, degrees = arrays["weights"].tolist(), arrays["degrees"].tolist()
        vector_rows = _load_vector_rows(arrays) if "vectors" in arrays else [None] * len(ids)
        added = {
            id: AddedDocument(
                titles[i],
                tuple(orjson.loads(acls[i])),
                degrees[i],
                tuple(edges[start:end]),
                tuple(weights[start:end]),
                vector_rows[i],
            )
            for i, (id, start, end) in enumerate(zip(ids, [0, *ends], ends, strict=False))
        }
        marks = _load_marks(arrays) if "marks_starts" in arrays else {}  # former versions wrote neither
        return Delta(added, frozenset(arrays["gone"].tolist()), int(arrays["opstamp"]), marks)


def _load_vector_rows(arrays: Mapping[str, Any]) -> list[bytes | None]:
    """Return the row of each added document, or None."""
    data, ends = arrays["vectors"].tobytes(), np.cumsum(arrays["vector_bytes"]).tolist()
    return [data[start:end] or None for start, end in pairwise([0, *ends])]


def _load_marks(arrays: Mapping[str, Any]) -> dict[str, WriteMark]:
    """Return the marks by id."""
    ids = OffsetStringTable(arrays["marks_starts"], arrays["marks_blob"]).to_list()
    numbers = zip(arrays["mark_sequences"].tolist(), arrays["mark_times"].tolist(), strict=True)
    return dict(zip(ids, map(WriteMark._make, numbers), strict=True))
