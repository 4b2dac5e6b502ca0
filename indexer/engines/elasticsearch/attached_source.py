"""Search of an attached Elasticsearch index with its own analyzers and mappings."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from elasticsearch import ApiError, NotFoundError
from elasticsearch.exceptions import HTTP_EXCEPTIONS

from indexer.documents import Document
from indexer.engines.attached_source import (
    MSEARCH_HEADER_PARAMETERS,
    MSEARCH_URL_PARAMETERS,
    AttachedSource,
    AttachedVersion,
    HitKey,
    SourceAccess,
    SourceFields,
    SourceSearch,
    WordPlaces,
    make_revision,
)
from indexer.engines.attachment import Attachment
from indexer.engines.elasticsearch import query_builder, response_parser
from indexer.engines.elasticsearch.connection import ElasticsearchConnection
from indexer.engines.field_guard import FieldGuard, make_field_guard, make_guard_without_mapping
from indexer.errors import BadParameter, BadSetting, PhraseComError, Unavailable
from indexer.text.tokenizer import Span

if TYPE_CHECKING:
    from indexer.engines.elasticsearch.engine import ElasticsearchEngine

_FIELDS_TTL_SECONDS = 5.0
"""Seconds the fields of a source and the UUIDs of its indices are cached; both may change at any time."""
_MAX_KNOWN_VERSIONS = 20_000
"""Number of revisions whose content version is remembered."""
MAX_VECTORS_PER_REQUEST = 100
"""Documents fetched at once with their vectors: one of 20 chunks with 1,024 numbers each has about 250 KB."""
_TEXT_ROLES = ("title", "text")
_JSON_TYPE = "application/json"
_NDJSON_TYPE = "application/x-ndjson"
_MAX_TOGETHER_BYTES = 16 * 2**20
"""Size of a multi-search; Elasticsearch accepts 100 MB by default, and fewer if it is short of memory."""
_MAX_QUOTED_CHARS = 300
_DOCUMENT_FIELDS = ("title", "text", "date", "url", "acl", "vector")


def fetch_cluster_id(connection: ElasticsearchConnection) -> str:
    """Return the UUID of the cluster, which is independent of its address; empty if the server does not return it."""
    return str(connection.client.info().body.get("cluster_uuid", ""))


def fetch_index_uuids(connection: ElasticsearchConnection, index: str) -> dict[str, str]:
    """Return the UUID of each index behind a name; none if the API key may not read settings.

    Raise NotFoundError if there is no such index.
    """
    try:
        with connection.translate_errors():
            response = connection.client.indices.get_settings(index=index, name="index.uuid").body
    except BadSetting:
        return {}
    return {name: entry["settings"]["index"]["uuid"] for name, entry in response.items()}


class SourceShard(NamedTuple):
    """How far a shard of a source is written. Elasticsearch numbers all writes of a shard, deletions included."""

    index_name: str
    uuid: str
    """Of the index."""
    number: int
    last: int
    """Number of the last write; -1 if there was none."""
    checkpoint: int
    """All writes up to this one are on all copies of the shard, though a search may not see the last of them yet."""

    @property
    def key(self) -> tuple[str, int]:
        return self.uuid, self.number


def fetch_shards(connection: ElasticsearchConnection, index: str) -> list[SourceShard] | None:
    """Return the shards of the indices behind a name; None if the API key may not read statistics.

    Raise NotFoundError if there is no such index.
    """
    try:
        with connection.translate_errors():
            response = connection.client.indices.stats(index=index, metric="docs", level="shards").body
    except BadSetting:
        return None
    return [
        SourceShard(
            name,
            entry["uuid"],
            int(number),
            max(copy["seq_no"]["max_seq_no"] for copy in copies),
            min(copy["seq_no"]["global_checkpoint"] for copy in copies),
        )
        for name, entry in response["indices"].items()
        for number, copies in sorted(entry["shards"].items(), key=lambda shard: int(shard[0]))
    ]


def get_checkpoints(shards: Iterable[SourceShard] | None) -> dict[str, list[int]] | None:
    """Return the last sequence number of each shard by the UUID of its index, as an attachment stores them."""
    if shards is None:
        return None
    checkpoints: dict[str, list[int]] = {}
    for shard in shards:
        checkpoints.setdefault(shard.uuid, []).append(shard.last)
    return checkpoints


class ElasticsearchSource(AttachedSource):
    """An attached index in the cluster of the engine."""

    def __init__(self, engine: ElasticsearchEngine, attachment: Attachment, attached_name: str) -> None:
        """``attached_name``: of our own index."""
        super().__init__(attachment)
        self._attached_name = attached_name
        self.attachment = attachment
        self._engine = engine
        self._lock = threading.Lock()
        self._cached_fields: tuple[float, SourceFields] | None = None
        self._cached_uuids: tuple[float, Mapping[str, str]] | None = None
        self._known_versions: dict[tuple[str, str], str] = {}
        """(id, revision) -> content version, so that a document that was written again is fetched once."""

    def get_fields(self) -> SourceFields:
        with self._lock:
            if self._cached_fields is None or self._cached_fields[0] < time.monotonic():
                self._cached_fields = (time.monotonic() + _FIELDS_TTL_SECONDS, self._fetch_fields())
            return self._cached_fields[1]

    def fetch_guard(self) -> FieldGuard:
        connection = self._engine.connection
        acl_path = self.field_map.get_source_path("acl")
        self._engine.request_count += 1
        try:
            with connection.translate_errors():
                response = connection.client.indices.get_mapping(index=self.name).body
        except NotFoundError:
            raise _make_missing_error() from None
        except BadSetting:  # reading documents may be allowed without reading the mapping
            return make_guard_without_mapping(acl_path)
        mappings = {index: entry["mappings"] for index, entry in response.items()}
        return make_field_guard(mappings, acl_path, is_mapped="acl" in self.field_map.sources)

    def search(self, body: Mapping[str, Any], access: SourceAccess | None) -> Mapping[str, Any]:
        if access is not None:
            access.guard.require_checkable()
        restricted = query_builder.restrict_source_search(dict(body), access, self._engine.query_seconds)
        connection = self._engine.connection
        self._engine.request_count += 1
        try:
            with connection.translate_errors():
                return connection.require_complete(connection.client.search(index=self.name, body=restricted).body)
        except NotFoundError:
            raise _make_missing_error() from None
        except BadParameter as error:
            raise _explain_refusal(error) from error

    def send_search(
        self, body: Mapping[str, Any], parameters: Mapping[str, str], *, with_server_reason: bool = True
    ) -> dict[str, Any]:
        self._engine.request_count += 1
        has_timeout = "timeout" in body or "timeout" in parameters
        with self._translate_refusal(with_server_reason):
            response = self._engine.connection.client.perform_request(
                "POST",
                # the indices of a point in time must not be named again
                "/_search" if "pit" in body else f"/{quote(self.name, safe='*,')}/_search",
                params={**parameters, **({} if has_timeout else self._make_time_limit())},
                headers={"Accept": _JSON_TYPE, "Content-Type": _JSON_TYPE},
                body=json.dumps(body).encode("ascii"),
            )
            return dict(response.body)

    def send_searches(self, searches: Sequence[SourceSearch]) -> list[dict[str, Any] | PhraseComError]:
        if len(searches) > 1 and _can_send_together(searches):
            lines = self._make_lines(searches)
            try:
                if lines is not None:
                    return self._send_together(searches, lines)
            except BadParameter:
                pass  # Elasticsearch refuses all of them if it cannot read one
            except PhraseComError as error:
                return [error] * len(searches)
        return [_get_or_return_error(search.send) for search in searches]

    def _make_lines(self, searches: Sequence[SourceSearch]) -> bytes | None:
        """Return a header and a body for each search, each as a line of JSON; None if that is too much to send."""
        lines = bytearray()
        for search in searches:
            index = {} if "pit" in search.body else {"index": search.source.name}
            header = {name: value for name, value in search.parameters.items() if name in MSEARCH_HEADER_PARAMETERS}
            for line in (index | header, {**self._make_time_limit(), **search.body}):
                lines += json.dumps(line).encode("ascii") + b"\n"
            if len(lines) > _MAX_TOGETHER_BYTES:
                return None
        return bytes(lines)

    def _send_together(self, searches: Sequence[SourceSearch], lines: bytes) -> list[dict[str, Any] | PhraseComError]:
        """Return the response to each search or its error; raise BadParameter if Elasticsearch cannot read one."""
        self._engine.request_count += 1
        with self._translate_refusal(with_server_reason=False):
            response = self._engine.connection.client.perform_request(
                "POST",
                "/_msearch",
                params=_get_shared_parameters(searches[0]),
                headers={"Accept": _JSON_TYPE, "Content-Type": _NDJSON_TYPE},
                body=lines,
            )

        def read_item(search: SourceSearch, item: Mapping[str, Any]) -> dict[str, Any]:
            if "error" in item:
                meta = replace(response.meta, status=int(item["status"]))
                error_class = HTTP_EXCEPTIONS.get(meta.status, ApiError)
                with self._translate_refusal(search.with_server_reason):
                    raise error_class(str(item["error"].get("type")), meta, item)
            return {name: value for name, value in item.items() if name != "status"}

        items = zip(searches, response.body["responses"], strict=True)
        return [_get_or_return_error(partial(read_item, search, item)) for search, item in items]

    def _make_time_limit(self) -> dict[str, str]:
        return {"timeout": query_builder.format_timeout(self._engine.query_seconds)}

    @contextmanager
    def _translate_refusal(self, with_server_reason: bool) -> Iterator[None]:
        """Translate the errors of a search into ours within a block."""
        try:
            with self._engine.connection.translate_errors():
                yield
        except NotFoundError as error:
            if error.error == "index_not_found_exception":
                raise _make_missing_error() from None
            refusal = _quote_refusal(error)
            raise (refusal if with_server_reason else _explain_refusal(refusal)) from error
        except BadParameter as error:
            if with_server_reason and isinstance(error.__cause__, ApiError):
                raise _quote_refusal(error.__cause__) from error
            raise _explain_refusal(error) from error

    def build_access_filter(self, access: SourceAccess) -> dict[str, Any]:
        access.guard.require_checkable()
        return query_builder.build_access_filter(access)

    def list_index_names(self) -> frozenset[str]:
        # behind an alias, its filter would not apply
        return frozenset({self.name} & self._get_index_uuids().keys())

    def covers_point_in_time(self, id: str) -> bool:
        # An id is a list of shards in a format of the server's own. What it can read is asked instead: its documents
        # are fixed, so the answer stays true as long as the id lives.
        body = query_builder.build_index_names_search(id)
        response = self._engine.connection.require_complete(self.send_search(body, {}))
        indices = response["aggregations"]["indices"]
        names = {bucket["key"] for bucket in indices["buckets"]}
        return names <= self.list_index_names() and not indices["sum_other_doc_count"]

    def find_changed_hits(
        self, keys: Collection[HitKey], attached: Mapping[str, AttachedVersion], access: SourceAccess | None
    ) -> dict[HitKey, Document | None]:
        changed: dict[HitKey, Document | None] = dict.fromkeys(keys)
        uuids = self._get_index_uuids()
        written = []
        for hit in self._search_ids({key.id for key in keys}, access, with_source=False):
            key, version = HitKey(hit["_index"], hit["_id"]), attached.get(hit["_id"])
            revision = make_revision(uuids.get(key.index_name), hit)
            if version is not None and revision is not None and version.revision == revision:
                changed.pop(key, None)
            elif key in changed:
                written.append(key.id)
        for hit in self._search_ids(written, access, with_source=True):
            key, version = HitKey(hit["_index"], hit["_id"]), attached.get(hit["_id"])
            document = self.parse_hit(hit)
            if document is not None and version is not None and document.compute_version() == version.version:
                changed.pop(key, None)
            elif key in changed:
                changed[key] = document
        return changed

    def find_words(
        self, words: Sequence[str], documents: Sequence[Document], access: SourceAccess | None
    ) -> dict[str, WordPlaces]:
        fields = self.get_fields()
        if access is not None:
            fields = fields.without_hidden(access.guard)
        role_by_field = {fields.document_fields[role]: role for role in _TEXT_ROLES if role in fields.document_fields}
        missing_roles = set(_TEXT_ROLES) - set(role_by_field.values())
        count_by_id = Counter(one.id for one in documents)  # a name that covers several indices may repeat an id
        searchable = [one for one in documents if not any(getattr(one, role) for role in missing_roles)]
        by_id = {one.id: one for one in searchable if count_by_id[one.id] == 1}
        names, ids = list(role_by_field), list(by_id)
        places: dict[str, WordPlaces] = {}
        for start in range(0, len(ids), query_builder.MAX_IDS_PER_WORD_SEARCH):
            batch = ids[start : start + query_builder.MAX_IDS_PER_WORD_SEARCH]
            response = self.search(query_builder.build_word_search(words, batch, names), access)
            marked = response_parser.parse_word_places(response, words, names)
            for hit in response["hits"]["hits"]:
                document, current = by_id[hit["_id"]], self.parse_hit(hit)
                if current is not None and (current.title, current.text) == (document.title, document.text):
                    places[document.id] = {
                        word: None if found is None else _locate_mark(document, role_by_field[found[0]], found[1])
                        for word, found in marked[hit["_index"], hit["_id"]].items()
                    }
        return places

    def fetch_revisions(
        self, ids: Collection[str], access: SourceAccess | None
    ) -> Mapping[str, Collection[str | None]]:
        # A search and not a multi-get: that finds no document with a routing of its own and cannot read a name that
        # covers several indices.
        uuids = self._get_index_uuids()
        revisions: dict[str, list[str | None]] = {}
        for hit in self._search_ids(ids, access, with_source=False):
            revisions.setdefault(hit["_id"], []).append(make_revision(uuids.get(hit["_index"]), hit))
        return revisions

    def fetch_versions(
        self, revisions_by_id: Mapping[str, Collection[str | None]], access: SourceAccess | None
    ) -> Mapping[str, Collection[str]]:
        known = self._known_versions
        versions = {
            id: [known[id, revision] for revision in revisions if revision is not None and (id, revision) in known]
            for id, revisions in revisions_by_id.items()
        }
        unknown_ids = [id for id, revisions in revisions_by_id.items() if len(versions[id]) < len(revisions)]
        uuids = self._get_index_uuids()
        for hit in self._search_ids(unknown_ids, access, with_source=True):
            document, revision = self.parse_hit(hit), make_revision(uuids.get(hit["_index"]), hit)
            version = "" if document is None else document.compute_version()
            versions[hit["_id"]].append(version)
            if revision is not None:
                if len(known) >= _MAX_KNOWN_VERSIONS:
                    known.clear()
                known[hit["_id"], revision] = version
        return versions

    def count_documents(self) -> int:
        connection = self._engine.connection
        self._engine.request_count += 1
        try:
            with connection.translate_errors():
                return int(connection.require_complete(connection.client.count(index=self.name).body)["count"])
        except NotFoundError:
            raise _make_missing_error() from None

    def count_writes(self) -> int | None:
        if self.attachment.checkpoints is None:
            return None
        self._engine.request_count += 2
        # another process may follow the source
        attachment = self._engine.fetch_attachment(self._attached_name) or self.attachment
        try:
            current = get_checkpoints(fetch_shards(self._engine.connection, self.name))
        except NotFoundError:
            raise _make_missing_error() from None
        if current is None or attachment.checkpoints is None:
            return None
        then = attachment.checkpoints
        return sum(
            sum(numbers) - sum(then.get(uuid, [-1] * len(numbers))) for uuid, numbers in current.items()
        )  # in an index that was not there then, every write counts; its numbers start at 0

    def _search_ids(
        self, ids: Collection[str], access: SourceAccess | None, *, with_source: bool
    ) -> Iterator[Mapping[str, Any]]:
        """Yield the documents of these ids with their sequence numbers, in one request for every thousand, or for
        every hundred with vectors."""
        has_vectors = with_source and self.attachment.vector_field is not None
        source = self._build_source_filter() if has_vectors else with_source
        remaining, size = iter(ids), MAX_VECTORS_PER_REQUEST if has_vectors else query_builder.MAX_IDS_PER_CLAUSE
        while batch := list(islice(remaining, size)):
            # usually one document for each id, but a name may cover several indices
            hits = self.search(query_builder.build_revision_search(batch, len(batch), source), access)["hits"]
            total = hits["total"]["value"]
            if total > len(batch):
                hits = self.search(query_builder.build_revision_search(batch, total, source), access)["hits"]
            yield from hits["hits"]

    def _build_source_filter(self) -> bool | dict[str, Any]:
        """Return the ``_source`` of a search for documents with their vectors."""
        return query_builder.build_source_filter(self._engine.connection.leaves_vectors_out()) or True

    def _get_index_uuids(self) -> Mapping[str, str]:
        with self._lock:
            if self._cached_uuids is None or self._cached_uuids[0] < time.monotonic():
                try:
                    uuids = fetch_index_uuids(self._engine.connection, self.name)
                except NotFoundError:
                    raise _make_missing_error() from None
                self._cached_uuids = (time.monotonic() + _FIELDS_TTL_SECONDS, uuids)
            return self._cached_uuids[1]

    def _fetch_fields(self) -> SourceFields:
        connection = self._engine.connection
        try:
            with connection.translate_errors():
                response = connection.client.field_caps(index=self.name, fields="*", filters="-metadata").body
        except NotFoundError:
            raise _make_missing_error() from None
        types: dict[str, frozenset[str]] = {}
        aggregatable = set()
        for name, kinds in response["fields"].items():
            if not kinds.keys() & {"object", "nested"}:
                types[name] = frozenset(kinds)
                if all(kind["aggregatable"] for kind in kinds.values()):
                    aggregatable.add(name)
        sources = {role: self.field_map.get_source_path(role) for role in _DOCUMENT_FIELDS}
        document_fields = {role: source for role, source in sources.items() if source in types}
        return SourceFields(types, frozenset(aggregatable), document_fields)


def _locate_mark(document: Document, role: str, marked: str) -> Span | None:
    """Return the place of the first mark; ``marked``: a value of the source's field, with marks around matches.

    A field of the document may be several such values joined, or one without the spaces around it.
    """
    before, _, rest = marked.partition(query_builder.MATCH_START)
    match = rest.partition(query_builder.MATCH_END)[0]
    value = marked.replace(query_builder.MATCH_START, "").replace(query_builder.MATCH_END, "")
    position = getattr(document, role).find(value.strip())
    start = position + len(before) - (len(value) - len(value.lstrip()))
    return (role, start, start + len(match)) if position >= 0 else None


def _can_send_together(searches: Sequence[SourceSearch]) -> bool:
    """Return whether the parameters of all searches have a place in a multi-search."""
    shared = _get_shared_parameters(searches[0])
    return all(
        _get_shared_parameters(search) == shared
        and search.parameters.keys() <= MSEARCH_HEADER_PARAMETERS | MSEARCH_URL_PARAMETERS
        for search in searches
    )


def _get_shared_parameters(search: SourceSearch) -> dict[str, str]:
    return {name: value for name, value in search.parameters.items() if name in MSEARCH_URL_PARAMETERS}


def _get_or_return_error(get_response: Callable[[], dict[str, Any]]) -> dict[str, Any] | PhraseComError:
    try:
        return get_response()
    except PhraseComError as error:
        return error


def _make_missing_error() -> Unavailable:
    return Unavailable("the source of this index does not exist", fix="attach it again")


def _quote_refusal(error: ApiError) -> BadParameter:
    """Return the error for a search that Elasticsearch refused, with the first line of its reason."""
    info = error.info.get("error") if isinstance(error.info, Mapping) else None
    causes = info.get("root_cause") if isinstance(info, Mapping) else None
    reason = str(causes[0].get("reason") if causes else error.message).strip().partition("\n")[0].rstrip(".;")
    return BadParameter(f"Elasticsearch refused this search: {reason[:_MAX_QUOTED_CHARS]}", fix="change the body")


def _explain_refusal(error: BadParameter) -> BadParameter:
    """Return the error for a search that Elasticsearch refused, in our words: its own name indices and classes."""
    if "too_many_buckets" in str(error):
        return BadParameter("an aggregation has too many buckets", fix="use a longer interval or a smaller size")
    return BadParameter(
        "Elasticsearch refuses this search: it does not know a part of it, or a value does not fit its field or option",
        fix="check the body; with a key for all groups the error has Elasticsearch's own reason",
    )
