"""The Elasticsearch engine.

    PREFIX + NAME                  alias of the current epoch's documents
    PREFIX + NAME.VERSION          an epoch's documents; what is known of it stands in the mapping's _meta
    PREFIX + NAME.model            alias of the current epoch's phrase model
    PREFIX + NAME.model.VERSION    its bytes, in chunks

Both aliases move, and the former epoch is removed, in one request.
"""

from __future__ import annotations

import base64
import hashlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, TypeVar

from elasticsearch import NotFoundError

from indexer.documents import AnalysedDocument
from indexer.engines.attached_source import Source
from indexer.engines.attachment import Attached
from indexer.engines.base import Build, Engine, IndexInfo, Reader
from indexer.engines.elasticsearch import query_builder
from indexer.engines.elasticsearch.attached_source import ElasticsearchSource, cluster_of
from indexer.engines.elasticsearch.build_lock import LEASE, writable
from indexer.engines.elasticsearch.bulk_writer import CHUNK, FEW_RETRIES, write_all
from indexer.engines.elasticsearch.connection import Connection, PartialAnswer
from indexer.engines.elasticsearch.epoch_builder import FORMAT, ElasticsearchBuild
from indexer.engines.elasticsearch.reader import WAITS, ElasticsearchReader
from indexer.errors import CorruptIndex, IndexBusy, UnknownIndex, UnsupportedVersion
from indexer.identifiers import check_index_name, is_id
from indexer.model.phrase_model import PhraseModel

T = TypeVar("T")


@dataclass(frozen=True)
class _Epoch:
    info: IndexInfo
    model: PhraseModel


