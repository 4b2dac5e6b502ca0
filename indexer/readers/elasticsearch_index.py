"""An existing Elasticsearch index, read at one point in time and left untouched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from indexer.documents import Document
from indexer.engines.attachment import Attached
from indexer.engines.elasticsearch.attached_source import cluster_of
from indexer.engines.elasticsearch.connection import Connection
from indexer.errors import BadInput, BadParameter
from indexer.readers import SourcedRow, take
from indexer.readers.rejects import Rejects
from indexer.records import FieldMap

PAGE = 500
KEEP_ALIVE = "5m"


def read_existing(
    source: str,
    rejects: Rejects,
    fields: FieldMap | None = None,
    max_bytes: int = 10 * 2**20,
    *,
    api_key: str | None = None,
    timeout: float = 30.0,
) -> Iterator[Document]:
    """The documents of ``http://host:9200/index`` as they are now; changes made meanwhile are not seen."""
    url, index = split_source(source)
    connection = Connection(url, timeout, **({"api_key": api_key} if api_key else {}))
    connection.version()
    fields = fields or FieldMap()
    return take(_rows(connection, index, "id" in fields.sources), rejects, fields, max_bytes)


def describe(source: str, fields: FieldMap, *, api_key: str | None = None, timeout: float = 30.0) -> Attached | None:
    """What to remember of a source; None where its documents go under other ids than their own."""
    url, index = split_source(source)
    if "id" in fields.sources:
        return None
    connection = Connection(url, timeout, **({"api_key": api_key} if api_key else {}))
    try:
        connection.version()
        with connection.telling():
            cluster = cluster_of(connection)
    finally:
        connection.client.close()
    return Attached(index, cluster, dict(fields.sources)) if cluster else None


def split_source(source: str) -> tuple[str, str]:
    """The server's URL and the index's name."""
    url, _, index = source.rstrip("/").rpartition("/")
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc or not index:
        raise BadParameter(f"{source!r} names no index", fix="write http://HOST:9200/INDEX")
    return url, unquote(index)


def _rows(connection: Connection, index: str, own_id: bool) -> Iterator[SourcedRow]:
    """Every hit; its id is Elasticsearch's unless another field was named for it."""
    for hit in _hits(connection, index):
        record: dict[str, Any] = dict(hit.get("_source") or {})
        if not own_id:
            record["id"] = hit["_id"]
        yield f"{index}/{hit['_id']}", (0, record, hit["_id"])


def _hits(connection: Connection, index: str) -> Iterator[dict[str, Any]]:
    from elasticsearch import NotFoundError

    client = connection.client
    with connection.telling():
        try:
            pit = client.open_point_in_time(index=index, keep_alive=KEEP_ALIVE)["id"]
        except NotFoundError:
            raise BadInput(f"{connection.url} has no index {index!r}", fix="check its name") from None
    after: list[Any] | None = None
    try:
        while True:
            with connection.telling():
                answer = client.search(
                    pit={"id": pit, "keep_alive": KEEP_ALIVE},
                    size=PAGE,
                    sort=["_shard_doc"],
                    search_after=after,
                    track_total_hits=False,
                    allow_partial_search_results=False,
                ).body
            connection.whole(answer)
            pit = answer["pit_id"]
            hits = answer["hits"]["hits"]
            if not hits:
                return
            yield from hits
            after = hits[-1]["sort"]
    finally:
        with connection.telling():
            client.close_point_in_time(id=pit)
        client.close()
