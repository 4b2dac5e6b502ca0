"""Reader of an existing Elasticsearch index at one point in time; the index is not changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from elasticsearch import NotFoundError

from indexer.defaults import DEFAULT_MAX_DOCUMENT_BYTES
from indexer.documents import Document
from indexer.engines.attached_source import make_revision
from indexer.engines.attachment import Attachment
from indexer.engines.elasticsearch.attached_source import (
    MAX_VECTORS_PER_REQUEST,
    fetch_cluster_id,
    fetch_index_uuids,
    fetch_shards,
    get_checkpoints,
)
from indexer.engines.elasticsearch.connection import ElasticsearchConnection
from indexer.engines.elasticsearch.query_builder import build_source_filter
from indexer.engines.factory import strip_credentials
from indexer.engines.field_guard import find_unknown_paths
from indexer.engines.mapped_fields import MappingBody
from indexer.engines.vector_fields import (
    VectorChoice,
    check_vector_field,
    choose_vector_field,
    find_vector_fields,
    make_choice_without_mapping,
)
from indexer.errors import BadParameter, BadSetting
from indexer.readers.point_in_time import iterate_hits, make_unknown_index_error, open_point_in_time
from indexer.readers.registry import make_documents
from indexer.readers.rejects import Rejects
from indexer.records import FieldMap, SourceRow

PAGE_SIZE = 500
"""Documents fetched with one request."""
_MAX_FIELDS_LISTED = 20


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
    server does not respond. Vectors are read from the field that ``fields`` names, or else as
    ``find_source_vectors`` says.
    """
    connection, index = connect_to_source(source, api_key, timeout)
    plan = plan_reading(connection, index, fields or FieldMap())

    def read_rows() -> Iterator[SourceRow]:
        try:
            yield from read_source_rows(connection, index, plan)
        finally:
            connection.client.close()

    return make_documents(read_rows(), rejects, plan.fields, max_bytes)


@dataclass(frozen=True, slots=True)
class ReadingPlan:
    """How the documents of a source are read."""

    fields: FieldMap
    """With the field for vectors, empty if none are read."""
    source_filter: Mapping[str, Any] | bool
    """The ``_source`` of a search for whole documents."""
    page_size: int


def plan_reading(connection: ElasticsearchConnection, index: str, fields: FieldMap) -> ReadingPlan:
    """Return how to read the documents of a source by its mapping as it is now.

    Raise BadParameter if it lacks a field that ``fields`` names.
    """
    mappings = _fetch_mappings(connection, index)
    _check_mapped_fields(mappings, index, fields)
    path = _choose_vectors(mappings, fields).path
    others = [field.path for field in find_vector_fields((mappings or {}).values()) if field.path != path]
    source_filter = build_source_filter(bool(path) and connection.leaves_vectors_out(), others)
    page_size = min(PAGE_SIZE, MAX_VECTORS_PER_REQUEST) if path else PAGE_SIZE
    return ReadingPlan(FieldMap({**fields.sources, "vector": path}), source_filter or True, page_size)


def find_source_vectors(
    source: str, fields: FieldMap, *, api_key: str | None = None, timeout: float = 30.0
) -> VectorChoice:
    """Return the field to read vectors from: the one that ``fields`` names, or else the only one of the mapping.

    Raise BadParameter if the source lacks a field that ``fields`` names, or if the one for vectors has none.
    """
    connection, index = connect_to_source(source, api_key, timeout)
    try:
        mappings = _fetch_mappings(connection, index)
    finally:
        connection.client.close()
    _check_mapped_fields(mappings, index, fields)
    return _choose_vectors(mappings, fields)


def find_attachment(
    source: str, fields: FieldMap, *, api_key: str | None = None, timeout: float = 30.0
) -> Attachment | None:
    """Return what an index stores about its source; None if its documents get other ids than in the source."""
    if "id" in fields.sources:
        return None
    connection, index = connect_to_source(source, api_key, timeout)
    try:
        with connection.translate_errors():
            cluster = fetch_cluster_id(connection)
        checkpoints = get_checkpoints(fetch_shards(connection, index))
    except NotFoundError:
        raise make_unknown_index_error(connection, index) from None
    finally:
        connection.client.close()
    address = strip_credentials(connection.url)
    return Attachment(index, cluster, dict(fields.sources), True, checkpoints, address) if cluster else None


