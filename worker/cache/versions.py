"""What the key of an answer depends on, kept beside the jobs so that a cached answer costs the engine nothing.

Per index its epoch, per document its content version and acl. An entry is filled on the first
question about it and overwritten by every write that goes through here:

* before the engine is written, the documents' entries are marked *unsettled*; while a mark stands,
  questions read the engine and leave the entry alone;
* after it, the new versions take the marks' places. A writer that dies in between leaves marks,
  which expire: slower for a while, never wrong.

A new epoch changes the name of every entry, so nothing of the old epoch is read again. The shell
writes the same entries (``indexer.indexing.notifications``); what any other program does to an index is noticed
when they expire (``epoch_ttl``, ``document_ttl``).

Every entry stands there twice: once for callers who may read everything, and once, for ``rights_ttl``
only, for all others, so that a right taken away by another program is gone after that time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from indexer.engines.base import Groups
from indexer.errors import UnknownDocument
from indexer.indexing.notifications import (
    DOCUMENT_SECONDS,
    EPOCH_SECONDS,
    RIGHTS_SECONDS,
    UNSETTLED,
    UNSETTLED_SECONDS,
    Version,
    document_name,
    document_names,
    epoch_name,
    pack,
    unpack,
)
from worker.access import Caller
from worker.cache.key_value import Keys
from worker.index_catalog import Library


class Mirror:
    def __init__(
        self,
        keys: Keys,
        library: Library,
        *,
        epoch_ttl: float = EPOCH_SECONDS,
        document_ttl: float = DOCUMENT_SECONDS,
        rights_ttl: float = RIGHTS_SECONDS,
    ) -> None:
        self._keys = keys
        self._library = library
        self._epoch_ttl = epoch_ttl
        self._document_ttl = document_ttl
        self._rights_ttl = rights_ttl

    def epoch(self, index: str) -> str:
        """The current epoch; raises UnknownIndex."""
        name = epoch_name(index)
        known = self._keys.get([name])[0]
        if known is not None:
            return known.decode()
        epoch = self._library.current(index).info.epoch
        self._keys.set({name: epoch.encode()}, self._epoch_ttl)
        return epoch

    def versions(self, index: str, epoch: str, ids: Sequence[str], groups: Groups = None) -> dict[str, str]:
        """Content versions by id; raises UnknownDocument for one that is not there for these groups."""
        found = self.look_up(index, epoch, ids, fresh=groups is not None)
        caller = Caller("", groups)
        missing = [id for id in ids if id not in found or not caller.may_read(found[id].acl)]
        if missing:
            raise UnknownDocument(index, *missing)
        return {id: found[id].version for id in ids}

    def look_up(self, index: str, epoch: str, ids: Sequence[str], *, fresh: bool = False) -> dict[str, Version]:
        """Versions and acls, regardless of rights; what does not exist is left out.

        ``fresh``: as they were at most ``rights_ttl`` seconds ago.
        """
        wanted = list(dict.fromkeys(ids))
        known = dict(
            zip(wanted, self._keys.get([document_name(index, epoch, id, fresh) for id in wanted]), strict=True)
        )
        found: dict[str, Version] = {}
        unknown: list[str] = []
        for id, value in known.items():
            if value is None or value == UNSETTLED:
                unknown.append(id)
            elif (version := unpack(value)) is not None:
                found[id] = version
        if unknown:
            documents = self._library.fetch(index, unknown)
            fetched = {id: Version.of(document) for id, document in documents.items()}
            new = [id for id in unknown if known[id] is None]
            fill = {document_name(index, epoch, id, fresh): pack(fetched.get(id)) for id in new}
            self._keys.set(fill, self._rights_ttl if fresh else self._document_ttl, only_new=True)
            found |= fetched
        return found

    def writing(self, index: str, ids: Sequence[str]) -> None:
        """Call before the engine is written."""
        epoch = self.epoch(index)
        self._keys.set(dict.fromkeys(document_names(index, epoch, ids), UNSETTLED), UNSETTLED_SECONDS)

    def wrote(self, index: str, documents: Mapping[str, Version | None]) -> None:
        """Call when the write is visible; None for a document that was deleted."""
        epoch = self.epoch(index)
        for fresh, seconds in ((False, self._document_ttl), (True, self._rights_ttl)):
            values = {document_name(index, epoch, id, fresh): pack(version) for id, version in documents.items()}
            self._keys.set(values, seconds)
        self._keys.publish(f"index {index}")

    def saw_epoch(self, index: str, epoch: str) -> None:
        """A worker read this epoch: if it is another than is known, the known one is over."""
        if self.epoch(index) != epoch:
            self.new_epoch(index, self._library.current(index).info.epoch)

    def new_epoch(self, index: str, epoch: str) -> None:
        self._keys.set({epoch_name(index): epoch.encode()}, self._epoch_ttl)
        self._keys.publish(f"index {index}")
