"""Writes the vectors of a new epoch: rows go to disk as documents arrive, then into the graph of neighbours.

Only the graph with its own half-precision rows is held in memory, at the end.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from functools import partial
from io import BufferedWriter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from indexer import array_files
from indexer.engines.embedded.vectors.vector_index import (
    DOCUMENTS_FILE,
    TEXT_EXPANSION_ADD,
    VECTORS_FILE,
    create_graph,
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
        self._row_numbers = array("q")
        """Row of each document in order of arrival, or _NO_ROW."""
        self._row_count = 0
        self._file: BufferedWriter | None = None
        self._create_graph: Callable[[int], Index] = create_graph

    def add(self, id: str, vector: bytes | None) -> None:
        """Add the next document; raise BadInput for a vector of other dimensions than the first."""
        if vector is None:
            self._row_numbers.append(_NO_ROW)
            return
        if self._file is None:
            self._dimensions = count_dimensions(vector)
            self._file = self._raw_path.open("wb")
        check_dimensions(id, vector, self._dimensions)
        make_row(vector).tofile(self._file)
        self._row_numbers.append(self._row_count)
        self._row_count += 1

    def add_text_vectors(self, batches: Iterable[NDArray[np.float32]]) -> None:
        """Give all documents, none of which brought a vector, the vectors of ``Build.write_text_vectors``."""
        assert self._file is None, "some documents brought vectors"
        row_numbers = array("q")
        with self._raw_path.open("wb") as file:
            for vectors in batches:
                self._dimensions = vectors.shape[1]
                has_row = vectors.any(axis=1)
                vectors[has_row].astype(np.float16).tofile(file)
                numbers = np.where(has_row, self._row_count - 1 + np.cumsum(has_row), _NO_ROW)
                row_numbers.frombytes(numbers.astype(np.int64).tobytes())
                self._row_count += int(has_row.sum())
        assert len(row_numbers) == len(self._row_numbers), "there is a vector for each document"
        self._row_numbers = row_numbers
        self._create_graph = partial(create_graph, expansion_add=TEXT_EXPANSION_ADD)

    def finish(self, arrival_numbers: NDArray[np.int64]) -> None:
        """Write the files; ``arrival_numbers``: arrival number of each document, by document number."""
        self.close()
        if self._dimensions is None:
            return
        row_by_document = np.frombuffer(self._row_numbers, dtype=np.int64)[arrival_numbers]
        documents = np.flatnonzero(row_by_document != _NO_ROW)  # without replaced ones: they may have been the only
        if len(documents):
            raw = array_files.memory_map_raw_file(self._raw_path, np.float16).reshape(-1, self._dimensions)
            graph = self._create_graph(self._dimensions)
            for first in range(0, len(documents), BATCH_ROWS):
                batch = documents[first : first + BATCH_ROWS]
                # one thread adds in order, so that builds are reproducible and rows are in the order of documents
                graph.add(batch.astype(np.uint64), np.ascontiguousarray(raw[row_by_document[batch]]), threads=1)
            graph.save(str(self._folder / VECTORS_FILE))
            array_files.save_array(self._folder / DOCUMENTS_FILE, documents.astype(np.int32))
        self._raw_path.unlink()

    def close(self) -> None:
        """Close the file. Raise OSError if the end of it cannot be written."""
        if self._file is not None:
            self._file.close()

    @property
    def _raw_path(self) -> Path:
        return self._folder / "raw.vectors"


def check_dimensions(id: str, vector: bytes | None, dimensions: int | None) -> None:
    """Raise BadInput that names the document unless its vector, if it has one, has these dimensions."""
    fault = find_dimension_fault(vector, dimensions)
    if fault is not None:
        raise BadInput(f"document {id!r}: {fault}")
