"""A new epoch of an embedded index in the making."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from contextlib import ExitStack

from indexer.documents import AnalysedDocument
from indexer.engines.base import Build, IndexInfo
from indexer.engines.embedded import fulltext_index as store
from indexer.engines.embedded.delta import Delta, save_delta
from indexer.engines.embedded.index_folder import IndexFolder, save_info, telling
from indexer.engines.embedded.phrase_graph_writer import GraphWriter, sync_folder
from indexer.model.phrase_model import PhraseModel

WRITER_MEMORY = 128_000_000


class TantivyBuild(Build):
    """Holds the index's write lock from the start to ``commit`` or ``abort``."""

    def __init__(self, folder: IndexFolder, lock_timeout: float) -> None:
        self._folder = folder
        self._held = ExitStack()
        self._held.enter_context(folder.writing(lock_timeout))
        try:
            with telling(folder.root):
                folder.remove_all_but(folder.version())
                self._path = folder.new_version()
                self._index = store.create_index(self._path / "index")
                # one thread keeps documents in the order they came, so that a build repeats exactly
                self._writer = self._index.writer(WRITER_MEMORY, 1)
                self._graph = GraphWriter(self._path / "graph")
        except BaseException:
            self._held.close()
            raise
        self._done = False

    def write_prepared(self, prepared: Iterable[AnalysedDocument]) -> None:
        with telling(self._folder.root):
            for analysed in prepared:
                if analysed.document.id in self._graph:
                    self._writer.delete_documents_by_term("id", analysed.document.id)
                stored, document = store.to_document(analysed, added=False)
                self._writer.add_document(document)
                self._graph.add(stored)

    def commit(self, model: PhraseModel, info: IndexInfo) -> None:
        with telling(self._folder.root):
            self._writer.commit()
            self._writer.wait_merging_threads()
            self._graph.finish(model.phrase_ids, model.word_ids)
            (self._path / "model.npz").write_bytes(model.to_bytes())
            save_delta(Delta(opstamp=store.opstamp(self._path / "index")), self._path / "delta")
            save_info(self._path, info)
            sync_folder(self._path)
            self._folder.switch_to(self._path.name)
            self._done = True
            self._folder.remove_all_but(self._path.name)
        self._held.close()

    def abort(self) -> None:
        if self._done:
            return
        self._done = True
        self._graph.close()
        del self._writer, self._index
        shutil.rmtree(self._path, ignore_errors=True)
        self._folder.remove_if_empty()
        self._held.close()
