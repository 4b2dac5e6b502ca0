"""The phrase-document graph of a neighbourhood, normalised with whole-corpus degrees (Eq. 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.int64]


class SparseMatrix(Protocol):
    """The part of a scipy CSR array that the solver uses; scipy itself has no types."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @overload
    def __matmul__(self, other: Floats, /) -> Floats: ...

    @overload
    def __matmul__(self, other: SparseMatrix, /) -> SparseMatrix: ...

    def __getitem__(self, rows: list[int], /) -> SparseMatrix: ...

    def toarray(self) -> Floats: ...


Matrix: TypeAlias = Floats | SparseMatrix

MAX_DENSE_CELLS = 32_768
"""Up to this many cells a plain block multiplies about as fast as a sparse matrix, and without allocating."""


@dataclass(frozen=True, eq=False)
class Subgraph:
    """``S = D_P^-1/2 W D_D^-1/2`` restricted to P phrases and N documents.

    The norm of S is at most 1, so every propagation with ``alpha > 0`` converges.
    """

    phrase_count: int
    document_count: int
    edge_count: int
    phrase_degrees: Floats
    """D_P of the whole corpus, shape (P,)."""
    document_degrees: Floats
    """D_D of the whole corpus, shape (N,)."""
    matrix: Matrix
    """S: an array of shape (P, N) where it is small, a scipy CSR array otherwise."""
    transposed: Matrix
    """S^T in the same form: a view of the block, or a CSR array of its own."""

    @classmethod
    def from_edges(
        cls, rows: ArrayLike, columns: ArrayLike, weights: ArrayLike, phrase_degrees: ArrayLike,
        document_degrees: ArrayLike, *, max_dense_cells: int = MAX_DENSE_CELLS,
    ) -> Subgraph:  # fmt: skip
        """Build a subgraph from the edges ``W[rows[e], columns[e]] = weights[e]`` and whole-corpus degrees.

        A phrase or document of degree 0 gets an empty row or column. Where the edges sum to more than the
        stored degree (documents added since it was stored), their sum counts: otherwise the norm of S could
        exceed 1. Raises ValueError for a negative or infinite number, a repeated edge or an index out of range.
        """
        degrees_p, degrees_d = (
            _check_amounts("phrase degree", phrase_degrees),
            _check_amounts("document degree", document_degrees),
        )
        i, j = _check_indices("row", rows, degrees_p.size), _check_indices("column", columns, degrees_d.size)
        w = _check_amounts("edge weight", weights)
        if not i.size == j.size == w.size:
            raise ValueError(f"an edge is a row, a column and a weight: got {i.size}, {j.size} and {w.size} of them")
        _raise_if_repeated(i * degrees_d.size + j, degrees_p.size * degrees_d.size)
        degrees_p = _lift_to_sums(degrees_p, _sum_by_index(i, w, degrees_p.size))
        degrees_d = _lift_to_sums(degrees_d, _sum_by_index(j, w, degrees_d.size))
        values = _inverse_root(degrees_p)[i] * w * _inverse_root(degrees_d)[j]
        shape = (degrees_p.size, degrees_d.size)
        if shape[0] * shape[1] <= max_dense_cells:
            matrix = np.zeros(shape)
            matrix[i, j] = values
            return cls(*shape, i.size, degrees_p, degrees_d, matrix, matrix.T)
        from scipy.sparse import csr_array

        sparse = csr_array((values, (i, j)), shape=shape)
        sparse.sort_indices()
        back = csr_array(sparse.T)
        back.sort_indices()
        return cls(*shape, i.size, degrees_p, degrees_d, sparse, back)

    @property
    def is_dense(self) -> bool:
        return isinstance(self.matrix, np.ndarray)

    def propagate_to_phrases(self, document_relevance: Floats, out: Floats) -> Floats:
        """Write and return ``out = S g`` for g of shape (N, columns), out (P, columns)."""
        return _multiply_into(self.matrix, document_relevance, out)

    def propagate_to_documents(self, phrase_relevance: Floats, out: Floats) -> Floats:
        """Write and return ``out = S^T f`` for f of shape (P, columns), out (N, columns)."""
        return _multiply_into(self.transposed, phrase_relevance, out)

    def get_phrase_row(self, phrase: int) -> Floats:
        """Return row ``S_i`` as a plain vector, shape (N,)."""
        return _get_row(self.matrix, phrase)

    def get_document_column(self, document: int) -> Floats:
        """Return column ``S_.j`` as a plain vector, shape (P,)."""
        return _get_row(self.transposed, document)

    def to_dense(self) -> Floats:
        """Return S as a plain array, shape (P, N)."""
        return self.matrix if isinstance(self.matrix, np.ndarray) else self.matrix.toarray()

    def compute_phrase_and_document_coverage(self) -> tuple[Floats, Floats]:
        """Return the share of each phrase's (P,) and each document's (N,) degree that lies inside the subgraph."""
        root_p, root_d = np.sqrt(self.phrase_degrees), np.sqrt(self.document_degrees)
        inside_p, inside_d = self.matrix @ root_d, self.transposed @ root_p
        return (
            np.divide(inside_p, root_p, out=np.zeros_like(root_p), where=root_p > 0),
            np.divide(inside_d, root_d, out=np.zeros_like(root_d), where=root_d > 0),
        )


