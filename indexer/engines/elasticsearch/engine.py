"""The Elasticsearch engine.

    PREFIX + NAME                  alias of the current epoch's documents
    PREFIX + NAME.VERSION          an epoch's documents; its description is in the mapping's _meta
    PREFIX + NAME.model            alias of the current epoch's phrase model
    PREFIX + NAME.model.VERSION    its bytes, in chunks
    PREFIX + .generations          the generations of sequence numbers (``write_order``) of all indexes

Both aliases move, and the previous epoch is removed, in one request.
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
from indexer.engines.attached_source import AttachedSource
from indexer.engines.attachment import ATTACHMENT_SETTING, Attachment
from indexer.engines.base import Build, Engine, Reader
from indexer.engines.elasticsearch import query_builder
from indexer.engines.elasticsearch.attached_source import ElasticsearchSource, fetch_cluster_id
from indexer.engines.elasticsearch.build_lock import BUILD_LEASE_SECONDS, require_writable_alias
from indexer.engines.elasticsearch.bulk_writer import CHUNK_ACTIONS, UPDATE_RETRIES, send_bulk_actions
from indexer.engines.elasticsearch.connection import ElasticsearchConnection, PartialResponse
from indexer.engines.elasticsearch.epoch_builder import FORMAT, ElasticsearchBuild
from indexer.engines.elasticsearch.mappings import (
    DELETED,
    DELETED_NEW,
    DELETION_MARKERS,
    SEQUENCE_FIELDS,
    build_deletion_action,
    build_write_action,
    encode_source,
    parse_write_mark,
)
from indexer.engines.elasticsearch.reader import RETRY_WAITS, ElasticsearchReader
from indexer.engines.elasticsearch.shared_build import ElasticsearchJoinedBuild
from indexer.engines.elasticsearch.write_generations import WriteGenerations
from indexer.engines.joined_build import JoinedBuild
from indexer.engines.search_types import IndexInfo
from indexer.engines.write_order import (
    MARK_SECONDS,
    ClaimCheck,
    WriteMark,
    WriteResult,
    get_first_sequence_of_generation,
    get_write_generation_of,
    skip_claim_check,
)
from indexer.errors import CorruptIndex, IndexBusy, UnknownIndex, UnsupportedVersion
from indexer.identifiers import check_index_name, is_document_id
from indexer.model.phrase_model import PhraseModel

T = TypeVar("T")


@dataclass(frozen=True)
class _Epoch:
    """An epoch as loaded; ``info`` is that of the build."""

    info: IndexInfo
    model: PhraseModel


class ElasticsearchEngine(Engine):
    """An Elasticsearch cluster.

    Parameters
    ----------
    url
        Address of the cluster; several, separated by commas, for several nodes.
    prefix
        Start of the names of all our indexes and aliases, which keeps them apart from others.
    timeout, query_seconds
        Seconds to wait for a response, and that Elasticsearch may spend on a search.
    build_lease
        Seconds after its last heartbeat that a build counts as dead.
    breaker_pause
        Seconds for which requests fail at once after one timed out; 0: never.
    client_options
        Passed on to the client (``api_key``, ``ca_certs``, ...).
    """

    kind = "elasticsearch"

    def __init__(
        self,
        url: str,
        *,
        prefix: str = "phrasecom-",
        shards: int = 1,
        replicas: int = 0,
        timeout: float = 30.0,
        build_lease: float = BUILD_LEASE_SECONDS,
        query_seconds: float = 20.0,
        breaker_pause: float = 0.0,
        **client_options: Any,
    ) -> None:
        self.address, self.prefix = url, prefix
        self.shards, self.replicas = shards, replicas
        self.build_lease = build_lease
        self.query_seconds = query_seconds
        self.connection = ElasticsearchConnection(url, timeout, **client_options)
        self.connection.breaker.pause_seconds = breaker_pause
        self._generations = WriteGenerations(self.connection, prefix, replicas)
        self._epochs: dict[str, _Epoch] = {}
        self._meta_by_index: dict[str, tuple[str, Mapping[str, Any]]] = {}
        self._loading = threading.Lock()
        self._sources: dict[str, ElasticsearchSource] = {}
        self._cluster_id: str | None = None

    def get_version(self) -> str:
        return self.connection.get_version()

    def ping(self) -> None:
        self.connection.ping()

    def documents_alias(self, index: str) -> str:
        """Return the alias of the current epoch's documents; raise BadParameter for a bad name."""
        return self.prefix + check_index_name(index)

    def model_alias(self, index: str) -> str:
        """Return the alias of the current epoch's phrase model."""
        return f"{self.documents_alias(index)}.model"

    def list_indexes(self) -> list[str]:
        self.get_version()
        with self.connection.translate_errors():
            concretes = self.connection.client.indices.get_alias(name=f"{self.prefix}*").body
        names = {alias[len(self.prefix) :] for concrete in concretes.values() for alias in concrete["aliases"]}
        return sorted(name for name in names if "." not in name)

    def list_concrete_indexes(self, index: str, *, in_use: bool) -> list[str]:
        """Return the concrete indexes behind the aliases of an index, or those of unfinished builds."""
        current = {self.documents_alias(index), self.model_alias(index)}
        pattern = f"{self.documents_alias(index)}.*"
        concretes = self.connection.client.indices.get_alias(index=pattern, expand_wildcards="all").body
        return sorted(name for name, body in concretes.items() if bool(current & set(body["aliases"])) == in_use)

    def open_reader(self, index: str) -> Reader:
        def make_reader(concrete: str, overview: Mapping[str, Any]) -> Reader:
            epoch = self._get_epoch(index, concrete)
            info = _update_counts_from_overview(epoch.info, overview)
            return ElasticsearchReader(self, concrete, overview["_shards"]["total"], info, epoch.model)

        return self._run_on_current_epoch(index, make_reader)

    def get_info(self, index: str) -> IndexInfo:
        def make_info(concrete: str, overview: Mapping[str, Any]) -> IndexInfo:
            return _update_counts_from_overview(IndexInfo(**self._get_epoch_meta(index, concrete)["info"]), overview)

        return self._run_on_current_epoch(index, make_info)

    def _run_on_current_epoch(self, index: str, step: Callable[[str, Mapping[str, Any]], T]) -> T:
        """Call ``step`` with the current epoch's concrete index and overview; retry if the epoch is replaced."""
        alias = self.documents_alias(index)
        self.get_version()
        for wait in RETRY_WAITS:
            try:
                with self.connection.translate_errors():
                    response = self.connection.client.search(index=alias, body=query_builder.build_overview_search())
                    overview = self.connection.require_complete(response.body)
                    return step(self._find_concrete_index(alias, overview), overview)
            except NotFoundError as error:
                if _get_missing_index_name(error) == alias:
                    raise UnknownIndex(index) from None
            except PartialResponse:
                if wait is None:
                    raise
            time.sleep(wait or 0)  # replaced while being opened: take the new one
        raise IndexBusy(f"index {index!r} keeps being rebuilt", fix="try again later")

    def attached_source(self, info: IndexInfo) -> AttachedSource | None:
        attachment = Attachment.from_info(info)
        if attachment is None or attachment.cluster != self._get_cluster_id():
            return None
        source = self._sources.get(info.name)
        if source is None or source.attachment != attachment:
            source = self._sources[info.name] = ElasticsearchSource(self, attachment, info.name)
        return source

    def store_attachment(self, index: str, epoch: str, attachment: Attachment) -> None:
        def store(concrete: str, overview: Mapping[str, Any]) -> None:
            meta = self._fetch_epoch_meta(concrete)
            if meta["info"]["epoch"] != epoch:
                return
            meta["info"]["settings"][ATTACHMENT_SETTING] = attachment.to_setting()
            self.connection.client.indices.put_mapping(index=concrete, meta=meta)
            self._meta_by_index[index] = (concrete, meta)
            with self._loading:
                if loaded := self._epochs.get(concrete):
                    self._epochs[concrete] = replace(loaded, info=IndexInfo(**meta["info"]))

        self._run_on_current_epoch(index, store)

    def fetch_attachment(self, index: str) -> Attachment | None:
        """Return what the index keeps about its source now, whichever process stored it."""

        def fetch(concrete: str, overview: Mapping[str, Any]) -> Attachment | None:
            return Attachment.from_info(IndexInfo(**self._fetch_epoch_meta(concrete)["info"]))

        return self._run_on_current_epoch(index, fetch)

    def _get_cluster_id(self) -> str:
        if self._cluster_id is None:
            with self.connection.translate_errors():
                self._cluster_id = fetch_cluster_id(self.connection)
        return self._cluster_id

    def start_build(self, index: str) -> Build:
        check_index_name(index)
        self.get_version()
        return ElasticsearchBuild(self, index)

    def join_build(self, index: str, version: str) -> JoinedBuild:
        return ElasticsearchJoinedBuild(self, check_index_name(index), version)

    def delete_index(self, index: str) -> None:
        self._require_writable_alias(index)
        with self.connection.translate_errors():
            concretes = self.list_concrete_indexes(index, in_use=True)
            self.connection.client.indices.delete(index=concretes, ignore_unavailable=True)

    def add_documents(
        self,
        index: str,
        documents: Iterable[AnalysedDocument],
        *,
        sequence: int | None = None,
        check_claim: ClaimCheck = skip_claim_check,
    ) -> WriteResult:
        alias = self._require_writable_alias(index)
        mark = self._prepare_write_mark(index, sequence)
        written, superseded = self._write_and_find_superseded(
            alias, self._make_index_actions(alias, documents, mark, check_claim)
        )
        return WriteResult(len(written), mark.sequence, superseded)

    def delete_documents(self, index: str, ids: Sequence[str], *, sequence: int | None = None) -> WriteResult:
        alias = self._require_writable_alias(index)
        mark = self._prepare_write_mark(index, sequence)
        valid_ids = [id for id in dict.fromkeys(ids) if is_document_id(id)]
        markers: dict[str, str | None] = {}

        def make_actions() -> Iterator[dict[str, Any]]:
            for batch in _split_into_batches(valid_ids):
                markers.update(self._fetch_added_markers(alias, batch))
                for id in batch:
                    marker = DELETED if _is_of_epoch(markers, id) else DELETED_NEW
                    yield build_deletion_action(alias, id, marker, mark)

        written, superseded = self._write_and_find_superseded(alias, make_actions())
        existed = [id for id in written if id in markers and markers[id] not in DELETION_MARKERS]
        missing = tuple(id for id in dict.fromkeys(ids) if id not in superseded.union(existed))
        return WriteResult(len(existed), mark.sequence, superseded, missing)

    def get_write_generation(self, index: str) -> int:
        return self._generations.get_last(check_index_name(index))

    def start_write_generation(self, index: str) -> int:
        check_index_name(index)
        with self.connection.translate_errors():
            last_written = get_write_generation_of(self._fetch_last_sequence(index))
        return self._generations.start(index, last_written)

    def fetch_write_marks(self, index: str) -> dict[str, WriteMark]:
        """Return the marks of recent writes by id, which a new epoch takes over; none if there is no index."""
        marks: dict[str, WriteMark] = {}
        alias, since, after = self.documents_alias(index), time.time() - MARK_SECONDS, None
        while True:
            body = query_builder.build_mark_scan_search(after, CHUNK_ACTIONS, since)
            response = self.connection.client.search(index=alias, body=body, ignore_unavailable=True)
            hits = self.connection.require_complete(response.body)["hits"]["hits"]
            marks |= {hit["sort"][0]: parse_write_mark(hit["_source"]) for hit in hits}
            if len(hits) < CHUNK_ACTIONS:
                return marks
            after = hits[-1]["sort"][0]

    def time_requests(self, record_seconds: Callable[[float], None]) -> None:
        self.connection.time_requests(record_seconds)

    def close(self) -> None:
        self.connection.client.close()

    def _require_writable_alias(self, index: str) -> str:
        check_index_name(index)
        self.get_version()
        return require_writable_alias(self, index)

    def _prepare_write_mark(self, index: str, sequence: int | None) -> WriteMark:
        """Return the mark of a write that starts now; an index of a former version gets the fields for it."""
        if sequence is None:
            sequence = get_first_sequence_of_generation(self.start_write_generation(index))

        def add_fields(concrete: str, overview: Mapping[str, Any]) -> None:
            if not self._get_epoch_meta(index, concrete).get("has_sequences"):
                self.connection.client.indices.put_mapping(index=concrete, properties=SEQUENCE_FIELDS)

        self._run_on_current_epoch(index, add_fields)
        return WriteMark(sequence, time.time())

    def _fetch_last_sequence(self, index: str) -> int:
        """Return the highest sequence number of all writes to an index; 0 if there was none."""
        response = self.connection.client.search(
            index=self.documents_alias(index), body=query_builder.build_last_sequence_search(), ignore_unavailable=True
        )
        overview = self.connection.require_complete(response.body)
        return int(overview.get("aggregations", {}).get("last", {}).get("value") or 0)

    def _write_and_find_superseded(
        self, alias: str, actions: Iterable[dict[str, Any]]
    ) -> tuple[list[str], frozenset[str]]:
        """Write the actions and make them visible; return the ids written and those that a newer write supersedes."""
        try:
            results = list(send_bulk_actions(self.connection, actions, UPDATE_RETRIES))
        finally:
            with self.connection.translate_errors():
                self.connection.client.options(ignore_status=404).indices.refresh(index=alias)
        superseded = frozenset(id for id, result in results if result == "superseded")
        return [id for id, result in results if result != "superseded"], superseded

    def _make_index_actions(
        self, alias: str, documents: Iterable[AnalysedDocument], mark: WriteMark, check_claim: ClaimCheck
    ) -> Iterator[dict[str, Any]]:
        """Generate index actions whose documents are marked as new or replaced; drift counts the marks."""
        for batch in _split_into_batches(documents):
            markers = self._fetch_added_markers(alias, [analysed.document.id for analysed in batch])
            check_claim()
            for analysed in batch:
                id = analysed.document.id
                source = encode_source(analysed, "replaced" if _is_of_epoch(markers, id) else "new")
                yield build_write_action(alias, id, source, mark)

    def _fetch_added_markers(self, alias: str, ids: Iterable[str]) -> dict[str, str | None]:
        """Return the ``added`` marker of each document that has been written; None for one as the build wrote it."""
        valid_ids = [id for id in ids if is_document_id(id)]
        if not valid_ids:
            return {}
        with self.connection.translate_errors():
            response = self.connection.client.mget(index=alias, ids=valid_ids, source=["added"])
        documents = self.connection.require_found(response.body["docs"])
        return {d["_id"]: d["_source"].get("added") for d in documents if d.get("found")}

    def _find_concrete_index(self, alias: str, overview: Mapping[str, Any]) -> str:
        buckets = overview["aggregations"]["index"]["buckets"]
        if buckets:
            return str(buckets[0]["key"])
        return str(next(iter(self.connection.client.indices.get_alias(name=alias).body)))  # the index is empty

    def _get_epoch(self, index: str, concrete: str) -> _Epoch:
        """Return an epoch, loaded once and shared by all its readers."""
        with self._loading:
            epoch = self._epochs.get(concrete)
            if epoch is None:
                epoch = self._load_epoch(index, concrete)
                self._epochs = {c: e for c, e in self._epochs.items() if e.info.name != index} | {concrete: epoch}
            return epoch

    def _get_epoch_meta(self, index: str, concrete: str) -> Mapping[str, Any]:
        """Return the ``_meta`` of an epoch's mapping, cached; raise UnsupportedVersion for another index format."""
        cached = self._meta_by_index.get(index)
        if cached is None or cached[0] != concrete:
            self._meta_by_index[index] = cached = (concrete, self._fetch_epoch_meta(concrete))
        meta = cached[1]
        if meta.get("format") != FORMAT:
            raise UnsupportedVersion(
                f"index {index!r} has format {meta.get('format')}, this version reads {FORMAT}",
                fix=f"rebuild it with: phrasecom index PATH --index {index}",
            )
        return meta

    def _fetch_epoch_meta(self, concrete: str) -> dict[str, Any]:
        mapping = self.connection.client.indices.get_mapping(index=concrete).body[concrete]["mappings"]
        return dict(mapping.get("_meta", {}))

    def _load_epoch(self, index: str, concrete: str) -> _Epoch:
        """Load info and phrase model; raise CorruptIndex if the checksum of the model is wrong."""
        client = self.connection.client
        meta = self._get_epoch_meta(index, concrete)
        stored = meta["model"]
        chunks = [client.get(index=stored["index"], id=str(n)).body["_source"]["data"] for n in range(stored["chunks"])]
        data = b"".join(base64.b64decode(chunk) for chunk in chunks)
        if hashlib.sha256(data).hexdigest() != stored["sha256"]:
            raise CorruptIndex(
                f"the phrase model of index {index!r} is damaged",
                fix=f"rebuild it with: phrasecom index PATH --index {index}",
            )
        return _Epoch(IndexInfo(**meta["info"]), PhraseModel.from_bytes(data))


