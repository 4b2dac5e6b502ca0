"""Writes the phrase graph of a new epoch: edges go to disk by document as they arrive, then are grouped by phrase.

Memory is bounded by phrases and a few numbers per document; neither ids nor edges are held in memory together.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from io import BufferedWriter
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from indexer import array_files
from indexer.documents import AnalysedDocument
from indexer.engines.embedded.forward_index_writer import ForwardIndexWriter
from indexer.engines.embedded.phrase_graph import NAMES_FILE
from indexer.int_arrays import csr_positions, csr_starts
from indexer.runtime.arrival_ids import ArrivalIds, SortedIds

BATCH_DOCUMENTS = 4096
"""Documents whose edges are grouped at a time."""
_RAW_CODES = {
    "phrases": "i", "weights": "f", "sizes": "i", "degrees": "d", "document_acls": "i", "title_sizes": "i",
}  # fmt: skip
"""Raw files of numbers of a build, in order of arrival, by the type code of ``array``: edges, then one a document."""
_RAW_BYTES = ("titles", "ids")
"""Raw files of text."""


class PhraseGraphWriter:
    """Writes raw files while documents are added, and the arrays of graph and forward index when the model is known."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.forward_writer = ForwardIndexWriter(folder)
        self._phrase_ids: dict[str, int] = {}
        """Ids of phrases in order of arrival; the model's are known at the end only."""
        self._acl_ids: dict[tuple[str, ...], int] = {}
        self._ids = ArrivalIds()
        self._files: dict[str, BufferedWriter] = {
            name: (folder / f"raw.{name}").open("wb") for name in (*_RAW_CODES, *_RAW_BYTES)
        }

    def add(self, analysed: AnalysedDocument) -> bool:
        """Add a document; return whether an earlier one may have its id, which it then replaces."""
        document, phrase_ids = analysed.document, self._phrase_ids
        title = document.title.encode()
        self._write("phrases", [phrase_ids.setdefault(phrase, len(phrase_ids)) for phrase in analysed.phrases])
        self._write("weights", analysed.weights)
        self._write("sizes", [len(analysed.phrases)])
        self._write("degrees", [analysed.degree])
        self._write("document_acls", [self._acl_ids.setdefault(document.acl, len(self._acl_ids))])
        self._write("title_sizes", [len(title)])
        self._files["titles"].write(title)
        salient_ids = [phrase_ids.setdefault(one.phrase, len(phrase_ids)) for one in analysed.salient]
        self.forward_writer.add(analysed, salient_ids)
        return self._ids.add(document.id)

    def finish(self, model_phrase_ids: Mapping[str, int], model_word_ids: Mapping[str, int]) -> NDArray[np.int64]:
        """Write the arrays, with the ids that the epoch's model gives to phrases and to words.

        Return the arrival number of each document, by document number; shape (documents,).
        """
        ids = self._ids.write_sorted(self._files["ids"])
        self.close()
        arrival = ids.arrival_numbers
        self._save_documents(ids)
        rows, other = self._assign_phrase_rows(model_phrase_ids)
        raw_starts = csr_starts(self._memory_map_raw("sizes"))
        self._save_edges_by_document(arrival, raw_starts, rows)
        self._save_edges_by_phrase(arrival, raw_starts, rows, len(model_phrase_ids) + len(other))
        self.forward_writer.finish(arrival, rows, model_word_ids)
        names = {"acls": [list(acl) for acl in self._acl_ids], "other_phrases": other}
        (self.folder / NAMES_FILE).write_bytes(orjson.dumps(names))
        for name in self._files:
            (self.folder / f"raw.{name}").unlink()
        return arrival

    def close(self) -> None:
        """Close all files. Raise OSError if the end of one cannot be written."""
        with ExitStack() as stack:
            stack.callback(self.forward_writer.close)
            for file in self._files.values():
                stack.callback(file.close)

    def _write(self, name: str, values: Iterable[float]) -> None:
        """Append numbers to a raw file."""
        array(_RAW_CODES[name], values).tofile(self._files[name])

    def _save_documents(self, ids: SortedIds) -> None:
        arrival_numbers = ids.arrival_numbers
        self._save_array("id_starts", ids.starts)
        self._create_array("id_blob", int(ids.starts[-1]), np.uint8)[:] = self._memory_map_raw("ids")
        self._save_array("degrees", self._memory_map_raw("degrees")[arrival_numbers])
        self._save_array("acl", self._memory_map_raw("document_acls")[arrival_numbers])
        raw_starts = csr_starts(self._memory_map_raw("title_sizes"))
        starts = csr_starts(self._memory_map_raw("title_sizes")[arrival_numbers])
        raw, titles = self._memory_map_raw("titles"), self._create_array("title_blob", int(starts[-1]), np.uint8)
        for first in range(0, len(arrival_numbers), BATCH_DOCUMENTS):
            indexes = csr_positions(raw_starts, arrival_numbers[first : first + BATCH_DOCUMENTS])
            titles[starts[first] : starts[first] + len(indexes)] = raw[indexes]
        self._save_array("title_starts", starts)

    def _assign_phrase_rows(self, model_phrase_ids: Mapping[str, int]) -> tuple[NDArray[np.int64], dict[str, int]]:
        """Return the row of each phrase in order of arrival, and the rows of phrases that the model does not name.

        Rows are the model's phrase ids; the other phrases come after them.
        """
        other: dict[str, int] = {}
        rows = np.empty(len(self._phrase_ids), dtype=np.int64)
        for phrase, number in self._phrase_ids.items():
            row = model_phrase_ids.get(phrase)
            rows[number] = other.setdefault(phrase, len(model_phrase_ids) + len(other)) if row is None else row
        return rows, other

    def _save_edges_by_document(
        self, arrival_numbers: NDArray[np.int64], raw_edge_starts: NDArray[np.int64], phrase_rows: NDArray[np.int64]
    ) -> None:
        """Write edges by document, each document's in its own order."""
        starts = csr_starts(self._memory_map_raw("sizes")[arrival_numbers])
        out_rows, out_weights = self.forward_writer.create_edge_arrays(starts)
        start = 0
        for _, edge_rows, edge_weights in self._iterate_edge_batches(arrival_numbers, raw_edge_starts, phrase_rows):
            end = start + len(edge_rows)
            out_rows[start:end] = edge_rows
            out_weights[start:end] = edge_weights
            start = end

    def _save_edges_by_phrase(
        self,
        arrival_numbers: NDArray[np.int64],
        raw_edge_starts: NDArray[np.int64],
        phrase_rows: NDArray[np.int64],
        row_count: int,
    ) -> None:
        """Write edges by phrase, each phrase's documents ascending: a counting sort, two passes over the raw edges."""
        sizes = np.zeros(row_count, dtype=np.int64)
        for _, edge_rows, _ in self._iterate_edge_batches(arrival_numbers, raw_edge_starts, phrase_rows):
            present, counts = np.unique(edge_rows, return_counts=True)
            sizes[present] += counts
        starts = csr_starts(sizes)
        self._save_array("starts", starts)
        documents = self._create_array("documents", int(starts[-1]), np.int32)
        weights = self._create_array("weights", int(starts[-1]), np.float32)
        next_free = starts[:-1].copy()
        for edge_documents, edge_rows, edge_weights in self._iterate_edge_batches(
            arrival_numbers, raw_edge_starts, phrase_rows
        ):
            order = np.argsort(edge_rows, kind="stable")
            present, first, counts = np.unique(edge_rows[order], return_index=True, return_counts=True)
            targets = np.repeat(next_free[present] - first, counts) + np.arange(len(order))
            documents[targets] = edge_documents[order]
            weights[targets] = edge_weights[order]
            next_free[present] += counts

    def _iterate_edge_batches(
        self, arrival_numbers: NDArray[np.int64], raw_edge_starts: NDArray[np.int64], phrase_rows: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]]:
        """Yield document numbers, rows and weights of edges, a batch of documents at a time, by number ascending."""
        raw_phrases, raw_weights = self._memory_map_raw("phrases"), self._memory_map_raw("weights")
        sizes = self._memory_map_raw("sizes")
        for first in range(0, len(arrival_numbers), BATCH_DOCUMENTS):
            batch = arrival_numbers[first : first + BATCH_DOCUMENTS]
            indexes = csr_positions(raw_edge_starts, batch)
            documents = np.repeat(np.arange(first, first + len(batch), dtype=np.int64), sizes[batch])
            yield documents, phrase_rows[raw_phrases[indexes]], raw_weights[indexes]

    def _memory_map_raw(self, name: str) -> NDArray[Any]:
        return array_files.memory_map_raw_file(self.folder / f"raw.{name}", np.dtype(_RAW_CODES.get(name, "B")))

    def _create_array(self, name: str, size: int, dtype: type[np.generic]) -> NDArray[Any]:
        return array_files.create_mapped_array(self.folder / f"{name}.npy", size, dtype)

    def _save_array(self, name: str, values: NDArray[np.generic]) -> None:
        array_files.save_array(self.folder / f"{name}.npy", values)
