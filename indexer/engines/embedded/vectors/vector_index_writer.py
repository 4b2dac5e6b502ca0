"""Writes the vectors of a new epoch: rows go to disk as documents arrive, then into graphs of neighbours.

Only one graph with its own half-precision rows is held in memory at a time, at the end.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import partial
from io import BufferedWriter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from indexer import array_files
from indexer.engines.embedded.vectors.vector_index import (
    TEXT_EXPANSION_ADD,
    count_graph_rows,
    create_graph,
    list_file_pairs,
    make_row,
)
from indexer.errors import BadInput
from indexer.vectors import count_dimensions, find_dimension_fault

if TYPE_CHECKING:
    from usearch.index import Index

BATCH_ROWS = 4096
"""Rows added to the graph at a time."""
_NO_ROW = -1


class VectorIndexWriter:
    """Collects the vectors of documents; writes no file if there are none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._dimensions: int | None = None
        self._row_numbers = self._numbers_path.open("wb")
        """Row of each document in order of arrival, or _NO_ROW, as int32."""
        self._document_count = self._row_count = 0
        self._file: BufferedWriter | None = None
        self._create_graph: Callable[[int], Index] = create_graph

    def add(self, id: str, vector: bytes | None) -> None:
        """Add the next document; raise BadInput for a vector of other dimensions than the first."""
        self._document_count += 1
        array("i", [_NO_ROW if vector is None else self._row_count]).tofile(self._row_numbers)
        if vector is None:
            return
        if self._file is None:
            self._dimensions = count_dimensions(vector)
            self._file = self._raw_path.open("wb")
        check_dimensions(id, vector, self._dimensions)
        make_row(vector).tofile(self._file)
        self._row_count += 1

    def add_text_vectors(self, batches: Iterable[NDArray[np.float32]]) -> None:
        """Give all documents, none of which brought a vector, the vectors of ``Build.write_text_vectors``."""
        assert self._file is None, "some documents brought vectors"
        document_count = 0
        self._row_numbers.seek(0)
        with self._raw_path.open("wb") as file:
            for vectors in batches:
                self._dimensions = vectors.shape[1]
                has_row = vectors.any(axis=1)
                vectors[has_row].astype(np.float16).tofile(file)
                numbers = np.where(has_row, self._row_count - 1 + np.cumsum(has_row), _NO_ROW)
                numbers.astype(np.int32).tofile(self._row_numbers)
                self._row_count += int(has_row.sum())
                document_count += len(vectors)
        assert document_count == self._document_count, "there is a vector for each document"
        self._create_graph = partial(create_graph, expansion_add=TEXT_EXPANSION_ADD)

    def finish(self, arrival_numbers: NDArray[np.int64]) -> None:
        """Write the files; ``arrival_numbers``: arrival number of each document, by document number."""
        self.close()
        if self._dimensions is not None:
            numbers = array_files.memory_map_raw_file(self._numbers_path, np.dtype(np.int32))[arrival_numbers]
            documents = np.flatnonzero(numbers != _NO_ROW)  # without replaced ones: they may have been the only
            if len(documents):
                self._write_graphs(documents, numbers[documents], self._dimensions)
            self._raw_path.unlink()
        self._numbers_path.unlink()

    def _write_graphs(self, documents: NDArray[np.int64], row_numbers: NDArray[np.int32], dimensions: int) -> None:
        """Write the vectors of documents, ascending; ``row_numbers``: where they are in the raw file."""
        raw = array_files.memory_map_raw_file(self._raw_path, np.dtype(np.float16)).reshape(-1, dimensions)
        size = count_graph_rows(dimensions)
        for start, (path, documents_path) in zip(
            range(0, len(documents), size), list_file_pairs(self._folder), strict=False
        ):
            graph = self._create_graph(dimensions)
            own, own_rows = documents[start : start + size], row_numbers[start : start + size]
            for first in range(0, len(own), BATCH_ROWS):
                batch = own[first : first + BATCH_ROWS]
                vectors = np.ascontiguousarray(raw[own_rows[first : first + BATCH_ROWS]])
                # one thread adds in order, so that builds are reproducible and rows are in the order of documents
                graph.add(batch.astype(np.uint64), vectors, threads=1)
            graph.save(str(path))
            array_files.save_array(documents_path, own.astype(np.int32))

    def close(self) -> None:
        """Close the files. Raise OSError if the end of one cannot be written."""
        with closing(self._row_numbers):
            if self._file is not None:
                self._file.close()

    @property
    def _numbers_path(self) -> Path:
        return self._folder / "raw.vector_rows"

    @property
    def _raw_path(self) -> Path:
        return self._folder / "raw.vectors"


def check_dimensions(id: str, vector: bytes | None, dimensions: int | None) -> None:
    """Raise BadInput that names the document unless its vector, if it has one, has these dimensions."""
    fault = find_dimension_fault(vector, dimensions)
    if fault is not None:
        raise BadInput(f"document {id!r}: {fault}")
