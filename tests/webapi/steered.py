"""The API's description with the names that are there: a request that makes something up rarely gets far."""

from __future__ import annotations

import copy
from typing import Any

from webapi.schemas import openapi, requests
from webapi.search.json_schema import OWN_NAMES_KEY

INDEXES = ["papers", "nope"]
IDS = [*(f"d{n}" for n in range(1, 13)), "nope", "ü/ ?#"]
WORDS = ["web graph", "link analysis", "walks", "source:BBC date:2011-03-01..2011-03-05", "\x00\ud7ff '\"*?", "ü"]
DATES = ["2011-03-05", "2011-03", "2011", "2011-03-05T10:00:00", "0001-01-01", "9999-12-31"]
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)
"""No 5xx, and no answer but one that is described."""


def description() -> dict[str, Any]:
    """Index names and ids from lists, words from a list or made up; all else as it is described."""
    whole: dict[str, Any] = _steered(copy.deepcopy(openapi.build_description()))
    parts = whole["components"]["schemas"]
    parts["SearchQuery"]["properties"]["term"] = _facet({"enum": ["BBC", "CNN"]})
    parts["SearchQuery"]["properties"]["terms"] = _facet(
        {"type": "array", "items": {"enum": ["BBC", "CNN", "x"]}, "minItems": 1}
    )
    for name, path in whole["paths"].items():
        for one in path.values():
            for parameter in one.get("parameters", ()):
                if parameter["name"] == "id" and "documents" in name:
                    parameter["schema"] = {"enum": IDS}
    return whole


def _facet(values: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"source": values}, "required": ["source"], "additionalProperties": False}


def _steered(part: Any) -> Any:
    if isinstance(part, list):
        return [_steered(one) for one in part]
    if not isinstance(part, dict):
        return part
    if OWN_NAMES_KEY in part:
        return _own(part)
    if part.get("pattern") == requests.INDEX_NAME_REGEX:
        return {"enum": INDEXES}
    if part.get("type") == "string" and part.get("maxLength") == 512:
        return {"enum": IDS}
    if part.get("type") == "string" and "examples" in part:
        return {"enum": DATES}
    if part.get("type") == "string" and (part.get("minLength") == 1 or part.get("pattern") == r"\S"):
        return {"anyOf": [{"enum": WORDS}, part]}
    return {name: _steered(one) for name, one in part.items()}


def _own(part: dict[str, Any]) -> dict[str, Any]:
    """The fields that an index of our own has."""
    if part["type"] == "string":
        return {"enum": part[OWN_NAMES_KEY]}
    content = _steered(part["additionalProperties"])
    rest = {name: one for name, one in part.items() if name not in (OWN_NAMES_KEY, "additionalProperties")}
    return rest | {"properties": dict.fromkeys(part[OWN_NAMES_KEY], content), "additionalProperties": False}
