"""Writes the phrase graph of a new epoch: edges go to disk by document as they arrive, then are grouped by phrase.

Memory is bounded by ids, phrases and a few numbers per document; edges are never held in memory together.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator, Mapping, Sequence
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
from indexer.lazy_sequences import OffsetStringTable

BATCH_DOCUMENTS = 4096
"""Documents whose edges are grouped at a time."""


class PhraseGraphWriter:
    """Writes raw files while documents are added, and the arrays of graph and forward index when the model is known."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._forward_writer = ForwardIndexWriter(folder)
        self._phrase_ids: dict[str, int] = {}
        """Ids of phrases in order of arrival; the model's are known at the end only."""
        self._acl_ids: dict[tuple[str, ...], int] = {}
        self._arrivals: dict[str, int] = {}
        """Arrival number of the last document of each id."""
        self._sizes, self._degrees, self._document_acls = array("q"), array("d"), array("i")
        self._title_sizes = array("q")
        self._files: dict[str, BufferedWriter] = {
            name: (folder / f"raw.{name}").open("wb") for name in ("phrases", "weights", "titles")
        }

    def add(self, analysed: AnalysedDocument) -> None:
        document = analysed.document
        self._arrivals[document.id] = len(self._sizes)
        self._sizes.append(len(analysed.phrases))
        self._degrees.append(analysed.degree)
        self._document_acls.append(self._acl_ids.setdefault(document.acl, len(self._acl_ids)))
        phrase_ids = self._phrase_ids
        edges = [phrase_ids.setdefault(phrase, len(phrase_ids)) for phrase in analysed.phrases]
        array("i", edges).tofile(self._files["phrases"])
        self._files["weights"].write(struct.pack(f"={len(analysed.weights)}f", *analysed.weights))
        salient_ids = [phrase_ids.setdefault(one.phrase, len(phrase_ids)) for one in analysed.salient]
        self._forward_writer.add(analysed, salient_ids)
        title = document.title.encode()
        self._title_sizes.append(len(title))
        self._files["titles"].write(title)

    def __contains__(self, id: str) -> bool:
        return id in self._arrivals

    def finish(self, model_phrase_ids: Mapping[str, int], model_word_ids: Mapping[str, int]) -> NDArray[np.int64]:
        """Write the arrays, with the ids that the epoch's model gives to phrases and to words.

        Return the arrival number of each document, by document number; shape (documents,).
        """
        self.close()
        ids = sorted(self._arrivals)
        arrival = np.array([self._arrivals[id] for id in ids], dtype=np.int64)
        self._save_documents(ids, arrival)
        rows, other = self._assign_phrase_rows(model_phrase_ids)
        raw_starts = csr_starts(np.frombuffer(self._sizes, dtype=np.int64))
        self._save_edges_by_document(arrival, raw_starts, rows)
        self._save_edges_by_phrase(arrival, raw_starts, rows, len(model_phrase_ids) + len(other))
        self._forward_writer.finish(arrival, rows, model_word_ids)
        names = {"acls": [list(acl) for acl in self._acl_ids], "other_phrases": other}
        (self.folder / NAMES_FILE).write_bytes(orjson.dumps(names))
        for name in self._files:
            (self.folder / f"raw.{name}").unlink()
        return arrival

    def close(self) -> None:
        """Close all files. Raise OSError if the end of one cannot be written."""
        with ExitStack() as stack:
            stack.callback(self._forward_writer.close)
            for file in self._files.values():
                stack.callback(file.close)

    def _save_documents(self, ids: Sequence[str], arrival_numbers: NDArray[np.int64]) -> None:
        packed = OffsetStringTable.from_strings(ids)
        self._save_array("id_starts", packed.starts)
        self._save_array("id_blob", packed.blob)
        self._save_array("degrees", np.frombuffer(self._degrees, dtype=np.float64)[arrival_numbers])
        self._save_array("acl", np.frombuffer(self._document_acls, dtype=np.int32)[arrival_numbers])
        raw_starts = csr_starts(np.frombuffer(self._title_sizes, dtype=np.int64))
        starts = csr_starts(np.diff(raw_starts)[arrival_numbers])
        raw, titles = (
            self._memory_map_raw("titles", np.uint8),
            self._create_array("title_blob", int(starts[-1]), np.uint8),
        )
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
        starts = csr_starts(np.diff(raw_edge_starts)[arrival_numbers])
        out_rows, out_weights = self._forward_writer.create_edge_arrays(starts)
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
        raw_phrases, raw_weights = (
            self._memory_map_raw("phrases", np.int32),
            self._memory_map_raw("weights", np.float32),
        )
        sizes = np.diff(raw_edge_starts)
        for first in range(0, len(arrival_numbers), BATCH_DOCUMENTS):
            batch = arrival_numbers[first : first + BATCH_DOCUMENTS]
            indexes = csr_positions(raw_edge_starts, batch)
            documents = np.repeat(np.arange(first, first + len(batch), dtype=np.int64), sizes[batch])
            yield documents, phrase_rows[raw_phrases[indexes]], raw_weights[indexes]

    def _memory_map_raw(self, name: str, dtype: type[np.generic]) -> NDArray[Any]:
        return array_files.memory_map_raw_file(self.folder / f"raw.{name}", dtype)

    def _create_array(self, name: str, size: int, dtype: type[np.generic]) -> NDArray[Any]:
        return array_files.create_mapped_array(self.folder / f"{name}.npy", size, dtype)

    def _save_array(self, name: str, values: NDArray[np.generic]) -> None:
        array_files.save_array(self.folder / f"{name}.npy", values)
