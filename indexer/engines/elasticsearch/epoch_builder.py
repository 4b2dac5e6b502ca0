"""Build of a new epoch of an Elasticsearch index."""

from __future__ import annotations

import hashlib
import time
import uuid
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from elasticsearch import NotFoundError

from indexer.documents import AnalysedDocument
from indexer.engines.base import Build
from indexer.engines.elasticsearch.build_lock import BuildLock, make_heartbeat
from indexer.engines.elasticsearch.bulk_writer import BulkWriter
from indexer.engines.elasticsearch.connection import LONG_TIMEOUT
from indexer.engines.elasticsearch.mappings import (
    DELETED_NEW,
    build_deletion_action,
    build_document_index_body,
    build_model_index_body,
    build_vector_mapping,
    build_write_action,
    encode_source,
)
from indexer.engines.elasticsearch.shared_build import BuildNames, ElasticsearchJoinedBuild, encode_chunks
from indexer.engines.search_types import IndexInfo
from indexer.errors import IndexBusy, PhraseComError
from indexer.model.phrase_model import PhraseModel
from indexer.vectors import count_dimensions

if TYPE_CHECKING:
    from indexer.engines.elasticsearch.engine import ElasticsearchEngine

FORMAT = 1
"""Version of the index format."""


class ElasticsearchBuild(Build):
    """A build; the current epoch accepts no documents until ``commit`` or ``abort`` (see ``build_lock``).

    A later build of the same index takes over: this one then fails with IndexBusy.

    Documents, also those of other processes (``share``), are written through the build alias, which exists only while
    the build is open: writing to a deleted index by its own name would create it again. Removing the build alias
    decides the outcome: ``commit`` does it in the request that makes the new epoch current, ``abort`` before it deletes
    anything. So one cannot undo the other when the response to a request got lost and the client sends it again.
    """

    def __init__(self, engine: ElasticsearchEngine, index: str) -> None:
        self._engine, self._index = engine, index
        self._version = time.strftime("%Y%m%d%H%M%S-", time.gmtime()) + uuid.uuid4().hex[:8]
        names = BuildNames.make(engine, index, self._version)
        self._documents_index, self._model_index, self._build_alias, self._values_alias = names
        client = engine.connection.client
        with engine.connection.translate_errors():
            leftovers = engine.list_concrete_indexes(index, in_use=False)
            if leftovers:
                client.indices.delete(index=leftovers, ignore_unavailable=True)
            definition = build_document_index_body(engine.shards, engine.replicas)
            client.indices.create(index=self._documents_index, **definition, aliases={self._build_alias: {}})
            definition = build_model_index_body(engine.replicas, meta=make_heartbeat(engine.build_lease))
            client.indices.create(index=self._model_index, **definition, aliases={self._values_alias: {}})
            self._lock = BuildLock(engine, index, self._model_index, self._build_alias)
        self._marked_ids: set[str] = set()
        """Documents of ``_marks`` that this build has written."""
        self._has_vectors = False
        self._is_shared = False
        self._writer = BulkWriter(engine.connection)
        self._done = False
        try:
            with engine.connection.translate_errors():
                self._marks = engine.fetch_write_marks(index)
        except BaseException:
            self.abort()  # or the index would stay locked
            raise

    def share(self) -> ElasticsearchJoinedBuild:
        self._is_shared = True
        joined = ElasticsearchJoinedBuild(self._engine, self._index, self._version)
        joined.put_marks(self._marks)
        return joined

    def note_marked(self, ids: Iterable[str]) -> None:
        self._marked_ids.update(ids)

    @staticmethod
    def prepare_document(analysed: AnalysedDocument) -> tuple[str, bytes, int]:
        """Return the id, the encoded ``_source`` and the dimensions of the vector, 0 without one."""
        return analysed.document.id, encode_source(analysed), count_dimensions(analysed.document.vector or b"")

    def write_prepared(self, prepared: Iterable[tuple[str, bytes, int]]) -> None:
        for id, source, dimensions in prepared:
            if dimensions and not self._has_vectors and not self.is_attached:
                self._add_vector_field(dimensions)
            mark = self._marks.get(id)
            if mark is None:
                self._writer.put({"_index": self._build_alias, "_id": id, "_source": source})
            else:
                self._marked_ids.add(id)
                self._writer.put(build_write_action(self._build_alias, id, source, mark))

    def _add_vector_field(self, dimensions: int) -> None:
        """Let vectors of these dimensions be searched; without this field they are only stored."""
        client = self._engine.connection.client
        try:
            with self._engine.connection.translate_errors():
                client.indices.put_mapping(index=self._build_alias, properties=build_vector_mapping(dimensions))
        except NotFoundError:
            raise IndexBusy(f"another build of index {self._index!r} took over", fix="try again later") from None
        self._has_vectors = True

    def commit(self, model: PhraseModel, info: IndexInfo) -> None:
        for id in self._marks.keys() - self._marked_ids:
            self._writer.put(build_deletion_action(self._build_alias, id, DELETED_NEW, self._marks[id]))
        self._writer.finish()
        client = self._engine.connection.client.options(request_timeout=LONG_TIMEOUT)
        try:
            with self._engine.connection.translate_errors():
                with ThreadPoolExecutor(1) as pool:  # the server merges while we encode the model
                    merged = pool.submit(client.indices.forcemerge, index=self._documents_index, max_num_segments=1)
                    meta = self._save_model_and_make_meta(client, model) | {
                        "format": FORMAT, "info": asdict(info), "has_sequences": True,
                    }  # fmt: skip
                    client.indices.put_mapping(index=self._documents_index, meta=meta)
                    merged.result()
                if self._is_shared:  # free the room of the values that were deleted
                    client.indices.forcemerge(index=self._model_index, only_expunge_deletes=True)
                client.indices.put_settings(index=self._documents_index, settings={"refresh_interval": "1s"})
                client.indices.refresh(index=[self._documents_index, self._model_index])
                self._lock.require_unbroken()
                client.indices.update_aliases(actions=self._make_swap_actions())
        except NotFoundError:
            if not self._is_current(client):  # otherwise it succeeded, and the client retried after a lost response
                raise IndexBusy(f"another build of index {self._index!r} took over", fix="try again later") from None
        self._done = True
        self._lock.stop_heartbeat()

    def _is_current(self, client: Any) -> bool:
        """Return whether this build is the current epoch."""
        alias = self._engine.documents_alias(self._index)
        with self._engine.connection.translate_errors():
            return bool(client.indices.exists_alias(name=alias, index=self._documents_index))

    def abort(self) -> None:
        if self._done:
            return
        self._done = True
        self._writer.stop()
        try:
            with self._engine.connection.translate_errors():
                self._lock.release()
                client = self._engine.connection.client
                client.indices.update_aliases(actions=[self._make_remove_alias_action()])
                client.indices.delete(index=[self._documents_index, self._model_index], ignore_unavailable=True)
        except NotFoundError:  # the build alias is gone: the commit succeeded after all, or another build took over
            pass
        except PhraseComError:  # out of reach: the next build removes what is left
            pass

    def _make_remove_alias_action(self) -> dict[str, Any]:
        """Return the action that removes the build alias and fails the whole request if it is gone."""
        return {"remove": {"index": self._documents_index, "alias": self._build_alias, "must_exist": True}}

    def _save_model_and_make_meta(self, client: Any, model: PhraseModel) -> dict[str, Any]:
        """Write the model in chunks and return its entry for the ``_meta`` of the mapping."""
        data = model.to_bytes()
        chunks = encode_chunks(data)
        for number, chunk in enumerate(chunks):
            client.index(index=self._model_index, id=str(number), document={"data": chunk})
        checksum = hashlib.sha256(data).hexdigest()
        return {"model": {"index": self._model_index, "chunks": len(chunks), "sha256": checksum}}

    def _make_swap_actions(self) -> list[dict[str, Any]]:
        """Return the alias actions, applied atomically, that replace the current epoch by this build."""
        engine, index = self._engine, self._index
        return [
            *({"remove_index": {"index": name}} for name in engine.list_concrete_indexes(index, in_use=True)),
            self._make_remove_alias_action(),
            {"remove": {"index": self._model_index, "alias": self._values_alias}},
            {"add": {"index": self._documents_index, "alias": engine.documents_alias(index)}},
            {"add": {"index": self._model_index, "alias": engine.model_alias(index)}},
        ]
