"""/docs and /v1/openapi.json: the description of the API, as a page that loads nothing from elsewhere and as a file."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from flask import Blueprint, Response

from webapi.routes.pages import render_page
from webapi.schemas.openapi import build_openapi_description, format_openapi_json
from webapi.schemas.responses import ProblemReply

blueprint = Blueprint("docs", __name__)
openapi_blueprint = Blueprint("openapi", __name__)
_PROBLEM_SCHEMA = ProblemReply.__name__


@blueprint.get("/docs", endpoint="page")
def show_docs() -> Response:
    return render_page("docs.html", **_build_page_values())


@openapi_blueprint.get("/v1/openapi.json", endpoint="served")
def send_description() -> Response:
    return Response(format_openapi_json(), mimetype="application/json")


@cache
def _build_page_values() -> dict[str, Any]:
    description = build_openapi_description()
    operations = [
        _describe_operation(method, path, operation)
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    ]
    schemas = [
        (name, json.dumps(schema, indent=1, ensure_ascii=False))
        for name, schema in description["components"]["schemas"].items()
    ]
    return {"about": description["info"]["description"], "operations": operations, "schemas": schemas}


def _describe_operation(method: str, path: str, operation: dict[str, Any]) -> dict[str, Any]:
    body = operation.get("requestBody")
    responses = [
        (status, response["description"], _find_schema_name(response))
        for status, response in operation["responses"].items()
    ]
    return {
        "name": operation["operationId"],
        "method": method,
        "path": path,
        "summary": operation["summary"],
        "request_schema": _find_schema_name(body) if body else None,
        "responses": [response for response in responses if response[2] != _PROBLEM_SCHEMA],
        "errors": [status for status, _, schema in responses if schema == _PROBLEM_SCHEMA],
    }


def _find_schema_name(part: dict[str, Any]) -> str | None:
    """Return the name of the schema of a body or a response."""
    content: dict[str, Any] | None = next(iter(part.get("content", {}).values()), None)
    return str(content["schema"]["$ref"]).rpartition("/")[2] if content else None
