"""The OpenAPI schemas of a search body's parts, written by hand because queries contain queries in several shapes,
which pydantic models do not describe."""

from __future__ import annotations

from typing import Any, Final

from indexer.engines.search_types import MAX_CANDIDATES, MAX_NEAREST
from indexer.vectors import MAX_DIMENSIONS
from webapi.search.body import MAX_AGGREGATIONS, MAX_BUCKETS, MAX_FRAGMENTS, MAX_INTEGER
from webapi.search.query_parser import MAX_CLAUSES
from webapi.search.vector_clause import TEXT_MODEL, VECTOR_FIELD

Schema = dict[str, Any]
_QUERY_REFERENCE: Final[Schema] = {"$ref": "#/components/schemas/SearchQuery"}
_NAME_SCHEMA: Final[Schema] = {"type": "string"}
_WORDS_SCHEMA: Final[Schema] = {"type": "string", "pattern": r"\S"}
OWN_NAMES_KEY: Final = "x-own-names"
"""Lists the names allowed here in an index of ours; the source of an attached index has names of its own."""
_TEXT_FIELDS: Final = ["title", "text"]
_TEXT_FIELD: Final[Schema] = {"type": "string", OWN_NAMES_KEY: _TEXT_FIELDS}
_DATE_SCHEMA: Final[Schema] = {"type": "string", "examples": ["2011-03-11", "2011-03", "2011-03-11T09:00:00"]}
_FRAGMENTS_SCHEMA: Final[Schema] = {"type": "integer", "minimum": 1, "maximum": MAX_FRAGMENTS}
_ORDER_SCHEMA: Final[Schema] = {"enum": ["asc", "desc"]}
_SORT_KEYS: Final = ["_score", "date", "id"]


def _make_object_schema(properties: Schema, required: tuple[str, ...] = (), **more: Any) -> Schema:
    out: Schema = {"type": "object", "properties": properties, "additionalProperties": False, **more}
    return out | {"required": list(required)} if required else out


def _make_single_choice_schema(properties: Schema) -> Schema:
    return _make_object_schema(properties, minProperties=1, maxProperties=1)


def _make_single_field_schema(own_names: list[str], content: Schema) -> Schema:
    """Return the schema of an object with one field; ``own_names`` are its possible names in an index of ours."""
    return {
        "type": "object",
        "additionalProperties": content,
        "minProperties": 1,
        "maxProperties": 1,
        OWN_NAMES_KEY: own_names,
    }


def _make_one_or_list_schema(item: Schema) -> Schema:
    return {"anyOf": [item, {"type": "array", "items": item}]}


