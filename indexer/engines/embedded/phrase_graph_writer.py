"""Making the graph of a new epoch: edges go to disk as documents come, then are turned round.

Memory stays bounded by ids, phrase names and a few numbers a document; edges never pile up.
"""

from __future__ import annotations

import os
import struct
from array import array
from collections.abc import Iterator, Mapping, Sequence
from io import BufferedWriter
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from indexer.documents import AnalysedDocument
from indexer.engines.embedded import array_files
from indexer.engines.embedded.forward_index_writer import ForwardWriter
from indexer.engines.embedded.phrase_graph import EXTRA
from indexer.ranges import ranges, starts_of
from indexer.strings import Strings

BATCH = 4096
"""Documents turned round at a time."""


class GraphWriter:
    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self._phrases: dict[str, int] = {}
        self._acls: dict[tuple[str, ...], int] = {}
        self._forward = ForwardWriter(folder)
        self._numbers: dict[str, int] = {}
        """The number, in order of arrival, of the last document of each id."""
        self._sizes, self._degrees, self._acl = array("q"), array("d"), array("i")
        self._title_sizes = array("q")
        self._files: dict[str, BufferedWriter] = {
            name: (folder / f"raw.{name}").open("wb") for name in ("phrases", "weights", "titles")
        }

    def add(self, analysed: AnalysedDocument) -> None:
        document = analysed.document
        self._numbers[document.id] = len(self._sizes)
        self._sizes.append(len(analysed.phrases))
        self._degrees.append(analysed.degree)
        self._acl.append(self._acls.setdefault(document.acl, len(self._acls)))
        known = self._phrases
        array("i", [known.setdefault(phrase, len(known)) for phrase in analysed.phrases]).tofile(self._files["phrases"])
        self._files["weights"].write(struct.pack(f"={len(analysed.weights)}f", *analysed.weights))
        self._forward.add(analysed, [known.setdefault(one.phrase, len(known)) for one in analysed.salient])
        title = document.title.encode()
        self._title_sizes.append(len(title))
        self._files["titles"].write(title)

    def __contains__(self, name: str) -> bool:
        return name in self._numbers

    def finish(self, model_rows: Mapping[str, int], word_rows: Mapping[str, int]) -> None:
        """Write the arrays; the epoch's model has these numbers for phrases and for words."""
        self.close()
        ids = sorted(self._numbers)
        arrival = np.array([self._numbers[name] for name in ids], dtype=np.int64)
        self._save_documents(ids, arrival)
        rows, other = self._rows(model_rows)
        raw_starts = starts_of(np.frombuffer(self._sizes, dtype=np.int64))
        self._save_edges(arrival, raw_starts, rows)
        self._turn_round(arrival, raw_starts, rows, len(model_rows) + len(other))
        self._forward.finish(arrival, rows, word_rows)
        names = {"acls": [list(acl) for acl in self._acls], "other_phrases": other}
        (self.folder / EXTRA).write_bytes(orjson.dumps(names))
        for name in self._files:
            (self.folder / f"raw.{name}").unlink()

    def close(self) -> None:
        for file in self._files.values():
            file.close()
        self._forward.close()

    def _save_documents(self, ids: Sequence[str], arrival: NDArray[np.int64]) -> None:
        packed = Strings.of(ids)
        self._save("id_starts", packed.starts)
        self._save("id_blob", packed.blob)
        self._save("degrees", np.frombuffer(self._degrees, dtype=np.float64)[arrival])
        self._save("acl", np.frombuffer(self._acl, dtype=np.int32)[arrival])
        raw_starts = starts_of(np.frombuffer(self._title_sizes, dtype=np.int64))
        starts = starts_of(np.diff(raw_starts)[arrival])
        raw, titles = self._raw("titles", np.uint8), self._create("title_blob", int(starts[-1]), np.uint8)
        for first in range(0, len(arrival), BATCH):
            take = ranges(raw_starts, arrival[first : first + BATCH])
            titles[starts[first] : starts[first] + len(take)] = raw[take]
        self._save("title_starts", starts)

    def _rows(self, model_rows: Mapping[str, int]) -> tuple[NDArray[np.int64], dict[str, int]]:
        """Row of each phrase in order of arrival; phrases the model does not name get rows after its own."""
        other: dict[str, int] = {}
        rows = np.empty(len(self._phrases), dtype=np.int64)
        for phrase, number in self._phrases.items():
            row = model_rows.get(phrase)
            rows[number] = other.setdefault(phrase, len(model_rows) + len(other)) if row is None else row
        return rows, other

    def _save_edges(self, arrival: NDArray[np.int64], raw_starts: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
        """Edges by document, each document's in its own order."""
        starts = starts_of(np.diff(raw_starts)[arrival])
        out_rows, out_weights = self._forward.save_edges(starts)
        at = 0
        for _, edge_rows, edge_weights in self._edges(arrival, raw_starts, rows):
            out_rows[at : at + len(edge_rows)] = edge_rows
            out_weights[at : at + len(edge_rows)] = edge_weights
            at += len(edge_rows)

    def _turn_round(
        self, arrival: NDArray[np.int64], raw_starts: NDArray[np.int64], rows: NDArray[np.int64], row_count: int
    ) -> None:
        """From edges by document, as they came, to edges by phrase, each phrase's documents ascending."""
        sizes = np.zeros(row_count, dtype=np.int64)
        for _, edge_rows, _ in self._edges(arrival, raw_starts, rows):
            found, counts = np.unique(edge_rows, return_counts=True)
            sizes[found] += counts
        starts = starts_of(sizes)
        self._save("starts", starts)
        documents = self._create("documents", int(starts[-1]), np.int32)
        weights = self._create("weights", int(starts[-1]), np.float32)
        free = starts[:-1].copy()
        for edge_documents, edge_rows, edge_weights in self._edges(arrival, raw_starts, rows):
            order = np.argsort(edge_rows, kind="stable")
            found, first, counts = np.unique(edge_rows[order], return_index=True, return_counts=True)
            at = np.repeat(free[found] - first, counts) + np.arange(len(order))
            documents[at] = edge_documents[order]
            weights[at] = edge_weights[order]
            free[found] += counts

    def _edges(
        self, arrival: NDArray[np.int64], raw_starts: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]]:
        """(document, row, weight) of every edge, a batch of documents at a time, by id ascending."""
        raw_phrases, raw_weights = self._raw("phrases", np.int32), self._raw("weights", np.float32)
        sizes = np.diff(raw_starts)
        for first in range(0, len(arrival), BATCH):
            batch = arrival[first : first + BATCH]
            take = ranges(raw_starts, batch)
            documents = np.repeat(np.arange(first, first + len(batch), dtype=np.int64), sizes[batch])
            yield documents, rows[raw_phrases[take]], raw_weights[take]

    def _raw(self, name: str, kind: type[np.generic]) -> NDArray[Any]:
        return array_files.raw(self.folder / f"raw.{name}", kind)

    def _create(self, name: str, size: int, kind: type[np.generic]) -> NDArray[Any]:
        return array_files.create(self.folder / f"{name}.npy", size, kind)

    def _save(self, name: str, values: NDArray[np.generic]) -> None:
        array_files.save(self.folder / f"{name}.npy", values)


def sync_folder(folder: Path) -> None:
    """Make sure that what was written survives a power cut."""
    for path in [*folder.rglob("*"), folder]:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
