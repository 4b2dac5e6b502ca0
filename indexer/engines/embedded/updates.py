"""Adding, replacing and deleting documents between epochs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self

from tantivy import Index, Query, Searcher

from indexer.documents import AnalysedDocument
from indexer.engines.embedded import fulltext_index as store
from indexer.engines.embedded.delta import Delta, load_delta, save_delta
from indexer.engines.embedded.open_epoch import OpenEpoch
from indexer.engines.embedded.phrase_graph import Graph

WRITER_MEMORY = 32_000_000


class Changes:
    """One writer's turn; the caller holds the index's write lock.

    tantivy commits first and the delta follows. A crash in between leaves the delta behind, which its
    opstamp tells; the next writer then makes it again from what tantivy holds.
    """

    def __init__(self, epoch: OpenEpoch) -> None:
        self._graph, self._path = epoch.graph, epoch.path
        self._index = store.open_index(epoch.path / "index")
        self._writer = self._index.writer(WRITER_MEMORY, 1)
        self._delta = self._mended(load_delta(epoch.path / "delta"))

    def add(self, documents: Iterable[AnalysedDocument]) -> int:
        stored = []
        for analysed in documents:
            kept, document = store.to_document(analysed, added=True)
            self._writer.delete_documents_by_term("id", kept.document.id)
            self._writer.add_document(document)
            stored.append(kept)
        if stored:
            self._commit(self._delta.with_documents(stored, self._graph))
        return len(stored)

    def delete(self, ids: Sequence[str]) -> int:
        present = [name for name in ids if self._holds(name)]
        for name in present:
            self._writer.delete_documents_by_term("id", name)
        if present:
            self._commit(self._delta.without(present, self._graph))
        return len(present)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if error is not None:
            self._writer.rollback()
        self._writer.wait_merging_threads()

    def _holds(self, name: str) -> bool:
        if name in self._delta.added:
            return True
        number = self._graph.ids.find(name)
        return number >= 0 and number not in self._delta.gone

    def _commit(self, delta: Delta) -> None:
        opstamp = self._writer.commit()
        save_delta(replace(delta, opstamp=opstamp), self._path / "delta")

    def _mended(self, delta: Delta) -> Delta:
        at = store.opstamp(self._path / "index")
        if delta.opstamp == at:
            return delta
        self._index.reload()
        found = _delta_of(self._index, self._index.searcher(), self._graph)
        save_delta(replace(found, opstamp=at), self._path / "delta")
        return found


def _delta_of(index: Index, searcher: Searcher, graph: Graph) -> Delta:
    """The delta that goes with what tantivy holds now."""
    added = searcher.search(Query.term_query(index.schema, "added", True), max(searcher.num_docs, 1), count=False)
    documents = [store.stored(searcher, address) for _, address in added.hits]
    of_the_epoch = searcher.terms_with_prefix("id", "", Query.term_query(index.schema, "added", False))
    kept = {name for name, _ in of_the_epoch}
    gone = frozenset(number for number, name in enumerate(graph.ids.all()) if name not in kept)
    return Delta(gone=gone).with_documents(documents, graph)
