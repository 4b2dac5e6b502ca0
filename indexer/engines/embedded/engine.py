"""The embedded engine: a folder of indexes."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

from indexer.documents import AnalysedDocument
from indexer.engines.base import Build, Engine, IndexInfo, Reader
from indexer.engines.embedded.epoch_builder import TantivyBuild
from indexer.engines.embedded.index_folder import IndexFolder, stamp, telling
from indexer.engines.embedded.open_epoch import OpenEpoch
from indexer.engines.embedded.reader import TantivyReader
from indexer.engines.embedded.updates import Changes
from indexer.errors import EpochChanged, UnknownIndex
from indexer.identifiers import check_index_name, is_id


class TantivyEngine(Engine):
    """``lock_timeout``: how many seconds a writer waits for another one before it gives up."""

    kind = "tantivy"

    def __init__(self, root: Path, *, lock_timeout: float = 10.0) -> None:
        self.address = str(root)
        self._root, self._lock_timeout = root, lock_timeout
        self._open: dict[str, OpenEpoch] = {}
        self._opening = threading.Lock()

    def version(self) -> str:
        return version("tantivy")

    def indexes(self) -> list[str]:
        with telling(self._root):
            if not self._root.exists():
                return []
            return sorted(path.name for path in self._root.iterdir() if (path / "current").is_file())

    def open(self, index: str) -> Reader:
        while True:
            try:
                return TantivyReader(self, self._epoch(self._folder(index)))
            except EpochChanged:  # replaced while being opened: take the new one
                continue

    def info(self, index: str) -> IndexInfo:
        return self.open(index).info  # the model is read when it is first asked for

    def build(self, index: str) -> Build:
        return TantivyBuild(self._folder(index), self._lock_timeout)

    def drop(self, index: str) -> None:
        folder = self._folder(index)
        with folder.writing(self._lock_timeout):
            if folder.version() is None:
                raise UnknownIndex(index)
            folder.remove()
        self._open.pop(index, None)

    def add(self, index: str, documents: Iterable[AnalysedDocument]) -> int:
        folder = self._folder(index)
        with folder.writing(self._lock_timeout), Changes(self._epoch(folder)) as changes:
            return changes.add(documents)

    def delete(self, index: str, ids: Sequence[str]) -> int:
        folder = self._folder(index)
        with folder.writing(self._lock_timeout), Changes(self._epoch(folder)) as changes:
            return changes.delete([name for name in dict.fromkeys(ids) if is_id(name)])

    def close(self) -> None:
        self._open.clear()

    def _folder(self, index: str) -> IndexFolder:
        return IndexFolder(self._root, check_index_name(index))

    def _epoch(self, folder: IndexFolder) -> OpenEpoch:
        """The current epoch, opened once and shared."""
        with self._opening:
            known = self._open.get(folder.name)
            if known is not None and known.stands():
                return known
            try:
                pointer = stamp(folder.current)
            except OSError:
                raise UnknownIndex(folder.name) from None
            version = folder.version()
            if version is None:
                raise UnknownIndex(folder.name)
            self._open[folder.name] = epoch = OpenEpoch(folder, version, pointer)
            return epoch
