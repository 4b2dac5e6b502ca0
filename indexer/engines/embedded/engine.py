"""The embedded engine: a folder of indexes, opened and written without a server."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from indexer.documents import AnalysedDocument
from indexer.engines.base import Build, Engine, Reader
from indexer.engines.embedded.checksums import EpochFiles
from indexer.engines.embedded.epoch_builder import EmbeddedBuild
from indexer.engines.embedded.index_folder import IndexFolder, load_info, read_stamp, translate_os_errors
from indexer.engines.embedded.open_epoch import READ_ERRORS, OpenEpoch
from indexer.engines.embedded.reader import EmbeddedReader
from indexer.engines.embedded.updates import UpdateSession, load_committed_delta
from indexer.engines.search_types import IndexInfo
from indexer.engines.write_order import (
    ClaimCheck,
    WriteResult,
    get_first_sequence_of_generation,
    get_write_generation_of,
    skip_claim_check,
)
from indexer.errors import EpochChanged, UnknownIndex
from indexer.identifiers import check_index_name
from indexer.progress import Progress, no_progress


class EmbeddedEngine(Engine):
    """The indexes below one folder.

    ``lock_timeout``: seconds that a writer waits for another one before it raises IndexBusy.
    """

    kind = "tantivy"

    def __init__(self, root: Path, *, lock_timeout: float = 10.0) -> None:
        self.address = str(root)
        self._root, self._lock_timeout = root, lock_timeout
        self._open_epochs: dict[str, OpenEpoch] = {}
        self._open_lock = threading.Lock()

    def get_version(self) -> str:
        return version("tantivy")

    def list_indexes(self) -> list[str]:
        with translate_os_errors(self._root):
            if not self._root.exists():
                return []
            return sorted(path.name for path in self._root.iterdir() if (path / "current").is_file())

    def open_reader(self, index: str) -> Reader:
        while True:
            try:
                return EmbeddedReader(self, self._get_current_epoch(self._get_index_folder(index)))
            except EpochChanged:  # replaced while it was opened: take the new one
                continue

    def get_info(self, index: str) -> IndexInfo:
        return self.open_reader(index).info  # the model is read on first use

    def check_files(self, index: str, progress: Progress = no_progress) -> bool:
        folder = self._get_index_folder(index)
        while True:
            epoch = folder.current_epoch()
            if epoch is None:
                raise UnknownIndex(index)
            try:  # without opening the epoch: tantivy may end the process if its files are damaged
                load_info(folder, folder.path / epoch)
                files = EpochFiles(folder, folder.path / epoch)
                if files.have_checksums:
                    files.compare(trust_stamps=False, progress=progress)
                return files.have_checksums
            except READ_ERRORS as error:
                if epoch == folder.current_epoch():
                    raise folder.to_read_error(error) from error

    def start_build(self, index: str) -> Build:
        return EmbeddedBuild(self._get_index_folder(index), self._lock_timeout)

    def delete_index(self, index: str) -> None:
        folder = self._get_index_folder(index)
        with folder.write_lock(self._lock_timeout):
            if folder.current_epoch() is None:
                raise UnknownIndex(index)
            folder.remove()
        self._open_epochs.pop(index, None)

    def add_documents(
        self,
        index: str,
        documents: Iterable[AnalysedDocument],
        *,
        sequence: int | None = None,
        check_claim: ClaimCheck = skip_claim_check,
    ) -> WriteResult:
        with self._open_update(index) as session:
            return session.add(documents, self._choose_sequence(index, sequence), check_claim)

    def delete_documents(self, index: str, ids: Sequence[str], *, sequence: int | None = None) -> WriteResult:
        with self._open_update(index) as session:
            return session.delete(list(dict.fromkeys(ids)), self._choose_sequence(index, sequence))

    def get_write_generation(self, index: str) -> int:
        return self._get_index_folder(index).read_generation()

    def start_write_generation(self, index: str) -> int:
        folder = self._get_index_folder(index)
        marks = self._get_current_epoch(folder).current_state().snapshot.delta.marks
        return folder.start_write_generation(
            get_write_generation_of(max((mark.sequence for mark in marks.values()), default=0))
        )

    def close(self) -> None:
        self._open_epochs.clear()

    def _choose_sequence(self, index: str, sequence: int | None) -> int:
        return get_first_sequence_of_generation(self.start_write_generation(index)) if sequence is None else sequence

    @contextmanager
    def _open_update(self, index: str) -> Iterator[UpdateSession]:
        """Yield a writer of the current epoch, under the write lock. Raise CorruptIndex for broken files."""
        folder = self._get_index_folder(index)
        with folder.write_lock(self._lock_timeout):
            epoch = self._get_current_epoch(folder)
            try:
                delta = load_committed_delta(epoch.path)
            except READ_ERRORS as error:
                raise epoch.to_read_error(error) from error
            with UpdateSession(epoch, delta) as session:
                yield session

    def _get_index_folder(self, index: str) -> IndexFolder:
        return IndexFolder(self._root, check_index_name(index))

    def _get_current_epoch(self, folder: IndexFolder) -> OpenEpoch:
        """Return the current epoch, opened once and shared. Raise UnknownIndex if there is none."""
        with self._open_lock:
            epoch = self._open_epochs.get(folder.name)
            if epoch is not None and epoch.is_current():
                return epoch
            try:
                current_stamp = read_stamp(folder.current_file)
            except OSError:
                raise UnknownIndex(folder.name) from None
            epoch_name = folder.current_epoch()
            if epoch_name is None:
                raise UnknownIndex(folder.name)
            self._open_epochs[folder.name] = epoch = OpenEpoch(folder, epoch_name, current_stamp)
            return epoch
