"""Search of an attached Elasticsearch index with its own analyzers and mappings."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from elasticsearch import NotFoundError

from indexer.engines.attached_source import AttachedSource, SourceFields
from indexer.engines.attachment import Attachment
from indexer.engines.elasticsearch import query_builder
from indexer.engines.elasticsearch.connection import ElasticsearchConnection
from indexer.engines.search_types import Groups
from indexer.errors import Forbidden, Unavailable

if TYPE_CHECKING:
    from indexer.engines.elasticsearch.engine import ElasticsearchEngine

_FIELDS_TTL_SECONDS = 5.0
"""Seconds the fields of a source are cached; fields may be added at any time."""
_DOCUMENT_FIELDS = ("title", "text", "date", "url", "acl")


def fetch_cluster_id(connection: ElasticsearchConnection) -> str:
    """Return the UUID of the cluster, which is independent of its address; empty if the server does not return it."""
    return str(connection.client.info().body.get("cluster_uuid", ""))


class ElasticsearchSource(AttachedSource):
    """An attached index in the cluster of the engine."""

    def __init__(self, engine: ElasticsearchEngine, attachment: Attachment) -> None:
        super().__init__(attachment)
        self.attachment = attachment
        self._engine = engine
        self._lock = threading.Lock()
        self._cached_fields: tuple[float, SourceFields] | None = None

    def get_fields(self) -> SourceFields:
        with self._lock:
            if self._cached_fields is None or self._cached_fields[0] < time.monotonic():
                self._cached_fields = (time.monotonic() + _FIELDS_TTL_SECONDS, self._fetch_fields())
            return self._cached_fields[1]

    def search(self, body: Mapping[str, Any], readable_ids: Sequence[str] | None, groups: Groups) -> Mapping[str, Any]:
        acl_field = None if groups is None else self._require_acl_field()
        restricted = query_builder.build_source_search(
            dict(body), readable_ids, acl_field, groups, self._engine.query_seconds
        )
        connection = self._engine.connection
        self._engine.request_count += 1
        try:
            with connection.translate_errors():
                return connection.require_complete(connection.client.search(index=self.name, body=restricted).body)
        except NotFoundError:
            raise self._missing_error() from None

    def _require_acl_field(self) -> str | None:
        """Return the source's own field with groups, if any; raise Forbidden if a search cannot check access by it."""
        fields = self.get_fields()
        if len(fields.indices) > 1:
            raise Forbidden(
                f"access rights cannot be checked in {self.name!r}: it covers several indices, which may share ids",
                fix="use a key for all groups, or attach each index separately",
            )
        name = fields.document_fields.get("acl")
        if name is not None and not fields.types[name] <= {"keyword"}:
            raise Forbidden(
                f"access rights cannot be checked in {self.name!r}: its field {name!r} is not of type keyword",
                fix="use a key for all groups, or map it as keyword and attach the index again",
            )
        return name

    def _fetch_fields(self) -> SourceFields:
        connection = self._engine.connection
        try:
            with connection.translate_errors():
                response = connection.client.field_caps(index=self.name, fields="*", filters="-metadata").body
        except NotFoundError:
            raise self._missing_error() from None
        types: dict[str, frozenset[str]] = {}
        aggregatable = set()
        for name, kinds in response["fields"].items():
            if not kinds.keys() & {"object", "nested"}:
                types[name] = frozenset(kinds)
                if all(kind["aggregatable"] for kind in kinds.values()):
                    aggregatable.add(name)
        sources = {role: self.field_map.get_source(role) for role in _DOCUMENT_FIELDS}
        document_fields = {role: source for role, source in sources.items() if source in types}
        return SourceFields(types, frozenset(aggregatable), tuple(response["indices"]), document_fields)

    def _missing_error(self) -> Unavailable:
        return Unavailable(f"the attached index {self.name!r} does not exist", fix="attach it again")
