"""Reader of an existing Elasticsearch index at one point in time; the index is not changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from elasticsearch import NotFoundError

from indexer.defaults import DEFAULT_MAX_DOCUMENT_BYTES
from indexer.documents import Document
from indexer.engines.attached_source import make_revision
from indexer.engines.attachment import Attachment
from indexer.engines.elasticsearch.attached_source import fetch_checkpoints, fetch_cluster_id, fetch_index_uuids
from indexer.engines.elasticsearch.connection import ElasticsearchConnection
from indexer.engines.field_guard import find_unknown_paths
from indexer.errors import BadInput, BadParameter, BadSetting
from indexer.readers.registry import make_documents
from indexer.readers.rejects import Rejects
from indexer.records import FieldMap, SourceRow

PAGE_SIZE = 500
"""Documents fetched with one request."""
_MAX_FIELDS_LISTED = 20
KEEP_ALIVE = "5m"
"""How long Elasticsearch keeps the point in time between two requests."""


def read_elasticsearch_index(
    source: str,
    rejects: Rejects,
    fields: FieldMap | None = None,
    max_bytes: int = DEFAULT_MAX_DOCUMENT_BYTES,
    *,
    api_key: str | None = None,
    timeout: float = 30.0,
) -> Iterator[Document]:
    """Yield the documents of ``http://host:9200/index`` as they are now, whatever is written to it meanwhile.

    Raise BadParameter if the source is no such address or lacks a field that ``fields`` names, EngineUnavailable if the
    server does not respond.
    """
    url, index = split_index_url(source)
    connection = ElasticsearchConnection(url, timeout, **({"api_key": api_key} if api_key else {}))
    connection.get_version()
    fields = fields or FieldMap()
    _check_mapped_fields(connection, index, fields)
    return make_documents(_read_rows(connection, index, "id" in fields.sources), rejects, fields, max_bytes)


def find_attachment(
    source: str, fields: FieldMap, *, api_key: str | None = None, timeout: float = 30.0
) -> Attachment | None:
    """Return what an index stores about its source; None if its documents get other ids than in the source."""
    url, index = split_index_url(source)
    if "id" in fields.sources:
        return None
    connection = ElasticsearchConnection(url, timeout, **({"api_key": api_key} if api_key else {}))
    try:
        connection.get_version()
        with connection.translate_errors():
            cluster = fetch_cluster_id(connection)
        checkpoints = fetch_checkpoints(connection, index)
    except NotFoundError:
        raise _make_unknown_index_error(connection, index) from None
    finally:
        connection.client.close()
    return Attachment(index, cluster, dict(fields.sources), True, checkpoints) if cluster else None


def split_index_url(source: str) -> tuple[str, str]:
    """Return the server's URL and the index name; raise BadParameter if the source does not name both."""
    url, _, index = source.rstrip("/").rpartition("/")
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc or not index:
        raise BadParameter(f"{source!r} does not name an index", fix="write http://HOST:9200/INDEX")
    return url, unquote(index)


def _read_rows(connection: ElasticsearchConnection, index: str, has_mapped_id: bool) -> Iterator[SourceRow]:
    """Yield a row for every hit; unless the id is mapped to a field, it is that of Elasticsearch.

    Only then is there a revision: under another id the document cannot be found in the source again.
    """
    try:
        uuids = fetch_index_uuids(connection, index)
    except NotFoundError:
        raise _make_unknown_index_error(connection, index) from None
    for hit in _scan_hits(connection, index):
        record: dict[str, Any] = dict(hit.get("_source") or {})
        revision = None
        if not has_mapped_id:
            record["id"] = hit["_id"]
            revision = make_revision(uuids.get(hit["_index"]), hit)
        yield SourceRow(f"{index}/{hit['_id']}", 0, record, hit["_id"], revision)


def _check_mapped_fields(connection: ElasticsearchConnection, index: str, fields: FieldMap) -> None:
    """Raise BadParameter for a named field that the index lacks: documents without their groups would be public."""
    try:
        with connection.translate_errors():
            response = connection.client.indices.get_mapping(index=index).body
    except NotFoundError:
        raise _make_unknown_index_error(connection, index) from None
    except BadSetting:
        return  # reading documents may be allowed without reading the mapping
    mappings = {name: entry["mappings"] for name, entry in response.items()}
    unknown = find_unknown_paths(mappings, [path for path in fields.sources.values() if path])
    if unknown:
        names = sorted({name for mapping in mappings.values() for name in mapping.get("properties", {})})
        more = ", ..." if len(names) > _MAX_FIELDS_LISTED else ""
        raise BadParameter(
            f"--map names the field {unknown[0]!r}, which the index {index!r} does not have",
            fix=f"use one of {', '.join(names[:_MAX_FIELDS_LISTED])}{more}",
        )


def _make_unknown_index_error(connection: ElasticsearchConnection, index: str) -> BadInput:
    return BadInput(f"{connection.url} has no index {index!r}", fix="check its name")


def _scan_hits(connection: ElasticsearchConnection, index: str) -> Iterator[dict[str, Any]]:
    client = connection.client
    with connection.translate_errors():
        try:
            pit = client.open_point_in_time(index=index, keep_alive=KEEP_ALIVE)["id"]
        except NotFoundError:
            raise _make_unknown_index_error(connection, index) from None
    after: list[Any] | None = None
    try:
        while True:
            with connection.translate_errors():
                response = client.search(
                    pit={"id": pit, "keep_alive": KEEP_ALIVE},
                    size=PAGE_SIZE,
                    sort=["_shard_doc"],
                    search_after=after,
                    seq_no_primary_term=True,
                    track_total_hits=False,
                    allow_partial_search_results=False,
                ).body
            connection.require_complete(response)
            pit = response["pit_id"]
            hits = response["hits"]["hits"]
            if not hits:
                return
            yield from hits
            after = hits[-1]["sort"]
    finally:
        with connection.translate_errors():
            client.close_point_in_time(id=pit)
        client.close()
