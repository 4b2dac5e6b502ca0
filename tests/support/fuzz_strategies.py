"""The API's description narrowed to names that exist: a request with invented names is refused early."""

from __future__ import annotations

import copy
import json
from typing import Any

import schemathesis

from webapi.schemas import openapi, requests
from webapi.search.json_schema import OWN_NAMES_KEY

INDEX_NAMES = ["papers", "nope"]
DOCUMENT_IDS = [*(f"d{n}" for n in range(1, 13)), "nope", "ü/ ?#"]
QUERY_TEXTS = ["web graph", "link analysis", "walks", "source:BBC date:2011-03-01..2011-03-05", "\x00\ud7ff '\"*?", "ü"]
DATES = ["2011-03-05", "2011-03", "2011", "2011-03-05T10:00:00", "0001-01-01", "9999-12-31"]
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)
"""No 5xx, and no response that the description does not have."""


def build_fuzz_description() -> dict[str, Any]:
    """Return the description with index names and ids taken from lists, and texts from a list or generated."""
    description: dict[str, Any] = _insert_known_names(copy.deepcopy(openapi.build_openapi_description()))
    parts = description["components"]["schemas"]
    parts["SearchQuery"]["properties"]["term"] = _make_facet_schema({"enum": ["BBC", "CNN"]})
    parts["SearchQuery"]["properties"]["terms"] = _make_facet_schema(
        {"type": "array", "items": {"enum": ["BBC", "CNN", "x"]}, "minItems": 1}
    )
    lines = parts["MultiSearchLines"]
    pair = {"type": "array", "prefixItems": lines["items"]["anyOf"], "items": False, "minItems": 2, "maxItems": 2}
    parts["MultiSearchLines"] = {"type": "array", "items": pair, "minItems": 1}
    for name, path in description["paths"].items():
        for operation in path.values():
            for parameter in operation.get("parameters", ()):
                if parameter["name"] == "id" and "documents" in name:
                    parameter["schema"] = {"enum": DOCUMENT_IDS}
    return description


@schemathesis.serializer("application/x-ndjson")
def _write_lines(_: schemathesis.SerializationContext, value: Any) -> bytes:
    """Return pairs of a header and a body, as ``build_fuzz_description`` describes them, line by line; anything else
    is one line."""
    pairs = value if isinstance(value, list) else [value]
    lines = [line for pair in pairs for line in (pair if isinstance(pair, list) else [pair])]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def _make_facet_schema(values: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"source": values}, "required": ["source"], "additionalProperties": False}


def _insert_known_names(part: Any) -> Any:
    if isinstance(part, list):
        return [_insert_known_names(one) for one in part]
    if not isinstance(part, dict):
        return part
    if OWN_NAMES_KEY in part:
        return _insert_own_fields(part)
    if part.get("pattern") == requests.INDEX_NAME_REGEX:
        return {"enum": INDEX_NAMES}
    if part.get("type") == "string" and part.get("maxLength") == 512:
        return {"enum": DOCUMENT_IDS}
    if part.get("type") == "string" and "examples" in part:
        return {"enum": DATES}
    if part.get("type") == "string" and (part.get("minLength") == 1 or part.get("pattern") == r"\S"):
        return {"anyOf": [{"enum": QUERY_TEXTS}, part]}
    return {name: _insert_known_names(one) for name, one in part.items()}


def _insert_own_fields(part: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with the field names of an index that is not attached."""
    if part["type"] == "string":
        return {"enum": part[OWN_NAMES_KEY]}
    content = _insert_known_names(part["additionalProperties"])
    rest = {name: one for name, one in part.items() if name not in (OWN_NAMES_KEY, "additionalProperties")}
    return rest | {"properties": dict.fromkeys(part[OWN_NAMES_KEY], content), "additionalProperties": False}
