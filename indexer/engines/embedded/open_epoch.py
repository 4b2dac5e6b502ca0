"""One epoch of an embedded index, open: shared by all of its readers, refreshed when something was added."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from functools import cached_property
from zipfile import BadZipFile

from tantivy import Searcher

from indexer.engines.base import IndexInfo
from indexer.engines.embedded import fulltext_index as store
from indexer.engines.embedded.delta import load_delta
from indexer.engines.embedded.forward_index import load_forward
from indexer.engines.embedded.index_folder import IndexFolder, Stamp, load_info, stamp
from indexer.engines.embedded.phrase_graph import load_graph
from indexer.engines.embedded.snapshot import Snapshot
from indexer.errors import EpochChanged
from indexer.model.phrase_model import PhraseModel

DAMAGE = (OSError, ValueError, KeyError, IndexError, TypeError, BadZipFile, EOFError)
"""What reading a broken file can raise."""


@dataclass(frozen=True)
class State:
    searcher: Searcher
    snapshot: Snapshot
    agrees: bool
    """Whether both are of the same writes; not so after a writer died between its two commits."""


class OpenEpoch:
    def __init__(self, folder: IndexFolder, version: str, pointer: Stamp) -> None:
        """``pointer`` is the stamp of the file ``current`` when it named this version."""
        self.folder, self.version, self._pointer = folder, version, pointer
        self.path = folder.path / version
        self._reloading = threading.Lock()
        try:
            self._info = load_info(folder, self.path)
            self.graph = load_graph(self.path / "graph")
            self.forward = load_forward(self.path / "graph", len(self.graph))
            self._index = store.open_index(self.path / "index")
            self.schema = self._index.schema
            self._seen: Stamp | None = None
            self._reload()
        except DAMAGE as error:
            raise self._changed_or_corrupt(error) from error

    def stands(self) -> bool:
        """Whether this is still the current epoch."""
        try:
            return stamp(self.folder.current) == self._pointer
        except OSError:
            return False

    def state(self) -> State:
        """What a read may see now."""
        if not self.stands():
            raise self._changed()
        try:
            if stamp(self.path / "delta") != self._seen:
                self._reload()
        except DAMAGE as error:
            raise self._changed_or_corrupt(error) from error
        return self._state

    @cached_property
    def model(self) -> PhraseModel:
        """Loaded when first asked for: a search needs none."""
        try:
            return PhraseModel.from_bytes((self.path / "model.npz").read_bytes())
        except DAMAGE as error:
            raise self._changed_or_corrupt(error) from error

    def row(self, phrase: str) -> int | None:
        number = self.model.phrase_ids.get(phrase)
        return self.graph.other_phrases.get(phrase) if number is None else number

    def info(self) -> IndexInfo:
        snapshot = self.state().snapshot
        return replace(self._info, documents=snapshot.live, drift=snapshot.drift)

    def _reload(self) -> None:
        with self._reloading:
            seen = stamp(self.path / "delta")
            if seen == self._seen:
                return
            delta = load_delta(self.path / "delta")
            self._index.reload()
            agrees = delta.opstamp == store.opstamp(self.path / "index")
            self._state = State(self._index.searcher(), Snapshot(self.graph, delta), agrees)
            self._seen = seen

    def _changed(self) -> EpochChanged:
        return EpochChanged(f"index {self.folder.name!r} was rebuilt", fix="open it again")

    def _changed_or_corrupt(self, error: BaseException) -> Exception:
        if isinstance(error, PermissionError) or "PermissionDenied" in str(error):
            return self.folder.forbidden()
        return self.folder.corrupt(error) if self.stands() else self._changed()