class ElasticsearchEngine(Engine):
    """``prefix`` keeps our indexes apart from others; further options go to the client (``api_key``, ...)."""

    kind = "elasticsearch"

    def __init__(
        self,
        url: str,
        *,
        prefix: str = "phrasecom-",
        shards: int = 1,
        replicas: int = 0,
        timeout: float = 30.0,
        build_lease: float = LEASE,
        query_seconds: float = 20.0,
        pause: float = 0.0,
        **client_options: Any,
    ) -> None:
        self.address, self.prefix = url, prefix
        self.shards, self.replicas = shards, replicas
        self.build_lease = build_lease
        self.query_seconds = query_seconds
        self.connection = Connection(url, timeout, **client_options)
        self.connection.hang.pause = pause
        self._epochs: dict[str, _Epoch] = {}
        self._abouts: dict[str, tuple[str, Mapping[str, Any]]] = {}
        self._loading = threading.Lock()
        self._sources: dict[str, ElasticsearchSource] = {}
        self._cluster_name: str | None = None

    def version(self) -> str:
        return self.connection.version()

    def ping(self) -> None:
        self.connection.ping()

    def alias(self, index: str) -> str:
        return self.prefix + check_index_name(index)

    def model_alias(self, index: str) -> str:
        return f"{self.alias(index)}.model"

    def indexes(self) -> list[str]:
        self.version()
        with self.connection.telling():
            found = self.connection.client.indices.get_alias(name=f"{self.prefix}*").body
        names = {alias[len(self.prefix) :] for about in found.values() for alias in about["aliases"]}
        return sorted(name for name in names if "." not in name)

    def concretes(self, index: str, *, in_use: bool) -> list[str]:
        """The concrete indexes behind the name's aliases, or those that crashed builds left."""
        ours = {self.alias(index), self.model_alias(index)}
        found = self.connection.client.indices.get_alias(index=f"{self.alias(index)}.*", expand_wildcards="all").body
        return sorted(name for name, about in found.items() if bool(ours & set(about["aliases"])) == in_use)

    def open(self, index: str) -> Reader:
        def reader(concrete: str, seen: Mapping[str, Any]) -> Reader:
            epoch = self._epoch(index, concrete)
            return ElasticsearchReader(self, concrete, _current(epoch.info, seen), epoch.model)

        return self._on_current(index, reader)

    def info(self, index: str) -> IndexInfo:
        def told(concrete: str, seen: Mapping[str, Any]) -> IndexInfo:
            return _current(IndexInfo(**self._about(index, concrete)["info"]), seen)

        return self._on_current(index, told)

    def _on_current(self, index: str, step: Callable[[str, Mapping[str, Any]], T]) -> T:
        """Run a step on the concrete index of the current epoch and its overview, or on those of the next one."""
        alias = self.alias(index)
        self.version()
        for wait in WAITS:
            try:
                with self.connection.telling():
                    seen = self.connection.whole(
                        self.connection.client.search(index=alias, body=query_builder.overview()).body
                    )
                    return step(self._concrete(alias, seen), seen)
            except NotFoundError as error:
                if _missing(error) == alias:
                    raise UnknownIndex(index) from None
            except PartialAnswer:
                if wait is None:
                    raise
            time.sleep(wait or 0)  # replaced while being opened: take the new one
        raise IndexBusy(f"index {index!r} is being rebuilt over and over", fix="try again later")

    def source(self, info: IndexInfo) -> Source | None:
        attached = Attached.of(info)
        if attached is None or attached.cluster != self._cluster():
            return None
        known = self._sources.get(info.name)
        if known is None or known.attached != attached:
            known = self._sources[info.name] = ElasticsearchSource(self, attached)
        return known

    def _cluster(self) -> str:
        if self._cluster_name is None:
            with self.connection.telling():
                self._cluster_name = cluster_of(self.connection)
        return self._cluster_name

    def build(self, index: str) -> Build:
        check_index_name(index)
        self.version()
        return ElasticsearchBuild(self, index)

    def drop(self, index: str) -> None:
        self._writable(index)
        with self.connection.telling():
            self.connection.client.indices.delete(index=self.concretes(index, in_use=True), ignore_unavailable=True)

    def add(self, index: str, documents: Iterable[AnalysedDocument]) -> int:
        alias = self._writable(index)
        return self._write(alias, self._additions(alias, documents), ("created", "updated"))

    def delete(self, index: str, ids: Sequence[str]) -> int:
        alias = self._writable(index)
        wanted = [name for name in dict.fromkeys(ids) if is_id(name)]
        actions = ({"_op_type": "delete", "_index": alias, "_id": name} for name in wanted)
        return self._write(alias, actions, ("deleted",))

    def time_requests(self, took: Callable[[float], None]) -> None:
        self.connection.time_requests(took)

    def close(self) -> None:
        self.connection.client.close()

    def _writable(self, index: str) -> str:
        self.alias(index)
        self.version()
        return writable(self, index)

    def _write(self, alias: str, actions: Iterable[dict[str, Any]], counted: tuple[str, ...]) -> int:
        try:
            written = sum(result in counted for result, _ in write_all(self.connection, actions, FEW_RETRIES))
        finally:
            with self.connection.telling():
                self.connection.client.options(ignore_status=404).indices.refresh(index=alias)
        return written

    def _additions(self, alias: str, documents: Iterable[AnalysedDocument]) -> Iterator[dict[str, Any]]:
        """Index actions that say whether a document of the epoch is replaced, so that drift can be told."""
        waiting = iter(documents)
        while batch := list(islice(waiting, CHUNK)):
            ids = [analysed.document.id for analysed in batch]
            there = self._states(alias, [name for name in ids if is_id(name)])
            for analysed in batch:
                name = analysed.document.id
                source = query_builder.document_bytes(analysed, there.get(name, "new"))
                yield {"_index": alias, "_id": name, "_source": source}

    def _states(self, alias: str, ids: list[str]) -> dict[str, str]:
        """For each id that is there, how it will stand once it is written again."""
        if not ids:
            return {}
        documents = self.connection.client.mget(index=alias, ids=ids, source=["added"]).body["docs"]
        return {d["_id"]: d["_source"].get("added", "replaced") for d in documents if d.get("found")}

    def _concrete(self, alias: str, seen: Mapping[str, Any]) -> str:
        buckets = seen["aggregations"]["index"]["buckets"]
        if buckets:
            return str(buckets[0]["key"])
        return str(next(iter(self.connection.client.indices.get_alias(name=alias).body)))  # no document names it

    def _epoch(self, index: str, concrete: str) -> _Epoch:
        """Loaded once and shared by all readers of it."""
        with self._loading:
            known = self._epochs.get(concrete)
            if known is None:
                known = self._load(index, concrete)
                self._epochs = {c: e for c, e in self._epochs.items() if e.info.name != index} | {concrete: known}
            return known

    def _about(self, index: str, concrete: str) -> Mapping[str, Any]:
        """What the mapping of an epoch's documents says of it; looked up once."""
        known = self._abouts.get(index)
        if known is None or known[0] != concrete:
            mapping = self.connection.client.indices.get_mapping(index=concrete).body[concrete]["mappings"]
            self._abouts[index] = known = (concrete, mapping.get("_meta", {}))
        meta = known[1]
        if meta.get("format") != FORMAT:
            raise UnsupportedVersion(
                f"index {index!r} has format {meta.get('format')}, this version reads {FORMAT}",
                fix=f"rebuild it with: phrasecom index PATH --index {index}",
            )
        return meta

    def _load(self, index: str, concrete: str) -> _Epoch:
        client = self.connection.client
        meta = self._about(index, concrete)
        stored = meta["model"]
        chunks = [client.get(index=stored["index"], id=str(n)).body["_source"]["data"] for n in range(stored["chunks"])]
        data = b"".join(base64.b64decode(chunk) for chunk in chunks)
        if hashlib.sha256(data).hexdigest() != stored["sha256"]:
            raise CorruptIndex(
                f"the phrase model of index {index!r} is damaged",
                fix=f"rebuild it with: phrasecom index PATH --index {index}",
            )
        return _Epoch(IndexInfo(**meta["info"]), PhraseModel.from_bytes(data))


def _missing(error: NotFoundError) -> str:
    """The index that was not found."""
    try:
        return str(error.body["error"]["root_cause"][0]["index"])
    except (LookupError, TypeError):
        return ""


def _current(info: IndexInfo, seen: Mapping[str, Any]) -> IndexInfo:
    """The epoch's info with what has changed since."""
    live = seen["hits"]["total"]["value"]
    states = {bucket["key"]: bucket["doc_count"] for bucket in seen["aggregations"]["added"]["buckets"]}
    new, replaced = states.get("new", 0), states.get("replaced", 0)
    deleted = info.documents - (live - new)
    return replace(info, documents=live, drift=(new + replaced + deleted) / max(info.documents, 1))
