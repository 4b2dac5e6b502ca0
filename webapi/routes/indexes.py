"""/v1/indexes: what there is, documents in and out, phrases to type."""

from __future__ import annotations

from typing import Any

import orjson
from flask import Blueprint, Response, request
from werkzeug.routing import BaseConverter

from indexer.documents import Document
from indexer.engines.attached_source import Source
from indexer.engines.attachment import SETTING, Attached
from indexer.engines.base import Groups, IndexInfo
from indexer.errors import BadParameter, TooLarge, UnknownDocument
from webapi.context import caller, context, json_body
from webapi.http.job_responses import JSON, accepted, answer_or_state
from webapi.schemas.requests import DocumentBody, DocumentsBody, parsed
from worker.jobs.job import Job
from worker.json_bytes import dumps
from worker.service.document_view import shown
from worker.service.ingest import hand_in
from worker.service.suggestions import suggestions

blueprint = Blueprint("indexes", __name__)
PATH = "/v1/indexes"
_MOST_SUGGESTIONS = 50
_MOST_FACETS = 50
_FIELDS = ("title", "text", "date", "url")


class AnyId(BaseConverter):
    """A document id in a path, whatever it holds: slashes too."""

    regex = ".+"
    part_isolating = False


@blueprint.get(PATH)
def listed() -> Response:
    library, who = context().service.library, caller()
    names = [name for name in library.engine.indexes() if who.may_use(name)]
    return _json({"indexes": [described(library.engine.info(name)) for name in names]})


@blueprint.get(f"{PATH}/<name>")
def one(name: str) -> Response:
    """With what a search of it may name: its fields, and the facets of what the caller may read."""
    library, who = context().service.library, caller()
    reader = library.current(name)
    source = library.engine.source(reader.info)
    if source is not None:
        return _json(described(reader.info) | _named_in(source, who.groups))
    facets = library.read(name, lambda current: current.facet_names(who.groups))
    named = [{"field": facet, "name": facet} for facet in facets[:_MOST_FACETS]]
    return _json(described(reader.info) | {"fields": {what: what for what in _FIELDS}, "facets": named})


def _named_in(source: Source, groups: Groups) -> dict[str, Any]:
    fields = source.fields()
    if groups is not None:
        fields = fields.without(fields.names.get("acl"))
    facets = [{"field": field, "name": facet} for field, facet in fields.facets(source.map.facet_sources())]
    return {"fields": {what: fields.names.get(what) for what in _FIELDS}, "facets": facets[:_MOST_FACETS]}


@blueprint.post(f"{PATH}/<name>/documents")
def add(name: str) -> Response:
    """Take documents in; 202 at once, the work is done on the bulk queue."""
    settings, service, who = context().settings, context().service, caller()
    request.max_content_length = settings.max_document_bytes + settings.max_body_bytes
    service.mirror.epoch(name)
    documents = [_document(body, settings.max_document_bytes) for body in parsed(DocumentsBody, json_body()).documents]
    new = hand_in(service, name, documents, who)
    context().desk.enter(new)
    return accepted(Job(new.id, "ingest", "queued", queue="bulk"), f"/v1/jobs/{new.id}")


@blueprint.get(f"{PATH}/<name>/documents/<any_id:id>")
def document(name: str, id: str) -> Response:
    library, who = context().service.library, caller()
    found = library.fetch(name, [id], who.groups).get(id)
    if found is None:
        raise UnknownDocument(name, id)
    model = library.current(name).model
    response = _json(shown(name, found, model, who.groups))
    response.set_etag(found.version)
    response.make_conditional(request)
    return response


@blueprint.get(f"{PATH}/<name>/suggest")
def suggest(name: str) -> Response:
    """Phrases of the index that continue what is being typed."""
    typed = request.args.get("q", "")
    if not typed.strip():
        raise BadParameter("q is missing", fix="ask with ?q=…")
    try:
        size = int(request.args.get("size", "10"))
    except ValueError:
        size = 0
    if not 1 <= size <= _MOST_SUGGESTIONS:
        raise BadParameter(f"size must be a whole number from 1 to {_MOST_SUGGESTIONS}")
    found = suggestions(context().service.library, name, typed, size, caller().groups)
    return _json({"index": name, "suggestions": found})


def described(info: IndexInfo) -> dict[str, Any]:
    attached = Attached.of(info)
    return {
        "name": info.name,
        "epoch": info.epoch,
        "documents": info.documents,
        "phrases": info.phrases,
        "edges": info.edges,
        "created": info.created,
        "drift": info.drift,
        "source": attached.index if attached else None,
        "settings": {name: value for name, value in info.settings.items() if name != SETTING},
    }


def _document(body: DocumentBody, most: int) -> Document:
    if len(body.text.encode("utf-8", "surrogatepass")) > most:
        raise TooLarge(f"document {body.id!r} is larger than {most} bytes", fix="split it")
    facets = {name: list(values) for name, values in body.facets.items()}
    return Document(body.id, body.title, body.text, body.date, body.url, facets, tuple(body.acl), dict(body.extra))


def _json(value: Any) -> Response:
    return Response(dumps(value), mimetype=JSON, headers={"Cache-Control": "private, no-cache"})


@blueprint.get("/v1/jobs/<id>")
def job(id: str) -> Response:
    """How far a job is, whatever its kind; what came of an ingestion."""
    look = context().desk.look(id, caller())
    if look.kept is not None and look.kept.kind == "ingest":
        return Response(look.kept.answer.body, mimetype=JSON, headers={"Cache-Control": "no-store"})
    if look.kept is not None:
        body = {"id": id, "state": "done", "progress": 1.0}
        return Response(orjson.dumps(body), mimetype=JSON, headers={"Cache-Control": "no-store"})
    return answer_or_state(look, "/v1/jobs")