_MATCH: Final = {"query": _WORDS_SCHEMA, "operator": {"enum": ["or", "and"]}, "_name": _NAME_SCHEMA}
_MATCH_FIELD: Final[Schema] = {"anyOf": [_WORDS_SCHEMA, _make_object_schema(_MATCH, ("query",))]}
_FACET: Final[Schema] = {"type": "object", "minProperties": 1, "maxProperties": 1}
SEARCH_QUERY: Final[Schema] = _make_single_choice_schema(
    {
        "match": _make_single_field_schema(_TEXT_FIELDS, _MATCH_FIELD),
        "multi_match": _make_object_schema({**_MATCH, "fields": {"type": "array", "items": _TEXT_FIELD}}, ("query",)),
        "match_all": _make_object_schema({}),
        "term": _FACET | {"additionalProperties": {"type": "string"}, "examples": [{"source": "BBC"}]},
        "terms": _FACET
        | {
            "additionalProperties": {"type": "array", "items": {"type": "string"}, "minItems": 1},
            "examples": [{"source": ["BBC", "CNN"]}],
        },
        "range": _make_single_field_schema(
            ["date"],
            _make_object_schema(
                {
                    "gte": _DATE_SCHEMA,
                    "gt": _DATE_SCHEMA,
                    "lte": _DATE_SCHEMA,
                    "lt": _DATE_SCHEMA,
                    "_name": _NAME_SCHEMA,
                }
            ),
        ),
        "bool": _make_object_schema(
            {
                "must": _make_one_or_list_schema(_QUERY_REFERENCE),
                "should": _make_one_or_list_schema(_QUERY_REFERENCE),
                "filter": _make_one_or_list_schema(_QUERY_REFERENCE),
                "must_not": _make_one_or_list_schema(_QUERY_REFERENCE),
                "minimum_should_match": {"type": "integer", "minimum": 0, "maximum": MAX_CLAUSES},
                "_name": _NAME_SCHEMA,
            }
        ),
    }
)
_SORT: Final[Schema] = {
    "anyOf": [
        {"type": "string", OWN_NAMES_KEY: _SORT_KEYS},
        _make_single_field_schema(
            _SORT_KEYS, {"anyOf": [_ORDER_SCHEMA, _make_object_schema({"order": _ORDER_SCHEMA})]}
        ),
    ]
}
_AGGREGATION: Final[Schema] = _make_single_choice_schema(
    {
        "terms": _make_object_schema(
            {"field": _NAME_SCHEMA, "size": {"type": "integer", "minimum": 1, "maximum": MAX_BUCKETS}}, ("field",)
        ),
        "date_histogram": _make_object_schema(
            {
                "field": {"type": "string", OWN_NAMES_KEY: ["date"]},
                "calendar_interval": {"enum": ["hour", "day", "week", "month", "quarter", "year"]},
                "fixed_interval": {"type": "string", "pattern": "^[1-9][0-9]{0,4}[hd]$"},
                "min_doc_count": {"type": "integer", "minimum": 0, "maximum": MAX_INTEGER},
            },
            ("field",),
            oneOf=[{"required": ["calendar_interval"]}, {"required": ["fixed_interval"]}],
        ),
    }
)
_AGGREGATIONS: Final[Schema] = {
    "type": "object",
    "additionalProperties": _AGGREGATION,
    "maxProperties": MAX_AGGREGATIONS,
}
_HIGHLIGHTED: Final = _make_object_schema({"number_of_fragments": _FRAGMENTS_SCHEMA})
_NEAREST: Final[Schema] = _make_object_schema(
    {
        "field": {"type": "string", OWN_NAMES_KEY: [VECTOR_FIELD]},
        "query_vector": {
            "type": "array",
            "items": {"type": "number"},
            "minItems": 1,
            "maxItems": MAX_DIMENSIONS,
            "description": "As many numbers as the vectors of the documents have, not all 0",
        },
        "query_vector_builder": _make_object_schema(
            {
                "text_embedding": _make_object_schema(
                    {"model_id": {"enum": [TEXT_MODEL]}, "model_text": {"type": "string"}}, ("model_id", "model_text")
                )
            },
            ("text_embedding",),
        )
        | {"description": "Search by the meaning of a text, in an index whose vectors were made from its texts"},
        "k": {"type": "integer", "minimum": 1, "maximum": MAX_NEAREST, "description": "By default size"},
        "num_candidates": {
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_CANDIDATES,
            "description": "At least k: documents that an approximate search considers",
        },
        "filter": _make_one_or_list_schema(_QUERY_REFERENCE),
    },
    ("field",),
    oneOf=[{"required": ["query_vector"]}, {"required": ["query_vector_builder"]}],
)
SEARCH_BODY_PROPERTIES: Final[Schema] = {
    "query": _QUERY_REFERENCE,
    "knn": {
        "anyOf": [_NEAREST, {"type": "array", "items": _NEAREST, "minItems": 1, "maxItems": 1}],
        "description": "The nearest documents; with query, the hits of both are merged by their ranks",
    },
    "sort": {"anyOf": [_SORT, {"type": "array", "items": _SORT, "maxItems": len(_SORT_KEYS)}]},
    "highlight": _make_object_schema(
        {
            "fields": {"type": "object", "additionalProperties": _HIGHLIGHTED, OWN_NAMES_KEY: _TEXT_FIELDS},
            "pre_tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 1},
            "post_tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 1},
            "number_of_fragments": _FRAGMENTS_SCHEMA,
        }
    ),
    "aggs": _AGGREGATIONS | {"description": "terms on a facet, or date_histogram on the date"},
    "aggregations": _AGGREGATIONS | {"description": "Synonym of aggs"},
}
"""Schemas that replace the plainer ones of ``SearchBody``."""
