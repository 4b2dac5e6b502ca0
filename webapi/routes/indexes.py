"""/v1/indexes: the indexes, their documents, and phrases that continue what is typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flask import Blueprint, Response, request
from werkzeug.routing import BaseConverter

from indexer.documents import Document
from indexer.engines.attached_source import AttachedSource
from indexer.engines.attachment import ATTACHMENT_SETTING, Attachment
from indexer.engines.search_types import Groups, IndexInfo
from indexer.errors import (
    BadParameter,
    BadSetting,
    CorruptIndex,
    TooLarge,
    UnknownDocument,
    UnknownIndex,
    UnsupportedVersion,
)
from indexer.indexing.vector_check import get_vector_dimensions
from indexer.records import BadRecord, OversizedRecord, check_document
from indexer.vectors import (
    BadVector,
    encode_vector,
    find_dimension_fault,
    read_dimensions,
    read_text_dimensions,
)
from webapi.context import get_caller, get_context, read_json_body
from webapi.http.body_limits import get_max_body_bytes
from webapi.http.job_responses import JSON_TYPE, make_accepted_response
from webapi.http.problems import InvalidRequest, public_message
from webapi.routes.jobs import JOBS_PATH
from webapi.schemas.requests import MAX_SUGGESTIONS, DocumentBody, DocumentsBody, parse_body
from worker.jobs.job import Job
from worker.json_bytes import dumps
from worker.service.document_view import build_document_json
from worker.service.suggestions import find_suggestions

blueprint = Blueprint("indexes", __name__)
INDEXES_PATH = "/v1/indexes"
_MAX_FACETS = 50
_DOCUMENT_FIELDS = ("title", "text", "date", "url")


class DocumentIdConverter(BaseConverter):
    """A document id in a path, which may contain slashes."""

    regex = ".+"
    part_isolating = False


@blueprint.get(INDEXES_PATH, endpoint="listed")
def list_indexes() -> Response:
    """Return the indexes that the caller may use, and why some of them cannot be read."""
    gateway = get_context().gateway
    infos, unreadable = [], []
    for name in gateway.list_indexes(get_caller()):
        try:
            infos.append(gateway.get_index_info(name))
        except (CorruptIndex, UnsupportedVersion, BadSetting) as error:
            unreadable.append({"name": name, "code": error.code, "detail": public_message(error)})
        except UnknownIndex:
            pass  # deleted since it was listed
    return _make_json_response({"indexes": [_describe_index(info) for info in infos], "unreadable": unreadable})


@blueprint.get(f"{INDEXES_PATH}/<name>", endpoint="one")
def get_index(name: str) -> Response:
    """Return an index with what a search may name: its fields, and the facets of what the caller may read."""
    context, groups = get_context(), get_caller().groups
    info = context.catalog.open_reader(name).info
    source = context.gateway.get_source(info)
    if source is not None:
        return _make_json_response(_describe_index(info) | _list_source_fields_and_facets(source, groups))
    names = context.catalog.run_on_reader(name, lambda reader: reader.facet_names(groups))
    facets = [{"field": facet, "name": facet} for facet in names[:_MAX_FACETS]]
    names_of_fields = {**{field: field for field in _DOCUMENT_FIELDS}, "vector": None}
    return _make_json_response(_describe_index(info) | {"fields": names_of_fields, "facets": facets})


def _list_source_fields_and_facets(source: AttachedSource, groups: Groups) -> dict[str, Any]:
    """Return the fields and facets of a source, without the acl for a caller with limited groups."""
    fields = source.get_fields()
    if groups is not None:
        fields = fields.without_hidden(source.fetch_guard())
    facets = [
        {"field": field, "name": facet}
        for field, facet in fields.list_fields_with_facet(source.field_map.get_facet_sources())
    ]
    names = {field: fields.document_fields.get(field) for field in (*_DOCUMENT_FIELDS, "vector")}
    return {"fields": names, "facets": facets[:_MAX_FACETS]}


@blueprint.post(f"{INDEXES_PATH}/<name>/documents", endpoint="add")
def add_documents(name: str) -> Response:
    """Submit documents to the bulk queue; 202 at once."""
    settings, gateway = get_context().settings, get_context().gateway
    request.max_content_length = get_max_body_bytes(settings, request.path)
    gateway.check_index_exists(name)
    bodies = parse_body(DocumentsBody, read_json_body()).documents
    has_vectors = any(body.vector is not None for body in bodies)
    dimensions = get_vector_dimensions(gateway.get_index_info(name)) if has_vectors else None
    documents = _build_documents(bodies, settings.max_document_bytes, dimensions)
    id = gateway.submit_documents(name, documents, get_caller()).id
    return make_accepted_response(Job(id, "ingest", "queued", queue="bulk"), f"{JOBS_PATH}/{id}")


@blueprint.get(f"{INDEXES_PATH}/<name>/documents/<any_id:id>", endpoint="document")
def get_document(name: str, id: str) -> Response:
    """Return a document with its salient phrases; raise UnknownDocument if the caller may not read it."""
    catalog, groups = get_context().catalog, get_caller().groups
    document = catalog.fetch_documents(name, [id], groups).get(id)
    if document is None:
        raise UnknownDocument(name, id)
    model = catalog.open_reader(name).model
    response = _make_json_response(build_document_json(name, document, model, groups))
    response.set_etag(document.version)
    response.make_conditional(request)
    return response


@blueprint.get(f"{INDEXES_PATH}/<name>/suggest", endpoint="suggest")
def suggest_phrases(name: str) -> Response:
    """Return phrases of the index that continue what is typed."""
    typed = request.args.get("q", "")
    if not typed.strip():
        raise BadParameter("q is missing", fix="add ?q=…")
    try:
        size = int(request.args.get("size", "10"))
    except ValueError:
        size = 0
    if not 1 <= size <= MAX_SUGGESTIONS:
        raise BadParameter(f"size must be a whole number from 1 to {MAX_SUGGESTIONS}")
    suggestions = find_suggestions(get_context().catalog, name, typed, size, get_caller().groups)
    return _make_json_response({"index": name, "suggestions": suggestions})


def _list_searches(info: IndexInfo) -> list[str]:
    """Return what an index can be searched by, besides words."""
    by_vector = ["vector"] if read_dimensions(info.settings) is not None else []
    by_meaning = ["meaning"] if read_text_dimensions(info.settings) is not None else []
    return ["words", *by_vector, *by_meaning]


def _describe_index(info: IndexInfo) -> dict[str, Any]:
    attachment = Attachment.from_info(info)
    return {
        "name": info.name,
        "epoch": info.epoch,
        "documents": info.documents,
        "phrases": info.phrases,
        "edges": info.edges,
        "created": info.created,
        "drift": info.drift,
        "source": attachment.index if attachment else None,
        "searched_by": _list_searches(info),
        "settings": {name: value for name, value in info.settings.items() if name != ATTACHMENT_SETTING},
    }


def _build_documents(bodies: Sequence[DocumentBody], max_bytes: int, dimensions: int | None) -> list[Document]:
    """Return the documents to store; ``dimensions``: of the vectors of the index, None if it has none.

    Raise InvalidRequest that lists the documents that cannot be stored, by position; TooLarge for one too large.
    """
    documents: list[Document] = []
    misfits: list[dict[str, str]] = []
    for position, body in enumerate(bodies):
        try:
            documents.append(_build_document(body, dimensions))
            check_document(documents[-1], max_bytes)
        except OversizedRecord as error:
            raise TooLarge(f"/documents/{position}: {error}") from None
        except (BadRecord, BadVector) as error:
            misfits.append({"at": f"/documents/{position}", "detail": str(error)})
    if misfits:
        raise InvalidRequest(misfits)
    return documents


def _build_document(body: DocumentBody, dimensions: int | None) -> Document:
    """Return the document of a body; raise BadVector or BadRecord for a vector that cannot be stored in the index."""
    facets = {name: list(values) for name, values in body.facets.items()}
    vector = None if body.vector is None else encode_vector(body.vector)
    fault = find_dimension_fault(vector, dimensions)
    if fault is not None:
        raise BadRecord(f"document {body.id!r}: {fault}")
    return Document(
        body.id, body.title, body.text, body.date, body.url, facets, tuple(body.acl), dict(body.extra), vector=vector
    )


def _make_json_response(value: Any) -> Response:
    return Response(dumps(value), mimetype=JSON_TYPE, headers={"Cache-Control": "private, no-cache"})
