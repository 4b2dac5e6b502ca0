"""The phrase-document graph of a neighbourhood, normalised with whole-corpus degrees (Eq. 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.int64]

DENSE_CELLS = 32_768
"""Up to this many cells a plain block multiplies about as fast as a sparse matrix, and without allocating."""


@dataclass(frozen=True, eq=False)
class Subgraph:
    """``S = D_P^-1/2 W D_D^-1/2`` restricted to P phrases and N documents.

    The norm of S is at most 1, so every propagation with ``alpha > 0`` converges.
    """

    phrases: int
    documents: int
    edges: int
    phrase_degrees: Floats
    """D_P of the whole corpus, shape (P,)."""
    document_degrees: Floats
    """D_D of the whole corpus, shape (N,)."""
    matrix: Any
    """S: an array of shape (P, N) where it is small, a scipy CSR array otherwise."""
    transposed: Any
    """S^T in the same form: a view of the block, or a CSR array of its own."""

    @classmethod
    def from_edges(
        cls, rows: ArrayLike, columns: ArrayLike, weights: ArrayLike, phrase_degrees: ArrayLike,
        document_degrees: ArrayLike, *, dense_cells: int = DENSE_CELLS,
    ) -> Subgraph:  # fmt: skip
        """Normalise the edges ``W[rows[e], columns[e]] = weights[e]``.

        A phrase or document of degree 0 gets an empty row or column. Where the edges given sum
        to more than the stored degree (documents added since it was stored), their sum counts:
        otherwise the norm of S could exceed 1.
        """
        degrees_p, degrees_d = _amounts("phrase degree", phrase_degrees), _amounts("document degree", document_degrees)
        i, j = _indices("row", rows, degrees_p.size), _indices("column", columns, degrees_d.size)
        w = _amounts("edge weight", weights)
        if not i.size == j.size == w.size:
            raise ValueError(f"an edge is a row, a column and a weight: got {i.size}, {j.size} and {w.size} of them")
        _refuse_twice(i * degrees_d.size + j, degrees_p.size * degrees_d.size)
        degrees_p = _at_least(degrees_p, _sums(i, w, degrees_p.size))
        degrees_d = _at_least(degrees_d, _sums(j, w, degrees_d.size))
        values = _inverse_root(degrees_p)[i] * w * _inverse_root(degrees_d)[j]
        shape = (degrees_p.size, degrees_d.size)
        if shape[0] * shape[1] <= dense_cells:
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
    def dense(self) -> bool:
        return isinstance(self.matrix, np.ndarray)

    def to_phrases(self, g: Floats, out: Floats) -> Floats:
        """``out = S g`` for g of shape (N, columns), out (P, columns)."""
        return _product(self.matrix, g, out)

    def to_documents(self, f: Floats, out: Floats) -> Floats:
        """``out = S^T f`` for f of shape (P, columns), out (N, columns)."""
        return _product(self.transposed, f, out)

    def row(self, phrase: int) -> Floats:
        """``S_i`` as a plain vector, shape (N,)."""
        return np.asarray(self.matrix[phrase] if self.dense else self.matrix[[phrase]].toarray()[0])

    def column(self, document: int) -> Floats:
        """``S_.j`` as a plain vector, shape (P,)."""
        return np.asarray(self.matrix[:, document] if self.dense else self.transposed[[document]].toarray()[0])

    def block(self) -> Floats:
        """S as a plain array, shape (P, N)."""
        return np.asarray(self.matrix if self.dense else self.matrix.toarray())

    def coverage(self) -> tuple[Floats, Floats]:
        """The part of each phrase's (P,) and each document's (N,) degree that lies inside the subgraph."""
        root_p, root_d = np.sqrt(self.phrase_degrees), np.sqrt(self.document_degrees)
        inside_p, inside_d = self.matrix @ root_d, self.transposed @ root_p
        return (
            np.divide(inside_p, root_p, out=np.zeros_like(root_p), where=root_p > 0),
            np.divide(inside_d, root_d, out=np.zeros_like(root_d), where=root_d > 0),
        )


def _product(matrix: Any, x: Floats, out: Floats) -> Floats:
    if isinstance(matrix, np.ndarray):
        np.dot(matrix, x, out=out)
    else:
        out[...] = matrix @ x
    return out


def _inverse_root(degrees: Floats) -> Floats:
    return np.divide(1.0, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)


def _refuse_twice(cells: Indices, size: int) -> None:
    # counting is ten times faster than sorting, as long as the counts are not larger than the edges
    twice = np.bincount(cells).max(initial=0) > 1 if size <= 16 * cells.size else np.unique(cells).size != cells.size
    if twice:
        raise ValueError("an edge is given twice")


def _sums(index: Indices, weights: Floats, size: int) -> Floats:
    return np.bincount(index, weights, size).astype(np.float64)


def _at_least(degrees: Floats, seen: Floats) -> Floats:
    return np.where(degrees > 0, np.maximum(degrees, seen), 0.0)


def _amounts(name: str, values: ArrayLike) -> Floats:
    array = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if array.ndim != 1:
        raise ValueError(f"a list of {name}s has one dimension, not {array.ndim}")
    # the least and the largest are NaN where any is
    if array.size and not (array.min() >= 0 and array.max() < np.inf):
        bad = ~(np.isfinite(array) & (array >= 0))
        raise ValueError(f"{name} {array[bad][0]} is not a finite number of at least 0")
    return array


def _indices(name: str, values: ArrayLike, size: int) -> Indices:
    array = np.atleast_1d(np.asarray(values))
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"{name}s are a list of whole numbers")
    if array.min() < 0 or array.max() >= size:
        raise ValueError(f"{name} {array.max() if array.max() >= size else array.min()} is outside 0 .. {size - 1}")
    return array.astype(np.int64)
