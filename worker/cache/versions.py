"""Epochs of indexes and versions and acls of documents, cached so that a cached answer costs the engine nothing.

The id of an answer depends on them. An entry is filled when it is first needed and overwritten by every write that
goes through the service:

* before the engine is written, the entries of the documents are marked *unsettled*; while an entry is marked, requests
  read the engine and leave the entry alone;
* after it, the new versions replace the marks, unless another write has marked them since, which may be a newer one. A
  writer that dies in between leaves marks, which expire: slower for a while, never wrong.

A new epoch changes the name of every entry, so no entry of an old epoch is read again. The commands of the shell write
the same entries (``indexer.indexing.notifications``); what any other program does to an index is noticed when the
entries expire (``epoch_ttl``, ``document_ttl``).

There are two entries for each document: one for callers who may read everything and one, which lives for ``acl_ttl``
only, for all others, so that a right which another program took away is gone after that time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from indexer.documents import AnalysedDocument
from indexer.engines.search_types import Groups
from indexer.errors import UnknownDocument
from indexer.indexing.notifications import (
    ACL_TTL_SECONDS,
    DOCUMENT_TTL_SECONDS,
    EPOCH_TTL_SECONDS,
    UNSETTLED,
    DocumentVersion,
    WriteListener,
    decode_version,
    encode_version,
    make_epoch_key,
    make_version_key,
)
from worker.access import Caller
from worker.cache.key_value import KeyValueStore
from worker.index_catalog import IndexCatalog


class VersionCache(WriteListener):
    """Epochs, versions and acls in a key-value store, read from the engine where they are missing."""

    def __init__(
        self,
        key_values: KeyValueStore,
        catalog: IndexCatalog,
        *,
        epoch_ttl: float = EPOCH_TTL_SECONDS,
        document_ttl: float = DOCUMENT_TTL_SECONDS,
        acl_ttl: float = ACL_TTL_SECONDS,
    ) -> None:
        self._key_values = key_values
        self._catalog = catalog
        self.epoch_ttl = epoch_ttl
        self.document_ttl = document_ttl
        self.acl_ttl = acl_ttl

    def get_epoch(self, index: str) -> str:
        """Return the current epoch; raise UnknownIndex."""
        key = make_epoch_key(index)
        cached = self._key_values.get([key])[0]
        if cached is not None:
            return cached.decode()
        epoch = self._catalog.open_reader(index).info.epoch
        self._key_values.set({key: epoch.encode()}, self.epoch_ttl)
        return epoch

    def get_readable_versions(
        self,
        index: str,
        epoch: str,
        ids: Sequence[str],
        groups: Groups = None,
        read_now: Sequence[AnalysedDocument] = (),
    ) -> dict[str, str]:
        """Return content versions by id; raise UnknownDocument unless all exist and these groups may read them."""
        versions = self.get_versions(index, epoch, ids, fresh=groups is not None, read_now=read_now)
        caller = Caller("", groups)
        missing = [id for id in ids if id not in versions or not caller.may_read(versions[id].acl)]
        if missing:
            raise UnknownDocument(index, *missing)
        return {id: versions[id].version for id in ids}

    def get_versions(
        self,
        index: str,
        epoch: str,
        ids: Sequence[str],
        *,
        fresh: bool = False,
        read_now: Sequence[AnalysedDocument] = (),
    ) -> dict[str, DocumentVersion]:
        """Return versions and acls by id, regardless of access rights; documents that do not exist are left out.

        ``fresh``: as they were at most ``acl_ttl`` seconds ago. ``read_now``: documents that a search has just found,
        which need not be read again. Fresh ones are: a search may be behind a right that was taken away.
        """
        unique_ids = list(dict.fromkeys(ids))
        entries = self._key_values.get([make_version_key(index, epoch, id, fresh) for id in unique_ids])
        cached = dict(zip(unique_ids, entries, strict=True))
        versions: dict[str, DocumentVersion] = {}
        unknown: list[str] = []
        for id, entry in cached.items():
            if entry is None or entry == UNSETTLED:
                unknown.append(id)
            elif (version := decode_version(entry)) is not None:
                versions[id] = version
        if unknown:
            missing = [id for id in unknown if cached[id] is None]
            documents = {} if fresh else {one.document.id: one for one in read_now if one.document.id in missing}
            unread = [id for id in unknown if id not in documents]
            documents |= self._catalog.fetch_documents(index, unread) if unread else {}
            fetched = {id: DocumentVersion.from_document(document) for id, document in documents.items()}
            new_entries = {make_version_key(index, epoch, id, fresh): encode_version(fetched.get(id)) for id in missing}
            self._key_values.set(new_entries, self.acl_ttl if fresh else self.document_ttl, only_new=True)
            versions |= fetched
        return versions

    def observe_epoch(self, index: str, epoch: str) -> None:
        """Update the cached epoch if a worker has read another one."""
        if self.get_epoch(index) != epoch:
            self.set_epoch(index, self._catalog.open_reader(index).info.epoch)

    def _set_values(self, values: Mapping[str, bytes], seconds: float) -> None:
        self._key_values.set(values, seconds)

    def _set_unless_newer(self, values: Mapping[str, bytes], sequence: int, write_name: bytes, seconds: float) -> None:
        self._key_values.set_unless_newer(values, sequence, write_name, seconds)

    def _delete_value(self, key: str) -> None:
        self._key_values.delete([key])

    def _publish(self, message: str) -> None:
        self._key_values.publish(message)
