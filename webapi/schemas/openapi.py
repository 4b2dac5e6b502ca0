"""The OpenAPI 3.1 description, built from the request and reply models.

``python -m webapi.schemas.openapi`` writes ``openapi.json`` next to this file; a test fails when that is out of date.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from webapi.http.problems import ELASTICSEARCH_PATH
from webapi.schemas import requests, responses
from webapi.search import json_schema

FILE = Path(__file__).with_name("openapi.json")
_REFERENCE_TEMPLATE = "#/components/schemas/{model}"
_PREFER_HEADER = {
    "name": "Prefer",
    "in": "header",
    "schema": {"type": "string"},
    "description": "`respond-async`, or `wait=N` (seconds, at most 10)",
}
_ACCESS_ERRORS = (401, 403, 414, 429, 431)
"""Statuses of requests that are refused before an operation is reached."""
_SECURITY_SCHEMES: dict[str, Any] = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "An API key, if the server uses API keys"},
    "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
}
_TEXT_SCHEMA: dict[str, Any] = {"type": "string", "minLength": 1}
_INDEX_SCHEMA: dict[str, Any] = {"type": "string", "pattern": requests.INDEX_NAME_REGEX}
_PARAMETER_SCHEMAS: dict[str, dict[str, Any]] = {
    "name": _INDEX_SCHEMA,
    "index": _INDEX_SCHEMA,
    "size": {"type": "integer", "minimum": 1, "maximum": requests.MAX_SUGGESTIONS},
}


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path: its models, statuses and parameters."""

    method: str
    path: str
    summary: str
    reply: type[BaseModel] | None
    body: type[BaseModel] | None = None
    status: int = 200
    pending: type[BaseModel] | None = None
    """Model of a 202 response, where there can be one."""
    errors: tuple[int, ...] = (404, 503)
    query: tuple[str, ...] = ()
    not_modified: bool = False
    body_type: str = "application/json"


_SEARCH_ERRORS = (400, 404, 413, 415, 429, 503, 504)
_NDJSON_TYPE = "application/x-ndjson"
_JOB, _PAGE = responses.JobReply, responses.ExplanationReply
OPERATIONS = (
    Operation("post", "/v1/comparisons", "Compare two sides", responses.ComparisonReply, requests.ComparisonBody,
              pending=_JOB, errors=(400, 404, 409, 413, 415, 429, 500, 503, 504)),
    Operation("get", "/v1/comparisons/{id}", "Get the state or the answer of a comparison", responses.ComparisonReply,
              pending=_JOB, errors=(400, 404, 409, 410, 500, 503, 504), not_modified=True),
    Operation("delete", "/v1/comparisons/{id}", "Stop waiting for a comparison; without callers, its job stops", _JOB),
    Operation("post", "/v1/comparisons/{id}/feedback", "Report which phrases were useful", responses.FeedbackReply,
              requests.FeedbackBody, status=201, pending=_JOB, errors=(400, 404, 409, 410, 413, 415, 500, 503, 504)),
    Operation("post", "/v1/explanations", "Explain a results page", _PAGE, requests.ExplanationBody,
              pending=_PAGE, errors=(400, 404, 409, 413, 415, 429, 500, 503, 504)),
    Operation("get", "/v1/explanations/{id}", "Get the explained hits of a results page", _PAGE,
              pending=_PAGE, errors=(400, 404, 409, 410, 500, 503, 504), not_modified=True),
    Operation("delete", "/v1/explanations/{id}", "Stop waiting for a results page", _JOB),
    Operation("get", "/v1/jobs/{id}", "Get the progress of a job", responses.IngestReply, pending=_JOB,
              errors=(400, 404, 409, 410, 500, 503, 504)),
    Operation("post", "/v1/{index}/_search", "Search, with reasons for each hit", responses.SearchReply,
              requests.SearchBody, errors=_SEARCH_ERRORS),
    Operation("get", "/v1/{index}/_search", "Get the first documents, with reasons", responses.SearchReply,
              errors=_SEARCH_ERRORS),
    Operation("get", "/v1/{index}/_count", "Count the documents", responses.CountReply, errors=_SEARCH_ERRORS),
    Operation("post", "/v1/{index}/_count", "Count the documents that match a query", responses.CountReply,
              requests.CountBody, errors=_SEARCH_ERRORS),
    Operation("post", "/v1/{index}/_mget", "Get documents by id", responses.MgetReply, requests.MgetBody,
              errors=_SEARCH_ERRORS),
    Operation("get", "/v1/", "Get the version of Elasticsearch that clients ask for", responses.InfoReply,
              errors=(503,)),
    Operation("post", "/v1/_msearch", "Search several times, with reasons for each hit", responses.MultiSearchReply,
              requests.MultiSearchLines, errors=_SEARCH_ERRORS, body_type=_NDJSON_TYPE),
    Operation("post", "/v1/{index}/_msearch", "Search an index several times, with reasons for each hit",
              responses.MultiSearchReply, requests.MultiSearchLines, errors=_SEARCH_ERRORS, body_type=_NDJSON_TYPE),
    Operation("get", "/v1/indexes", "List the indexes", responses.IndexesReply, errors=(503,)),
    Operation("get", "/v1/indexes/{name}", "Get an index", responses.WholeIndexReply, errors=(400, 404, 503)),
    Operation("post", "/v1/indexes/{name}/documents", "Add or replace documents", None, requests.DocumentsBody,
              status=202, pending=_JOB, errors=(400, 404, 413, 415, 429, 503)),
    Operation("get", "/v1/indexes/{name}/documents/{id}", "Get a document", responses.DocumentReply,
              errors=(400, 404, 503), not_modified=True),
    Operation("get", "/v1/indexes/{name}/suggest", "Suggest phrases for typed text", responses.SuggestionsReply,
              errors=(400, 404, 503), query=("q", "size")),
    Operation("get", "/healthz", "Check whether the process is alive", responses.HealthReply, errors=()),
    Operation("get", "/readyz", "Check whether the service is ready for requests", responses.HealthReply, errors=()),
)  # fmt: skip


