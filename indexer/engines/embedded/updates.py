"""Adds, replaces and deletes documents of the current epoch, in tantivy and in the delta."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self

from tantivy import Index, Query, Searcher

from indexer.documents import AnalysedDocument
from indexer.engines.embedded import fulltext_index
from indexer.engines.embedded.delta import Delta, load_delta, save_delta
from indexer.engines.embedded.open_epoch import OpenEpoch
from indexer.engines.embedded.phrase_graph import PhraseGraph

UPDATE_MEMORY_BYTES = 32_000_000
"""Buffer of the tantivy writer."""


class UpdateSession:
    """A writer of one epoch, used as a context manager; the caller holds the index's write lock.

    Tantivy commits first, then the delta is replaced. After a crash in between the opstamp of the delta is behind, and
    the next writer rebuilds the delta from tantivy.
    """

    def __init__(self, epoch: OpenEpoch) -> None:
        self._graph, self._path = epoch.graph, epoch.path
        self._index = fulltext_index.open_index(epoch.path / "index")
        self._writer = self._index.writer(UPDATE_MEMORY_BYTES, 1)
        self._delta = self._repair_delta(load_delta(epoch.path / "delta"))

    def add(self, documents: Iterable[AnalysedDocument]) -> int:
        """Add or replace documents by id and commit; return their number."""
        stored = []
        for analysed in documents:
            stored_form, document = fulltext_index.to_tantivy_document(analysed, added=True)
            self._writer.delete_documents_by_term("id", stored_form.document.id)
            self._writer.add_document(document)
            stored.append(stored_form)
        if stored:
            self._commit(self._delta.with_documents(stored, self._graph))
        return len(stored)

    def delete(self, ids: Sequence[str]) -> int:
        """Delete documents and commit; return the number of those that existed."""
        present = [id for id in ids if self._contains(id)]
        for id in present:
            self._writer.delete_documents_by_term("id", id)
        if present:
            self._commit(self._delta.without_documents(present, self._graph))
        return len(present)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if error is not None:
            self._writer.rollback()
        self._writer.wait_merging_threads()

    def _contains(self, id: str) -> bool:
        if id in self._delta.added:
            return True
        number = self._graph.ids.find(id)
        return number >= 0 and number not in self._delta.removed

    def _commit(self, delta: Delta) -> None:
        opstamp = self._writer.commit()
        save_delta(replace(delta, opstamp=opstamp), self._path / "delta")

    def _repair_delta(self, delta: Delta) -> Delta:
        """Return ``delta``, or a new one from tantivy if a writer died before it replaced the file."""
        opstamp = fulltext_index.read_opstamp(self._path / "index")
        if delta.opstamp == opstamp:
            return delta
        self._index.reload()
        rebuilt = _rebuild_delta(self._index, self._index.searcher(), self._graph)
        save_delta(replace(rebuilt, opstamp=opstamp), self._path / "delta")
        return rebuilt


def _rebuild_delta(index: Index, searcher: Searcher, graph: PhraseGraph) -> Delta:
    """Return the delta that matches the documents in tantivy now."""
    added = searcher.search(Query.term_query(index.schema, "added", True), max(searcher.num_docs, 1), count=False)
    documents = [fulltext_index.read_document(searcher, address) for _, address in added.hits]
    epoch_ids = searcher.terms_with_prefix("id", "", Query.term_query(index.schema, "added", False))
    live_ids = {id for id, _ in epoch_ids}
    removed = frozenset(number for number, id in enumerate(graph.ids.to_list()) if id not in live_ids)
    return Delta(removed=removed).with_documents(documents, graph)