def _is_of_epoch(added_markers: Mapping[str, str | None], id: str) -> bool:
    """Return whether the build wrote a document of this id, by the markers of those that are in the index."""
    return id in added_markers and added_markers[id] not in ("new", DELETED_NEW)


def _split_into_batches(items: Iterable[T]) -> Iterator[list[T]]:
    """Yield lists of up to CHUNK_ACTIONS items, one for each bulk request."""
    remaining = iter(items)
    return iter(lambda: list(islice(remaining, CHUNK_ACTIONS)), [])


def _get_missing_index_name(error: NotFoundError) -> str:
    """Return the name of the index that was not found; empty if the error does not say."""
    try:
        return str(error.body["error"]["root_cause"][0]["index"])
    except (LookupError, TypeError):
        return ""


def _update_counts_from_overview(info: IndexInfo, overview: Mapping[str, Any]) -> IndexInfo:
    """Return the info of the build with the present document count and drift."""
    states = {bucket["key"]: bucket["doc_count"] for bucket in overview["aggregations"]["added"]["buckets"]}
    live = overview["hits"]["total"]["value"] - sum(states.get(marker, 0) for marker in DELETION_MARKERS)
    new, replaced = states.get("new", 0), states.get("replaced", 0)
    deleted = info.documents - (live - new)
    return replace(info, documents=live, drift=(new + replaced + deleted) / max(info.documents, 1))
