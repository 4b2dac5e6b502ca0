"""A search body of an index of ours with its shape and sizes checked; its field names are checked later, by ``plan``.

The parser is written by hand rather than with pydantic because errors name the place in the words of the query DSL
(``query.bool.must[0].term``), and because one request may mean the same in several shapes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from indexer.errors import BadParameter

MAX_HITS = 100
MAX_OFFSET = 10_000
MAX_BUCKETS = 1000
MAX_AGGREGATIONS = 20
MAX_FRAGMENTS = 10
MAX_INTEGER = 2**31 - 1
_BODY_NAMES = frozenset(
    {"query", "knn", "from", "size", "sort", "highlight", "aggs", "aggregations", "_source", "track_total_hits"}
)
_INTERVAL_KINDS = ("calendar_interval", "fixed_interval")


@dataclass(frozen=True, slots=True)
class TermsAggregation:
    """Counts of the values of a field."""

    field: str
    size: int
    path: str
    """Where it is in the body, for error messages."""


@dataclass(frozen=True, slots=True)
class DateHistogramAggregation:
    """Counts of documents by date."""

    field: str
    interval_kind: Literal["calendar_interval", "fixed_interval"]
    interval: str
    min_doc_count: int
    """Buckets with fewer documents are left out; 0 fills the gaps."""
    path: str
    """Where it is in the body, for error messages."""


@dataclass(frozen=True, slots=True)
class Highlight:
    """Fragments to cut from each field, and the tags around a matching word."""

    fields: Mapping[str, int]
    """The largest number of fragments by field."""
    pre_tag: str = "<em>"
    post_tag: str = "</em>"


@dataclass(frozen=True, slots=True)
class ParsedSearchBody:
    """The parts of a search body, with defaults filled in."""

    query: object | None
    """Not parsed yet."""
    vector_clause: object | None
    """``knn``, not parsed yet."""
    offset: int
    size: int
    sort: tuple[tuple[str, str], ...]
    """Pairs of a name and ``asc`` or ``desc``."""
    highlight: Highlight | None
    aggregations: Mapping[str, TermsAggregation | DateHistogramAggregation]
    source_filter: frozenset[str] | bool
    """Fields to return, or whether to return any."""


def parse_search_body(body: object) -> ParsedSearchBody:
    """Parse a search body; raise BadParameter that names what is not allowed and where."""
    parts = require_object(body, "the body")
    reject_unknown_names(parts, _BODY_NAMES, "the body")
    _check_track_total_hits(parts.get("track_total_hits", True))
    return ParsedSearchBody(
        query=require_object(parts["query"], "query") if "query" in parts else None,
        vector_clause=parts.get("knn"),
        offset=require_integer(parts.get("from", 0), "from", 0, MAX_OFFSET),
        size=require_integer(parts.get("size", 10), "size", 0, MAX_HITS),
        sort=tuple(_parse_sort_key(key) for key in wrap_in_list(parts.get("sort", []))),
        highlight=_parse_highlight(parts["highlight"]) if "highlight" in parts else None,
        aggregations=_parse_aggregations(parts),
        source_filter=_parse_source_filter(parts.get("_source", True)),
    )


def _parse_sort_key(value: object) -> tuple[str, str]:
    name, order = (value, None) if isinstance(value, str) else require_single_entry(value, "sort")
    if isinstance(order, Mapping):
        reject_unknown_names(order, frozenset({"order"}), f"sort.{name}")
        order = order.get("order")
    if order not in (None, "asc", "desc"):
        raise BadParameter(f"sort by {name[:80]!r} {str(order)[:80]} is not allowed", fix="use asc or desc")
    return name, order or ("desc" if name == "_score" else "asc")


def _parse_highlight(value: object) -> Highlight:
    options = require_object(value, "highlight")
    reject_unknown_names(options, frozenset({"fields", "pre_tags", "post_tags", "number_of_fragments"}), "highlight")
    default = _parse_fragment_count(options.get("number_of_fragments", 3), "highlight")
    fields: dict[str, int] = {}
    for name, field_options in require_object(options.get("fields", {}), "highlight.fields").items():
        path = f"highlight.fields.{name[:80]}"
        reject_unknown_names(require_object(field_options, path), frozenset({"number_of_fragments"}), path)
        fields[name] = _parse_fragment_count(field_options.get("number_of_fragments", default), path)
    pre_tag = _parse_tag(options.get("pre_tags", "<em>"), "pre_tags")
    return Highlight(fields, pre_tag, _parse_tag(options.get("post_tags", "</em>"), "post_tags"))


def _parse_fragment_count(value: object, path: str) -> int:
    return require_integer(value, f"{path}.number_of_fragments", 1, MAX_FRAGMENTS)


def _parse_tag(value: object, name: str) -> str:
    tags = wrap_in_list(value)
    if len(tags) != 1:
        raise BadParameter(f"highlight.{name} must contain exactly one tag")
    return require_text(tags[0], f"highlight.{name}")


def _parse_aggregations(parts: Mapping[str, Any]) -> dict[str, TermsAggregation | DateHistogramAggregation]:
    if "aggs" in parts and "aggregations" in parts:
        raise BadParameter("aggs and aggregations are synonyms", fix="use only one of them")
    aggregations = require_object(parts.get("aggs", parts.get("aggregations", {})), "aggs")
    if len(aggregations) > MAX_AGGREGATIONS:
        raise BadParameter(
            f"there are too many aggregations ({len(aggregations)})", fix=f"use {MAX_AGGREGATIONS} at most"
        )
    return {name: _parse_aggregation(value, f"aggs.{name[:80]}") for name, value in aggregations.items()}


def _parse_aggregation(value: object, path: str) -> TermsAggregation | DateHistogramAggregation:
    kind, content = require_single_entry(value, path)
    path = f"{path}.{kind[:80]}"
    if kind not in ("terms", "date_histogram"):
        raise BadParameter(f"{path} is not allowed", fix="use terms or date_histogram")
    options = require_object(content, path)
    field = require_text(options.get("field"), f"{path}.field")
    if kind == "date_histogram":
        return _parse_histogram(field, options, path)
    reject_unknown_names(options, frozenset({"field", "size"}), path)
    return TermsAggregation(field, require_integer(options.get("size", 10), f"{path}.size", 1, MAX_BUCKETS), path)


def _parse_histogram(field: str, options: Mapping[str, Any], path: str) -> DateHistogramAggregation:
    reject_unknown_names(options, frozenset({"field", "min_doc_count", *_INTERVAL_KINDS}), path)
    if (options.get("calendar_interval") is None) == (options.get("fixed_interval") is None):
        raise BadParameter(f"{path} needs calendar_interval or fixed_interval")
    kind: Literal["calendar_interval", "fixed_interval"] = (
        "calendar_interval" if options.get("fixed_interval") is None else "fixed_interval"
    )
    min_doc_count = require_integer(options.get("min_doc_count", 0), f"{path}.min_doc_count", 0, MAX_INTEGER)
    return DateHistogramAggregation(field, kind, require_text(options[kind], f"{path}.{kind}"), min_doc_count, path)


def _parse_source_filter(value: object) -> frozenset[str] | bool:
    if isinstance(value, bool):
        return value
    names = wrap_in_list(value)
    if not all(isinstance(name, str) for name in names):
        raise BadParameter("_source must be true, false or a list of fields")
    return frozenset(str(name) for name in names)


def _check_track_total_hits(value: object) -> None:
    """Raise BadParameter unless it is a flag or a number; either is honoured, as all hits are always counted."""
    if not isinstance(value, bool):
        require_integer(value, "track_total_hits", 0, MAX_INTEGER)


# Parts of a body. ``path`` is where the value is in the body; BadParameter names it.


def require_object(value: object, path: str) -> Mapping[str, Any]:
    """Return the value if it is an object; raise BadParameter otherwise."""
    if not isinstance(value, Mapping):
        raise BadParameter(f"{path[:200]} must be an object")
    return value


def require_single_entry(value: object, path: str) -> tuple[str, Any]:
    """Return the name and the content of an object with one entry; raise BadParameter otherwise."""
    if not isinstance(value, Mapping) or len(value) != 1:
        raise BadParameter(f"{path[:200]} must be an object with exactly one name")
    name, content = next(iter(value.items()))
    return str(name), content


def wrap_in_list(value: object) -> list[object]:
    """Return the value if it is a list, else a list of it."""
    return value if isinstance(value, list) else [value]


def reject_unknown_names(value: Mapping[str, Any], allowed: frozenset[str], path: str) -> None:
    """Raise BadParameter if an object has a name that is not allowed."""
    unknown = sorted(set(value) - allowed)
    if unknown:
        fix = f"use {', '.join(sorted(allowed))}" if allowed else "leave it empty"
        raise BadParameter(f"{path[:200]}: {unknown[0][:80]!r} is not allowed", fix=fix)


def require_integer(value: object, path: str, minimum: int, maximum: int) -> int:
    """Return the value if it is a whole number in the range; raise BadParameter otherwise."""
    if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
        raise BadParameter(f"{path[:200]} must be a whole number from {minimum} to {maximum}")
    return value


def require_text(value: object, path: str) -> str:
    """Return the value if it is text; raise BadParameter otherwise."""
    if not isinstance(value, str):
        raise BadParameter(f"{path[:200]} must be text")
    return value


def parse_facet_field(field: str) -> str:
    """Return the facet that a field means: ``facets.source`` and ``source.keyword`` are ``source``."""
    return field.removeprefix("facets.").removesuffix(".keyword")
