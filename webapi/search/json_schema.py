"""The parts of a search body as OpenAPI describes them; they hold each other, so they are written by hand."""

from __future__ import annotations

from typing import Any, Final

from webapi.search.body import MOST_BUCKETS

Schema = dict[str, Any]
_QUERY: Final[Schema] = {"$ref": "#/components/schemas/SearchQuery"}
_NAME: Final[Schema] = {"type": "string"}
_WORDS: Final[Schema] = {"type": "string", "pattern": r"\S"}
OWN: Final = "x-own-names"
"""What stands here in an index of our own; the source of an attached index has other names for its fields."""
_TEXTS: Final = ["title", "text"]
_TEXT_FIELD: Final[Schema] = {"type": "string", OWN: _TEXTS}
_DATE: Final[Schema] = {"type": "string", "examples": ["2011-03-11", "2011-03", "2011-03-11T09:00:00"]}
_FRAGMENTS: Final[Schema] = {"type": "integer", "minimum": 1, "maximum": 10}
_ORDER: Final[Schema] = {"enum": ["asc", "desc"]}
_SORT_KEYS: Final = ["_score", "date", "id"]


def _object(properties: Schema, required: tuple[str, ...] = (), **more: Any) -> Schema:
    out: Schema = {"type": "object", "properties": properties, "additionalProperties": False, **more}
    return out | {"required": list(required)} if required else out


def _one_of_these(properties: Schema) -> Schema:
    return _object(properties, minProperties=1, maxProperties=1)


def _one_field(own: list[str], content: Schema) -> Schema:
    """One name of a field, and what is said of it."""
    return {"type": "object", "additionalProperties": content, "minProperties": 1, "maxProperties": 1, OWN: own}


def _several(one: Schema) -> Schema:
    return {"anyOf": [one, {"type": "array", "items": one}]}


_MATCH: Final = {"query": _WORDS, "operator": {"enum": ["or", "and"]}, "_name": _NAME}
_MATCH_FIELD: Final[Schema] = {"anyOf": [_WORDS, _object(_MATCH, ("query",))]}
_FACET: Final[Schema] = {"type": "object", "minProperties": 1, "maxProperties": 1}
SEARCH_QUERY: Final[Schema] = _one_of_these(
    {
        "match": _one_field(_TEXTS, _MATCH_FIELD),
        "multi_match": _object({**_MATCH, "fields": {"type": "array", "items": _TEXT_FIELD}}, ("query",)),
        "match_all": _object({}),
        "term": _FACET | {"additionalProperties": {"type": "string"}, "examples": [{"source": "BBC"}]},
        "terms": _FACET
        | {
            "additionalProperties": {"type": "array", "items": {"type": "string"}, "minItems": 1},
            "examples": [{"source": ["BBC", "CNN"]}],
        },
        "range": _one_field(["date"], _object({"gte": _DATE, "gt": _DATE, "lte": _DATE, "lt": _DATE, "_name": _NAME})),
        "bool": _object(
            {
                "must": _several(_QUERY),
                "should": _several(_QUERY),
                "filter": _several(_QUERY),
                "must_not": _several(_QUERY),
                "minimum_should_match": {"type": "integer", "minimum": 0, "maximum": 100},
                "_name": _NAME,
            }
        ),
    }
)
_SORT: Final[Schema] = {
    "anyOf": [
        {"type": "string", OWN: _SORT_KEYS},
        _one_field(_SORT_KEYS, {"anyOf": [_ORDER, _object({"order": _ORDER})]}),
    ]
}
_AGGREGATION: Final[Schema] = _one_of_these(
    {
        "terms": _object(
            {"field": _NAME, "size": {"type": "integer", "minimum": 1, "maximum": MOST_BUCKETS}}, ("field",)
        ),
        "date_histogram": _object(
            {
                "field": {"type": "string", OWN: ["date"]},
                "calendar_interval": {"enum": ["hour", "day", "week", "month", "quarter", "year"]},
                "fixed_interval": {"type": "string", "pattern": "^[1-9][0-9]{0,4}[hd]$"},
                "min_doc_count": {"type": "integer", "minimum": 0, "maximum": 2**31 - 1},
            },
            ("field",),
            oneOf=[{"required": ["calendar_interval"]}, {"required": ["fixed_interval"]}],
        ),
    }
)
_AGGREGATIONS: Final[Schema] = {"type": "object", "additionalProperties": _AGGREGATION, "maxProperties": 20}
_HIGHLIGHTED: Final = _object({"number_of_fragments": _FRAGMENTS})
PROPERTIES: Final[Schema] = {
    "query": _QUERY,
    "sort": {"anyOf": [_SORT, {"type": "array", "items": _SORT, "maxItems": 3}]},
    "highlight": _object(
        {
            "fields": {"type": "object", "additionalProperties": _HIGHLIGHTED, OWN: _TEXTS},
            "pre_tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 1},
            "post_tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 1},
            "number_of_fragments": _FRAGMENTS,
        }
    ),
    "aggs": _AGGREGATIONS | {"description": "terms of a facet, date_histogram of the date"},
    "aggregations": _AGGREGATIONS | {"description": "The same as aggs"},
}
"""What stands in the place of the search body's plainer descriptions."""