def split_index_url(source: str) -> tuple[str, str]:
    """Return the server's URL and the index name; raise BadParameter if the source does not name both."""
    url, _, index = source.rstrip("/").rpartition("/")
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc or not index:
        raise BadParameter(f"{source!r} does not name an index", fix="write http://HOST:9200/INDEX")
    return url, unquote(index)


def connect_to_source(source: str, api_key: str | None, timeout: float) -> tuple[ElasticsearchConnection, str]:
    """Return a connection to the server of a source, whose version is supported, and the name of the index."""
    url, index = split_index_url(source)
    return connect_to_server(url, timeout, **({"api_key": api_key} if api_key else {})), index


def connect_to_server(url: str, timeout: float = 30.0, **options: Any) -> ElasticsearchConnection:
    """Return a connection to a server whose version is supported; ``options`` are those of its client."""
    connection = ElasticsearchConnection(url, timeout, **options)
    connection.get_version()
    return connection


def read_source_rows(
    connection: ElasticsearchConnection, index: str, plan: ReadingPlan, query: Mapping[str, Any] | None = None
) -> Iterator[SourceRow]:
    """Yield a row for every document that matches a query; unless the id is mapped to a field, it is Elasticsearch's.

    Only then is there a revision: under another id the document cannot be found in the source again.
    """
    try:
        uuids = fetch_index_uuids(connection, index)
    except NotFoundError:
        raise make_unknown_index_error(connection, index) from None
    for hit in scan_hits(connection, index, plan.source_filter, plan.page_size, query):
        yield make_source_row(hit, index, uuids, plan.fields)


def make_source_row(hit: Mapping[str, Any], index: str, uuids: Mapping[str, str], fields: FieldMap) -> SourceRow:
    """Return the row of a document; ``uuids``: of the indices behind the source's name."""
    record: dict[str, Any] = dict(hit.get("_source") or {})
    revision = None
    if "id" not in fields.sources:
        record["id"] = hit["_id"]
        revision = make_revision(uuids.get(hit["_index"]), hit)
    return SourceRow(f"{index}/{hit['_id']}", 0, record, hit["_id"], revision)


def _fetch_mappings(connection: ElasticsearchConnection, index: str) -> dict[str, MappingBody] | None:
    """Return the mapping of each index behind a name; None if the API key may not read mappings."""
    try:
        with connection.translate_errors():
            response = connection.client.indices.get_mapping(index=index).body
    except NotFoundError:
        raise make_unknown_index_error(connection, index) from None
    except BadSetting:
        return None  # reading documents may be allowed without reading the mapping
    return {name: entry["mappings"] for name, entry in response.items()}


def _check_mapped_fields(mappings: Mapping[str, MappingBody] | None, index: str, fields: FieldMap) -> None:
    """Raise BadParameter for a named field that the index lacks: documents without their groups would be public."""
    if mappings is None:
        return
    paths = [path for target, path in fields.sources.items() if path and target != "vector"]
    unknown = find_unknown_paths(mappings, paths)
    if unknown:
        names = sorted({name for mapping in mappings.values() for name in mapping.get("properties", {})})
        more = ", ..." if len(names) > _MAX_FIELDS_LISTED else ""
        raise BadParameter(
            f"--map names the field {unknown[0]!r}, which the index {index!r} does not have",
            fix=f"use one of {', '.join(names[:_MAX_FIELDS_LISTED])}{more}",
        )


def _choose_vectors(mappings: Mapping[str, MappingBody] | None, fields: FieldMap) -> VectorChoice:
    """Return the field to read vectors from; raise BadParameter if the one that ``fields`` names has none."""
    if "vector" in fields.sources:
        path = fields.sources["vector"]
        if path and mappings is not None:
            check_vector_field(mappings, path)
        return VectorChoice(path)
    if mappings is None:
        return make_choice_without_mapping()
    return choose_vector_field(find_vector_fields(mappings.values()))


def scan_hits(
    connection: ElasticsearchConnection,
    index: str,
    source_filter: Mapping[str, Any] | bool,
    page_size: int,
    query: Mapping[str, Any] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the documents of an index that match a query, or all of them, at one point in time (``iterate_hits``)."""
    with open_point_in_time(connection, index) as pit:
        yield from iterate_hits(connection, pit, source_filter, page_size, query=query)