def multiply_to_dense(matrix: Matrix, other: Matrix) -> Floats:
    """Return the product of two matrices of the same form as a plain array."""
    if isinstance(other, np.ndarray):
        return matrix @ other
    assert not isinstance(matrix, np.ndarray)
    return (matrix @ other).toarray()


def _get_row(matrix: Matrix, row: int) -> Floats:
    """Return one row as a plain vector, of a plain array as a view."""
    return np.asarray(matrix[row] if isinstance(matrix, np.ndarray) else matrix[[row]].toarray()[0])


def _multiply_into(matrix: Matrix, x: Floats, out: Floats) -> Floats:
    """Write and return ``matrix @ x``; a dense product allocates nothing."""
    if isinstance(matrix, np.ndarray):
        np.dot(matrix, x, out=out)
    else:
        out[...] = matrix @ x
    return out


def _inverse_root(degrees: Floats) -> Floats:
    """Return ``degrees ** -0.5``; 0 where a degree is 0."""
    return np.divide(1.0, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)


def _raise_if_repeated(cells: Indices, size: int) -> None:
    """Raise ValueError if a cell, numbered from 0 to ``size`` - 1, comes up twice."""
    # counting is ten times faster than sorting, as long as there are not many more cells than edges
    repeated = np.bincount(cells).max(initial=0) > 1 if size <= 16 * cells.size else np.unique(cells).size != cells.size
    if repeated:
        raise ValueError("an edge is given twice")


def _sum_by_index(index: Indices, weights: Floats, size: int) -> Floats:
    return np.bincount(index, weights, size).astype(np.float64)


def _lift_to_sums(degrees: Floats, sums: Floats) -> Floats:
    """Return degrees that are no smaller than the sums of their edges; 0 stays 0."""
    return np.where(degrees > 0, np.maximum(degrees, sums), 0.0)


def _check_amounts(name: str, values: ArrayLike) -> Floats:
    """Return values as a vector of finite numbers of at least 0; raise ValueError otherwise."""
    array = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if array.ndim != 1:
        raise ValueError(f"a list of {name}s has one dimension, not {array.ndim}")
    # minimum and maximum are NaN if any number is
    if array.size and not (array.min() >= 0 and array.max() < np.inf):
        bad = ~(np.isfinite(array) & (array >= 0))
        raise ValueError(f"{name} {array[bad][0]} is not a finite number of at least 0")
    return array


def _check_indices(name: str, values: ArrayLike, size: int) -> Indices:
    """Return values as a vector of whole numbers from 0 to ``size`` - 1; raise ValueError otherwise."""
    array = np.atleast_1d(np.asarray(values))
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"{name}s are a list of whole numbers")
    if array.min() < 0 or array.max() >= size:
        raise ValueError(f"{name} {array.max() if array.max() >= size else array.min()} is outside 0 .. {size - 1}")
    return array.astype(np.int64)
