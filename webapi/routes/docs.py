"""/docs: the API described on one page, with nothing fetched from anywhere."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from flask import Blueprint, Response

from webapi.routes.pages import page_of
from webapi.schemas.openapi import description
from webapi.schemas.responses import ProblemReply

blueprint = Blueprint("docs", __name__)
_PROBLEM = ProblemReply.__name__


@blueprint.get("/docs")
def page() -> Response:
    return page_of("docs.html", **_shown())


@cache
def _shown() -> dict[str, Any]:
    whole = description()
    operations = [_operation(method, path, one) for path, all in whole["paths"].items() for method, one in all.items()]
    schemas = [
        (name, json.dumps(schema, indent=1, ensure_ascii=False))
        for name, schema in whole["components"]["schemas"].items()
    ]
    return {"about": whole["info"]["description"], "operations": operations, "schemas": schemas}


def _operation(method: str, path: str, one: dict[str, Any]) -> dict[str, Any]:
    body = one.get("requestBody")
    answers = [(status, said["description"], _named(said)) for status, said in one["responses"].items()]
    return {
        "name": one["operationId"],
        "method": method,
        "path": path,
        "summary": one["summary"],
        "takes": _named(body) if body else None,
        "answers": [answer for answer in answers if answer[2] != _PROBLEM],
        "errors": [status for status, _, named in answers if named == _PROBLEM],
    }


def _named(part: dict[str, Any]) -> str | None:
    """The name of the schema of a body or an answer."""
    content: dict[str, Any] | None = next(iter(part.get("content", {}).values()), None)
    return str(content["schema"]["$ref"]).rpartition("/")[2] if content else None
