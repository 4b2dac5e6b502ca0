"""The OpenAPI 3.1 description, made from the request and reply models.

``python -m webapi.schemas.openapi`` writes ``openapi.json`` beside this file; a test fails when that is out of date.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from flask import Blueprint, Response
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from webapi.schemas import requests, responses
from webapi.search import json_schema

FILE = Path(__file__).with_name("openapi.json")
_REF = "#/components/schemas/{model}"
_PREFER = {
    "name": "Prefer",
    "in": "header",
    "schema": {"type": "string"},
    "description": "`respond-async`, or `wait=N` (seconds, at most 10)",
}
_AT_THE_GATE = (401, 403, 414, 429, 431)
"""What may happen before an operation is reached."""
_SECURITY: dict[str, Any] = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "An API key, where the server has any"},
    "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
}
_TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
_INDEX: dict[str, Any] = {"type": "string", "pattern": requests.INDEX_NAME}
_PARAMETERS: dict[str, dict[str, Any]] = {
    "name": _INDEX,
    "index": _INDEX,
    "size": {"type": "integer", "minimum": 1, "maximum": 50},
}

blueprint = Blueprint("openapi", __name__)


@dataclass(frozen=True, slots=True)
class Operation:
    method: str
    path: str
    summary: str
    reply: type[BaseModel] | None
    body: type[BaseModel] | None = None
    status: int = 200
    pending: type[BaseModel] | None = None
    """What 202 holds, where it can happen."""
    errors: tuple[int, ...] = (404, 503)
    query: tuple[str, ...] = ()
    not_modified: bool = False


JOB, PAGE = responses.JobReply, responses.ExplanationReply
OPERATIONS = (
    Operation("post", "/v1/comparisons", "Compare two sides", responses.ComparisonReply, requests.ComparisonBody,
              pending=JOB, errors=(400, 404, 409, 413, 415, 429, 500, 503, 504)),
    Operation("get", "/v1/comparisons/{id}", "The state or the answer of a comparison", responses.ComparisonReply,
              pending=JOB, errors=(400, 404, 409, 410, 500, 503, 504), not_modified=True),
    Operation("delete", "/v1/comparisons/{id}", "Leave a comparison; work stops when nobody is left", JOB),
    Operation("post", "/v1/comparisons/{id}/feedback", "Say which phrases were useful", responses.FeedbackReply,
              requests.FeedbackBody, status=201, pending=JOB, errors=(400, 404, 409, 410, 413, 415, 500, 503, 504)),
    Operation("post", "/v1/explanations", "Explain a results page", PAGE, requests.ExplanationBody,
              pending=PAGE, errors=(400, 404, 409, 413, 415, 429, 500, 503, 504)),
    Operation("get", "/v1/explanations/{id}", "A results page, each hit as it is ready", PAGE,
              pending=PAGE, errors=(400, 404, 409, 410, 500, 503, 504), not_modified=True),
    Operation("delete", "/v1/explanations/{id}", "Leave a results page", JOB),
    Operation("get", "/v1/jobs/{id}", "How far a job is", responses.IngestReply, pending=JOB,
              errors=(400, 404, 409, 410, 500, 503, 504)),
    Operation("post", "/v1/{index}/_search", "Search, with the reasons for each hit", responses.SearchReply,
              requests.SearchBody, errors=(400, 404, 413, 415, 429, 503, 504)),
    Operation("get", "/v1/indexes", "The indexes", responses.IndexesReply, errors=(503,)),
    Operation("get", "/v1/indexes/{name}", "One index", responses.WholeIndexReply, errors=(400, 404, 503)),
    Operation("post", "/v1/indexes/{name}/documents", "Add or replace documents", None, requests.DocumentsBody,
              status=202, pending=JOB, errors=(400, 404, 413, 415, 429, 503)),
    Operation("get", "/v1/indexes/{name}/documents/{id}", "One document", responses.DocumentReply,
              errors=(400, 404, 503), not_modified=True),
    Operation("get", "/v1/indexes/{name}/suggest", "Phrases that continue what is typed", responses.SuggestionsReply,
              errors=(400, 404, 503), query=("q", "size")),
    Operation("get", "/healthz", "Whether the process is alive", responses.HealthReply, errors=()),
    Operation("get", "/readyz", "Whether it can do its work", responses.HealthReply, errors=()),
)  # fmt: skip


@cache
def description() -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = _described(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "PhraseCom",
            "version": "1",
            "description": "Why this result: the phrases two documents share and the phrases that set each apart.",
        },
        "paths": paths,
        "components": {"schemas": _schemas(), "securitySchemes": _SECURITY},
        "security": [{}, *({name: []} for name in _SECURITY)],
    }


def _schemas() -> dict[str, Any]:
    models: dict[type[BaseModel], str] = {responses.ProblemReply: "serialization"}
    for operation in OPERATIONS:
        for model in (operation.reply, operation.pending):
            if model is not None:
                models[model] = "serialization"
        if operation.body is not None:
            models[operation.body] = "validation"
    _, whole = models_json_schema(list(models.items()), ref_template=_REF)  # type: ignore[arg-type]
    found: dict[str, Any] = whole["$defs"]
    found["SearchBody"]["properties"] |= json_schema.PROPERTIES
    found["SearchQuery"] = json_schema.SEARCH_QUERY
    return dict(sorted(found.items()))


def _described(operation: Operation) -> dict[str, Any]:
    out: dict[str, Any] = {"summary": operation.summary, "operationId": _operation_id(operation)}
    parameters = [_parameter(part[1:-1], "path") for part in operation.path.split("/") if part.startswith("{")]
    parameters += [_parameter(name, "query", required=name == "q") for name in operation.query]
    if operation.method == "post" and (operation.pending or operation.path.endswith("_search")):
        parameters.append(_PREFER)
    if parameters:
        out["parameters"] = parameters
    if operation.body is not None:
        content = {"application/json": {"schema": _reference(operation.body)}}
        out["requestBody"] = {"required": True, "content": content}
    out["responses"] = _responses(operation)
    return out


def _responses(operation: Operation) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if operation.reply is not None:
        out[str(operation.status)] = _response("Done", operation.reply)
    if operation.pending is not None:
        out["202"] = _response("Under way: ask at Location again", operation.pending)
        header = {"schema": {"type": "string"}}
        out["202"]["headers"] = {"Location": header, "Retry-After": header}
    if operation.not_modified:
        out["304"] = {"description": "Not changed since the ETag in If-None-Match"}
    if operation.path == "/readyz":
        out["503"] = _response("Something is missing", responses.HealthReply)
    for status in {*operation.errors, *(_AT_THE_GATE if operation.path.startswith("/v1/") else ())}:
        content = {"application/problem+json": {"schema": _reference(responses.ProblemReply)}}
        out[str(status)] = {"description": "See `code`", "content": content}
    return dict(sorted(out.items()))


def _response(said: str, model: type[BaseModel]) -> dict[str, Any]:
    return {"description": said, "content": {"application/json": {"schema": _reference(model)}}}


def _reference(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": _REF.format(model=model.__name__)}


def _parameter(name: str, place: str, *, required: bool = True) -> dict[str, Any]:
    return {"name": name, "in": place, "required": required, "schema": _PARAMETERS.get(name, _TEXT)}


def _operation_id(operation: Operation) -> str:
    words = [part.strip("{}").lstrip("_") for part in operation.path.split("/") if part and part != "v1"]
    return "_".join([operation.method, *words])


def written() -> str:
    return json.dumps(description(), indent=1, ensure_ascii=False) + "\n"


@blueprint.get("/v1/openapi.json")
def served() -> Response:
    return Response(written(), mimetype="application/json")


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