@cache
def build_openapi_description() -> dict[str, Any]:
    """Return the whole description; do not change it, it is cached."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = _describe_operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "PhraseCom",
            "version": "1",
            "description": "Explain search results: the phrases two documents share and those that set each apart.",
        },
        "paths": paths,
        "components": {"schemas": _build_schemas(), "securitySchemes": _SECURITY_SCHEMES},
        "security": [{}, *({name: []} for name in _SECURITY_SCHEMES)],
    }


def _build_schemas() -> dict[str, Any]:
    models: dict[type[BaseModel], str] = {
        responses.ProblemReply: "serialization",
        responses.SearchErrorReply: "serialization",
    }
    for operation in OPERATIONS:
        for model in (operation.reply, operation.pending):
            if model is not None:
                models[model] = "serialization"
        if operation.body is not None:
            models[operation.body] = "validation"
    _, definitions = models_json_schema(list(models.items()), ref_template=_REFERENCE_TEMPLATE)  # type: ignore[arg-type]
    schemas: dict[str, Any] = definitions["$defs"]
    schemas["SearchBody"]["properties"] |= json_schema.SEARCH_BODY_PROPERTIES
    schemas["SearchQuery"] = json_schema.SEARCH_QUERY
    return dict(sorted(schemas.items()))


def _describe_operation(operation: Operation) -> dict[str, Any]:
    out: dict[str, Any] = {"summary": operation.summary, "operationId": _make_operation_id(operation)}
    parameters = [_describe_parameter(part[1:-1], "path") for part in operation.path.split("/") if part.startswith("{")]
    parameters += [_describe_parameter(name, "query", required=name == "q") for name in operation.query]
    if operation.method == "post" and (operation.pending or operation.path.endswith("search")):
        parameters.append(_PREFER_HEADER)
    if parameters:
        out["parameters"] = parameters
    if operation.body is not None:
        content = {operation.body_type: {"schema": _make_reference(operation.body)}}
        out["requestBody"] = {"required": True, "content": content}
    out["responses"] = _describe_responses(operation)
    return out


def _describe_responses(operation: Operation) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if operation.reply is not None:
        out[str(operation.status)] = _describe_response("Done", operation.reply)
    if operation.pending is not None:
        out["202"] = _describe_response("In progress; poll the URL in Location", operation.pending)
        header = {"schema": {"type": "string"}}
        out["202"]["headers"] = {"Location": header, "Retry-After": header}
    if operation.not_modified:
        out["304"] = {"description": "Not changed since the ETag in If-None-Match"}
    if operation.path == "/readyz":
        out["503"] = _describe_response("A component is unavailable", responses.HealthReply)
    for status in {*operation.errors, *(_ACCESS_ERRORS if operation.path.startswith("/v1/") else ())}:
        content = {"application/problem+json": {"schema": _make_reference(responses.ProblemReply)}}
        if ELASTICSEARCH_PATH.fullmatch(operation.path):
            content = {"application/json": {"schema": _make_reference(responses.SearchErrorReply)}}
        out[str(status)] = {"description": "See `code`", "content": content}
    return dict(sorted(out.items()))


def _describe_response(description: str, model: type[BaseModel]) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": _make_reference(model)}}}


def _make_reference(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": _REFERENCE_TEMPLATE.format(model=model.__name__)}


def _describe_parameter(name: str, place: str, *, required: bool = True) -> dict[str, Any]:
    return {"name": name, "in": place, "required": required, "schema": _PARAMETER_SCHEMAS.get(name, _TEXT_SCHEMA)}


def _make_operation_id(operation: Operation) -> str:
    words = [part.strip("{}").lstrip("_") for part in operation.path.split("/") if part and part != "v1"]
    return "_".join([operation.method, *words])


def format_openapi_json() -> str:
    """Return the description as the text of ``openapi.json``."""
    return json.dumps(build_openapi_description(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(format_openapi_json(), encoding="utf-8")
