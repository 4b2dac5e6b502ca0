"""The vectors of an epoch's documents: files with the vectors and a graph of neighbours among them (HNSW).

One file is enough unless its graph would take too much memory to build; each of several has a range of the documents.
The library writes the vectors first, one row each in the order in which they were added, then the graph. So a search
over chosen documents, which must be exact, reads the same memory-mapped rows that an approximate one walks through.

Vectors are kept as unit vectors in half precision. On 6,502 sentence embeddings of 384 dimensions that finds all of the
ten nearest (recall 1.00, with the graph 0.997); 8-bit numbers find 0.975 of them and, of random vectors, only 0.87. A
document takes 917 bytes: 768 for the vector, the rest for the graph.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from indexer.array_files import memory_map_array
from indexer.documents import AnalysedDocument
from indexer.model.text_vectors import TextVectors
from indexer.vectors import decode_vector

if TYPE_CHECKING:
    from usearch.index import Index

VECTORS_FILE: Final = "vectors.usearch"
DOCUMENTS_FILE: Final = "vector_documents.npy"
"""Document number of each row, since documents may have no vector."""
GRAPH_BYTES: Final = 256_000_000
"""Bytes of vectors and graph in a file: they are held in memory while it is built."""
_ROW_GRAPH_BYTES: Final = 150
"""Bytes of the graph for each vector."""
_HEADER: Final = np.dtype("<u4")
"""Type of the two numbers before the rows: how many there are, and the bytes of each."""
_CONNECTIVITY, _EXPANSION_ADD = 16, 128
TEXT_EXPANSION_ADD: Final = 48
"""Neighbours considered for each new vector that was made from a text. Of 20,000, the graph finds 0.999 of the ten
nearest, as with 128, and is built in 1.5 s instead of 4."""
_BLOCK_ROWS: Final = 1024
"""Rows that are compared at a time: they stay in the processor's cache between the two steps."""

Row = NDArray[np.float16]
"""A unit vector, shape (dimensions,)."""
Rows = NDArray[np.float16]
"""Unit vectors, shape (rows, dimensions)."""
FindVector = Callable[[AnalysedDocument], bytes | None]
"""Returns the vector by which a document is found, as ``encode_vector`` does, or None if it has none."""


def get_own_vector(analysed: AnalysedDocument) -> bytes | None:
    """Return the vector that came with the document."""
    return analysed.document.vector


def make_text_vector_finder(text_vectors: TextVectors) -> FindVector:
    """Return what makes the vector of a document from its words."""

    def find_vector(analysed: AnalysedDocument) -> bytes | None:
        vector = text_vectors.embed_words(analysed.tokens.split())
        return vector.astype("<f4").tobytes() if vector.any() else None

    return find_vector


def make_unit_vector(vector: bytes) -> NDArray[np.float32]:
    """Return the vector of ``encode_vector`` with length 1, shape (dimensions,)."""
    values = decode_vector(vector).astype(np.float64)
    values /= np.abs(values).max()  # the squares of tiny numbers would be zero
    unit: NDArray[np.float32] = (values / np.linalg.norm(values)).astype(np.float32)
    return unit


def make_row(vector: bytes) -> Row:
    """Return the vector of ``encode_vector`` as it is stored."""
    return make_unit_vector(vector).astype(np.float16)


def compute_cosines(rows: Rows, chosen: NDArray[np.int64] | None, query: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the cosine of each row to the query, shape (rows,); ``chosen``: only these rows, in their order.

    A row gives the same number wherever it is, so equal vectors have equal cosines.
    """
    count = len(rows) if chosen is None else len(chosen)
    cosines = np.empty(count, dtype=np.float32)
    buffer = np.empty((min(_BLOCK_ROWS, count), len(query)), dtype=np.float32)
    for first in range(0, count, _BLOCK_ROWS):
        last = min(first + _BLOCK_ROWS, count)
        block = buffer[: last - first]
        np.copyto(block, rows[first:last] if chosen is None else rows[chosen[first:last]])
        np.einsum("ij,j->i", block, query, out=cosines[first:last])  # a matrix product rounds rows by their place
    return np.clip(cosines, -1.0, 1.0, out=cosines)


def create_graph(dimensions: int, expansion_add: int = _EXPANSION_ADD) -> Index:
    """Return an empty graph of neighbours, of which every property that matters to a file is set here.

    ``expansion_add``: neighbours considered for each new vector.
    """
    from usearch.index import Index

    return Index(
        ndim=dimensions,
        metric="cos",
        dtype="f16",
        connectivity=_CONNECTIVITY,
        expansion_add=expansion_add,
        enable_key_lookups=False,  # a table of all keys, which opening a file would have to fill
    )


@dataclass(frozen=True)
class VectorIndex:
    """The vectors of an epoch, or of a range of its documents, open for reading."""

    path: Path
    documents: NDArray[np.int32]
    """Document number of each row, ascending; shape (rows,)."""
    rows: Rows
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def dimensions(self) -> int:
        return int(self.rows.shape[1])

    def find_candidates(self, query: NDArray[np.float32], count: int) -> NDArray[np.int64]:
        """Return the rows of about the ``count`` nearest documents, in no order."""
        with self._lock:  # searches of several threads would share the library's working memory
            found: Any = self._graph.search(query, count, threads=1)
        return np.searchsorted(self.documents, np.asarray(found.keys, dtype=np.int64))

    @cached_property
    def _graph(self) -> Index:
        graph = create_graph(self.dimensions)
        graph.view(str(self.path))
        return graph


def count_graph_rows(dimensions: int) -> int:
    """Return how many vectors a file may have."""
    return max(1, GRAPH_BYTES // (np.dtype(np.float16).itemsize * dimensions + _ROW_GRAPH_BYTES))


def list_file_pairs(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Yield the paths for the vectors and the document numbers of each range of documents, without end."""
    vectors, documents = folder / VECTORS_FILE, folder / DOCUMENTS_FILE
    yield vectors, documents
    for number in count(1):
        yield vectors.with_stem(f"{vectors.stem}-{number}"), documents.with_stem(f"{documents.stem}-{number}")


def load_vector_indexes(folder: Path) -> tuple[VectorIndex, ...]:
    """Open the vectors in a folder, by document number ascending; none if the documents have none.

    Raise OSError or ValueError if a file is missing or cut short.
    """
    pairs = takewhile(lambda pair: pair[0].exists(), list_file_pairs(folder))
    return tuple(_load_vector_index(*pair) for pair in pairs)


def _load_vector_index(path: Path, documents_path: Path) -> VectorIndex:
    documents = memory_map_array(documents_path)
    row_count, row_bytes = np.fromfile(path, dtype=_HEADER, count=2).tolist()
    start, itemsize = 2 * _HEADER.itemsize, np.dtype(np.float16).itemsize
    if row_count != len(documents) or row_bytes % itemsize or path.stat().st_size < start + row_count * row_bytes:
        raise ValueError(f"{path.name} is inconsistent")
    rows = np.memmap(path, dtype=np.float16, mode="r", offset=start, shape=(row_count, row_bytes // itemsize))
    return VectorIndex(path, documents, rows.view(np.ndarray))
