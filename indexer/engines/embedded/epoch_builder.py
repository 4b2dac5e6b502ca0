"""Build of a new epoch of an embedded index."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress

import numpy as np
from numpy.typing import NDArray

from indexer.documents import AnalysedDocument
from indexer.engines.base import Build
from indexer.engines.embedded import fulltext_index
from indexer.engines.embedded.checksums import EpochFiles
from indexer.engines.embedded.delta import Delta, save_delta
from indexer.engines.embedded.index_folder import IndexFolder, save_info, sync_folder, translate_os_errors
from indexer.engines.embedded.open_epoch import READ_ERRORS
from indexer.engines.embedded.phrase_graph_writer import PhraseGraphWriter
from indexer.engines.embedded.updates import load_committed_delta
from indexer.engines.embedded.vectors.vector_index import FindVector, get_own_vector
from indexer.engines.embedded.vectors.vector_index_writer import VectorIndexWriter
from indexer.engines.search_types import IndexInfo
from indexer.model.phrase_model import PhraseModel

BUILD_MEMORY_BYTES = 128_000_000
"""Buffer of the tantivy writer."""


class EmbeddedBuild(Build):
    """A build that holds the index's write lock from the start to ``commit`` or ``abort``."""

    keeps_text_vectors = True
    find_vector: FindVector = staticmethod(get_own_vector)
    """Returns the vector by which a document is found; may be set before the first write. It is called with the
    document as it will be read back, in the process that writes."""

    def __init__(self, folder: IndexFolder, lock_timeout: float) -> None:
        self._folder = folder
        self._write_lock = ExitStack()
        self._write_lock.enter_context(folder.write_lock(lock_timeout))
        try:
            with translate_os_errors(folder.root):
                folder.remove_all_but(folder.current_epoch())
                self._epoch_path = folder.create_epoch()
                self._index = fulltext_index.create_index(self._epoch_path / "index")
                # one thread keeps documents in the order of arrival, so that builds are reproducible
                self._writer = self._index.writer(BUILD_MEMORY_BYTES, 1)
                self._graph_writer = PhraseGraphWriter(self._epoch_path / "graph")
                self._vector_writer = VectorIndexWriter(self._epoch_path / "graph")
        except BaseException:
            folder.remove_all_but(folder.current_epoch())
            folder.remove_if_empty()
            self._write_lock.close()
            raise
        self._word_ids: Mapping[str, int] | None = None
        self._is_finished = False

    def set_words(self, word_ids: Mapping[str, int]) -> None:
        self._word_ids = self._graph_writer.forward_writer.word_ids = word_ids

    def write_prepared(self, prepared: Iterable[AnalysedDocument]) -> None:
        with translate_os_errors(self._folder.root):
            for analysed in prepared:
                stored, document = fulltext_index.repair_and_build_tantivy_document(analysed)
                if self._graph_writer.add(stored):
                    self._writer.delete_documents_by_term("id", stored.document.id)
                self._writer.add_document(document)
                self._vector_writer.add(stored.document.id, self.find_vector(stored))

    def write_text_vectors(self, batches: Iterable[NDArray[np.float32]]) -> None:
        with translate_os_errors(self._folder.root):
            self._vector_writer.add_text_vectors(batches)

    def commit(self, model: PhraseModel, info: IndexInfo) -> None:
        with translate_os_errors(self._folder.root):
            self._writer.commit()
            self._writer.wait_merging_threads()
            arrival_numbers = self._graph_writer.finish(model.phrase_ids, self._word_ids or model.word_ids)
            self._vector_writer.finish(arrival_numbers)
            (self._epoch_path / "model.npz").write_bytes(model.to_bytes())
            opstamp = fulltext_index.read_opstamp(self._epoch_path / "index")
            save_delta(self._load_previous_delta().start_epoch(opstamp), self._epoch_path / "delta")
            save_info(self._epoch_path, info)
            EpochFiles(self._folder, self._epoch_path).save_checksums()
            sync_folder(self._epoch_path)
            self._folder.switch_to(self._epoch_path.name)
            self._is_finished = True
            self._folder.remove_all_but(self._epoch_path.name)
        self._write_lock.close()

    def _load_previous_delta(self) -> Delta:
        """Return the delta of the current epoch; an empty one if there is no epoch, or one that cannot be read."""
        epoch = self._folder.current_epoch()
        try:
            return Delta() if epoch is None else load_committed_delta(self._folder.path / epoch)
        except READ_ERRORS:
            return Delta()

    def abort(self) -> None:
        if self._is_finished:
            return
        self._is_finished = True
        with suppress(OSError):  # what cannot be written is removed anyway
            self._graph_writer.close()
            self._vector_writer.close()
        del self._writer, self._index
        shutil.rmtree(self._epoch_path, ignore_errors=True)
        self._folder.remove_if_empty()
        self._write_lock.close()
