"""Checks that all vectors of an index have the same dimensions: those of the first document that has one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from indexer.documents import Document
from indexer.engines.search_types import IndexInfo
from indexer.errors import BadInput
from indexer.readers.rejects import Rejects
from indexer.vectors import VECTOR_SETTING, count_dimensions, find_dimension_fault


class VectorCheck:
    """Keeps the documents of a build whose vectors fit; the others go to ``rejects``, if there are any."""

    def __init__(self, rejects: Rejects | None = None, dimensions: int | None = None) -> None:
        self._rejects = rejects
        self.dimensions = dimensions
        """None before the first document with a vector."""

    def keep_fitting(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield the documents that fit, as they are read; raise BadInput for one that does not without ``rejects``."""
        for document in documents:
            if self.dimensions is None and document.vector is not None:
                self.dimensions = count_dimensions(document.vector)
            fault = find_dimension_fault(document.vector, self.dimensions)
            if fault is None:
                yield document
            elif self._rejects is None:
                raise _make_misfit_error(document, fault)
            else:
                self._rejects.add_last_read(f"{fault} (document {document.id!r})")


def get_vector_dimensions(info: IndexInfo) -> int | None:
    """Return the dimensions of the vectors of an index; None if it has none."""
    dimensions = info.settings.get(VECTOR_SETTING)
    return dimensions if isinstance(dimensions, int) else None


def require_fitting_vectors(documents: Iterable[Document], info: IndexInfo) -> None:
    """Raise BadInput that names the first document whose vector does not fit the index."""
    dimensions = get_vector_dimensions(info)
    for document in documents:
        fault = find_dimension_fault(document.vector, dimensions)
        if fault is not None:
            raise _make_misfit_error(document, fault)


def _make_misfit_error(document: Document, fault: str) -> BadInput:
    return BadInput(f"document {document.id!r}: {fault}")
