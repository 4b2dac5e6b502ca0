"""Adds, replaces and deletes documents of the current epoch, in tantivy and in the delta."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from indexer.documents import AnalysedDocument
from indexer.engines.embedded import fulltext_index
from indexer.engines.embedded.delta import Delta, load_delta, save_delta
from indexer.engines.embedded.open_epoch import OpenEpoch
from indexer.engines.embedded.vectors.vector_index import FindVector, get_own_vector, make_text_vector_finder
from indexer.engines.embedded.vectors.vector_index_writer import check_dimensions
from indexer.engines.write_order import ClaimCheck, WriteMark, WriteResult
from indexer.identifiers import is_document_id
from indexer.vectors import read_text_dimensions

UPDATE_MEMORY_BYTES = 32_000_000
"""Buffer of the tantivy writer."""


class UpdateSession:
    """A writer of one epoch, used as a context manager; the caller holds the index's write lock.

    The new delta is written to a file of its own, then tantivy commits, then the file replaces the delta. After a
    crash before the last step the opstamp of the delta is behind, and the next writer does that step.
    """

    def __init__(self, epoch: OpenEpoch, delta: Delta) -> None:
        """``delta``: that of ``load_committed_delta``."""
        self._graph, self._path, self._files = epoch.graph, epoch.path, epoch.files
        self._delta = delta
        text_dimensions = read_text_dimensions(epoch.info.settings)
        self._dimensions = epoch.vectors[0].dimensions if epoch.vectors else text_dimensions
        self._find_vector = _choose_vector_finder(epoch, text_dimensions)
        self._writer = fulltext_index.open_index(epoch.path / "index").writer(UPDATE_MEMORY_BYTES, 1)
        self._files.start_writing()

    def add(
        self,
        documents: Iterable[AnalysedDocument],
        sequence: int,
        check_claim: ClaimCheck,
    ) -> WriteResult:
        """Add or replace documents by id and commit; leave out those of which a newer write stands.

        Raise BadInput for a vector of other dimensions; nothing is written then.
        """
        mark = WriteMark(sequence, time.time())
        stored, superseded = [], set()
        for analysed in documents:
            stored_form, document = fulltext_index.repair_and_build_tantivy_document(analysed)
            id = stored_form.document.id
            check_dimensions(id, self._find_vector(stored_form), self._dimensions)
            if self._delta.is_superseded(id, mark.sequence):
                superseded.add(id)
                continue
            self._writer.delete_documents_by_term("id", id)
            self._writer.add_document(document)
            stored.append(stored_form)
        check_claim()
        if stored:
            self._commit(self._delta.with_documents(stored, self._graph, mark, self._find_vector))
        return WriteResult(len(stored), mark.sequence, frozenset(superseded))

    def delete(self, ids: Sequence[str], sequence: int) -> WriteResult:
        """Delete documents and commit; leave out those of which a newer write stands."""
        mark = WriteMark(sequence, time.time())
        valid_ids = [id for id in ids if is_document_id(id)]
        superseded = frozenset(id for id in valid_ids if self._delta.is_superseded(id, mark.sequence))
        deleted = [id for id in valid_ids if id not in superseded]
        present = [id for id in deleted if self._contains(id)]
        for id in present:
            self._writer.delete_documents_by_term("id", id)
        if deleted:
            self._commit(self._delta.without_documents(deleted, self._graph, mark))
        missing = tuple(id for id in ids if id not in superseded.union(present))
        return WriteResult(len(present), mark.sequence, superseded, missing)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if error is None:
            self._writer.wait_merging_threads()
            self._files.finish_writing()
        else:
            with suppress(OSError, ValueError):  # the error that led here says more
                self._discard_changes()

    def _discard_changes(self) -> None:
        """Remove what was written without a commit: on a full disk, it would be in the way of every later write."""
        if fulltext_index.read_opstamp(self._path / "index") == self._delta.opstamp:
            _prepared_path(self._path).unlink(missing_ok=True)
        with suppress(ValueError):  # a writer that failed itself
            self._writer.rollback()
            self._writer.wait_merging_threads()
        del self._writer  # and its lock
        writer = fulltext_index.open_index(self._path / "index").writer(UPDATE_MEMORY_BYTES, 1)
        writer.garbage_collect_files()
        writer.wait_merging_threads()
        self._files.finish_writing()

    def _contains(self, id: str) -> bool:
        if id in self._delta.added:
            return True
        number = self._graph.ids.find(id)
        return number >= 0 and number not in self._delta.removed

    def _commit(self, delta: Delta) -> None:
        save_delta(delta, _prepared_path(self._path))
        opstamp = self._writer.commit()
        _publish_delta(delta, opstamp, self._path)


def _choose_vector_finder(epoch: OpenEpoch, text_dimensions: int | None) -> FindVector:
    """Return what finds the vectors of added documents: as those of the epoch were found.

    Without the word vectors that the epoch was built with, added documents get none until the index is built anew.
    """
    if text_dimensions is None:
        return get_own_vector
    vectors = epoch.model.text_vectors
    return make_text_vector_finder(vectors) if vectors.dimensions == text_dimensions else get_own_vector


def load_committed_delta(epoch: Path) -> Delta:
    """Return the delta of an epoch for its next writer, who has the write lock.

    If the last writer died after tantivy's commit, the delta that it had prepared is published first. Raise OSError or
    ValueError for a broken file.
    """
    delta = load_delta(epoch / "delta")
    opstamp = fulltext_index.read_opstamp(epoch / "index")
    if delta.opstamp == opstamp:
        return delta
    prepared_path = _prepared_path(epoch)
    prepared = load_delta(prepared_path) if prepared_path.exists() else None
    if prepared is None or prepared.opstamp != delta.opstamp:
        raise ValueError("a write was interrupted, and what it changed is not known")
    return _publish_delta(prepared, opstamp, epoch)


def _publish_delta(delta: Delta, opstamp: int, epoch: Path) -> Delta:
    """Replace the delta of an epoch by one that was prepared before the commit ``opstamp``; return it."""
    published = replace(delta, opstamp=opstamp)
    save_delta(published, epoch / "delta")
    _prepared_path(epoch).unlink(missing_ok=True)
    return published


def _prepared_path(epoch: Path) -> Path:
    return epoch / "delta.prepared"
