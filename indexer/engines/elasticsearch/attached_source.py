"""Searching an attached index with its own analyzers, fields and mappings."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from elasticsearch import NotFoundError

from indexer.engines.attached_source import Source, SourceFields
from indexer.engines.attachment import Attached
from indexer.engines.base import Groups
from indexer.engines.elasticsearch import query_builder
from indexer.engines.elasticsearch.connection import Connection
from indexer.errors import Forbidden, Unavailable

if TYPE_CHECKING:
    from indexer.engines.elasticsearch.engine import ElasticsearchEngine

_SECONDS = 5.0
"""How long its fields are taken as known: some may be added at any time."""
_NAMED = ("title", "text", "date", "url", "acl")


def cluster_of(connection: Connection) -> str:
    """What the server calls its cluster, however it is reached; empty if it does not say."""
    return str(connection.client.info().body.get("cluster_uuid", ""))


class ElasticsearchSource(Source):
    def __init__(self, engine: ElasticsearchEngine, attached: Attached) -> None:
        super().__init__(attached)
        self.attached = attached
        self._engine = engine
        self._lock = threading.Lock()
        self._known: tuple[float, SourceFields] | None = None

    def fields(self) -> SourceFields:
        with self._lock:
            if self._known is None or self._known[0] < time.monotonic():
                self._known = (time.monotonic() + _SECONDS, self._ask_fields())
            return self._known[1]

    def search(self, body: Mapping[str, Any], readable: Sequence[str] | None, groups: Groups) -> Mapping[str, Any]:
        acl_field = None if groups is None else self._checked_acl()
        whole = query_builder.source_search(dict(body), readable, acl_field, groups, self._engine.query_seconds)
        connection = self._engine.connection
        self._engine.requests += 1
        try:
            with connection.telling():
                return connection.whole(connection.client.search(index=self.name, body=whole).body)
        except NotFoundError:
            raise self._gone() from None

    def _checked_acl(self) -> str | None:
        """The source's own field of groups, where it has one; Forbidden if rights cannot be told inside a search."""
        fields = self.fields()
        if len(fields.indices) > 1:
            raise Forbidden(
                f"rights cannot be checked in {self.name!r}: several indices stand behind it, and an id may be in each",
                fix="use a key for all groups, or attach each of them by itself",
            )
        name = fields.names.get("acl")
        if name is not None and not fields.types[name] <= {"keyword"}:
            raise Forbidden(
                f"rights cannot be checked in {self.name!r}: its field {name!r} is not of type keyword",
                fix="use a key for all groups, or map it as keyword and attach the index again",
            )
        return name

    def _ask_fields(self) -> SourceFields:
        connection = self._engine.connection
        try:
            with connection.telling():
                answer = connection.client.field_caps(index=self.name, fields="*", filters="-metadata").body
        except NotFoundError:
            raise self._gone() from None
        types: dict[str, frozenset[str]] = {}
        counted = set()
        for name, kinds in answer["fields"].items():
            if not kinds.keys() & {"object", "nested"}:
                types[name] = frozenset(kinds)
                if all(one["aggregatable"] for one in kinds.values()):
                    counted.add(name)
        named = {what: self.map.source(what) for what in _NAMED}
        names = {what: one for what, one in named.items() if one in types}
        return SourceFields(types, frozenset(counted), tuple(answer["indices"]), names)

    def _gone(self) -> Unavailable:
        return Unavailable(f"the attached index {self.name!r} is not there", fix="attach it again")
