"""A new epoch of an Elasticsearch index in the making."""

from __future__ import annotations

import base64
import hashlib
import time
import uuid
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from elasticsearch import NotFoundError

from indexer.documents import AnalysedDocument
from indexer.engines.base import Build, IndexInfo
from indexer.engines.elasticsearch import query_builder
from indexer.engines.elasticsearch.build_lock import Hold, promise
from indexer.engines.elasticsearch.bulk_writer import Feed
from indexer.engines.elasticsearch.connection import LONG
from indexer.errors import IndexBusy, PhraseComError
from indexer.model.phrase_model import PhraseModel

if TYPE_CHECKING:
    from indexer.engines.elasticsearch.engine import ElasticsearchEngine

FORMAT = 1
MODEL_CHUNK = 8_000_000


class ElasticsearchBuild(Build):
    """The current epoch takes no documents from the start to ``commit`` or ``abort`` (see ``holding``).

    A later build of the same name takes over: this one then ends with IndexBusy.

    Documents are written through an alias of the build's own, its door, so that nothing brings back an index
    that was removed. Whoever takes the door away decides what becomes of the build: ``commit`` does so in the very
    step that shows the new epoch, ``abort`` before it removes anything. So an answer that got lost on its way
    cannot make one undo the other.
    """

    def __init__(self, engine: ElasticsearchEngine, index: str) -> None:
        self._engine, self._index = engine, index
        version = time.strftime("%Y%m%d%H%M%S-", time.gmtime()) + uuid.uuid4().hex[:8]
        self._documents = f"{engine.alias(index)}.{version}"
        self._model = f"{engine.model_alias(index)}.{version}"
        self._door = f"{self._documents}.building"
        client = engine.connection.client
        with engine.connection.telling():
            leftovers = engine.concretes(index, in_use=False)
            if leftovers:
                client.indices.delete(index=leftovers, ignore_unavailable=True)
            definition = query_builder.document_index(engine.shards, engine.replicas)
            client.indices.create(index=self._documents, **definition, aliases={self._door: {}})
            alive = promise(engine.build_lease)
            client.indices.create(index=self._model, **query_builder.model_index(engine.replicas, alive))
            self._hold = Hold(engine, index, self._model, self._door)
        self._feed = Feed(engine.connection)
        self._done = False

    @staticmethod
    def prepare(analysed: AnalysedDocument) -> tuple[str, bytes]:
        """Its id, and its source ready to be sent."""
        return analysed.document.id, query_builder.document_bytes(analysed)

    def write_prepared(self, prepared: Iterable[tuple[str, bytes]]) -> None:
        for name, source in prepared:
            self._feed.put({"_index": self._door, "_id": name, "_source": source})

    def commit(self, model: PhraseModel, info: IndexInfo) -> None:
        self._feed.finish()
        client = self._engine.connection.client.options(request_timeout=LONG)
        try:
            with self._engine.connection.telling():
                with ThreadPoolExecutor(1) as pool:  # merging is the server's work, the model's bytes are ours
                    merged = pool.submit(client.indices.forcemerge, index=self._documents, max_num_segments=1)
                    meta = self._save_model(client, model) | {"format": FORMAT, "info": asdict(info)}
                    client.indices.put_mapping(index=self._documents, meta=meta)
                    merged.result()
                client.indices.put_settings(index=self._documents, settings={"refresh_interval": "1s"})
                client.indices.refresh(index=[self._documents, self._model])
                self._hold.check()
                client.indices.update_aliases(actions=self._swap())
        except NotFoundError:
            if not self._shown(client):  # else it was done, and only its answer lost: the client asked again
                raise IndexBusy(f"another build of index {self._index!r} took over", fix="try again later") from None
        self._done = True
        self._hold.end()

    def _shown(self, client: Any) -> bool:
        """Whether this build is the current epoch."""
        with self._engine.connection.telling():
            return bool(client.indices.exists_alias(name=self._engine.alias(self._index), index=self._documents))

    def abort(self) -> None:
        if self._done:
            return
        self._done = True
        self._feed.stop()
        try:
            with self._engine.connection.telling():
                self._hold.give_up()
                client = self._engine.connection.client
                client.indices.update_aliases(actions=[self._no_door()])
                client.indices.delete(index=[self._documents, self._model], ignore_unavailable=True)
        except NotFoundError:  # the door is gone: shown after all, or another build took over
            pass
        except PhraseComError:  # out of reach: the next build removes what is left
            pass

    def _no_door(self) -> dict[str, Any]:
        return {"remove": {"index": self._documents, "alias": self._door, "must_exist": True}}

    def _save_model(self, client: Any, model: PhraseModel) -> dict[str, Any]:
        data = model.to_bytes()
        starts = range(0, len(data), MODEL_CHUNK)
        for number, start in enumerate(starts):
            chunk = base64.b64encode(data[start : start + MODEL_CHUNK]).decode("ascii")
            client.index(index=self._model, id=str(number), document={"data": chunk})
        checksum = hashlib.sha256(data).hexdigest()
        return {"model": {"index": self._model, "chunks": len(starts), "sha256": checksum}}

    def _swap(self) -> list[dict[str, Any]]:
        """One step for readers: the new epoch comes in and the old one goes."""
        engine, index = self._engine, self._index
        return [
            *({"remove_index": {"index": name}} for name in engine.concretes(index, in_use=True)),
            self._no_door(),
            {"add": {"index": self._documents, "alias": engine.alias(index)}},
            {"add": {"index": self._model, "alias": engine.model_alias(index)}},
        ]
