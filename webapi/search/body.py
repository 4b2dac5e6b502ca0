"""A search body as it was written: its shape and sizes checked, its fields not yet known.

What the fields may be, the reader says: ``search_body`` for an index of ours, ``source_body`` for an attached one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from indexer.errors import BadParameter
from webapi.search.search_parts import flag, listed, object_of, only, single, text_of, whole_number

MOST_HITS = 100
MOST_OFFSET = 10_000
MOST_BUCKETS = 1000
MOST_AGGREGATIONS = 20
_TOP = frozenset(
    {"query", "from", "size", "sort", "highlight", "aggs", "aggregations", "_source", "track_total_hits", "why"}
)
_INTERVALS = ("calendar_interval", "fixed_interval")


@dataclass(frozen=True, slots=True)
class Terms:
    field: str
    size: int
    at: str
    """Where it stands in the body."""


@dataclass(frozen=True, slots=True)
class Histogram:
    field: str
    unit: Literal["calendar_interval", "fixed_interval"]
    width: str
    least: int
    """Buckets with fewer documents are left out; 0 fills the gaps."""
    at: str


@dataclass(frozen=True, slots=True)
class Highlight:
    fields: Mapping[str, int]
    """Name -> fragments at most."""
    before: str = "<em>"
    after: str = "</em>"


@dataclass(frozen=True, slots=True)
class Asked:
    query: object | None
    offset: int
    size: int
    sort: tuple[tuple[str, str], ...]
    """Name, and asc or desc."""
    highlight: Highlight | None
    aggregations: Mapping[str, Terms | Histogram]
    source: frozenset[str] | bool
    why: bool


def read_asked(body: object) -> Asked:
    """BadParameter names what is not allowed and where."""
    whole = object_of(body, "the body")
    only(whole, _TOP, "the body")
    _check_total(whole.get("track_total_hits", True))
    return Asked(
        query=object_of(whole["query"], "query") if "query" in whole else None,
        offset=whole_number(whole.get("from", 0), "from", 0, MOST_OFFSET),
        size=whole_number(whole.get("size", 10), "size", 0, MOST_HITS),
        sort=tuple(_order(one) for one in listed(whole.get("sort", []))),
        highlight=_highlight(whole["highlight"]) if "highlight" in whole else None,
        aggregations=_aggregations(whole),
        source=_source(whole.get("_source", True)),
        why=flag(whole.get("why", True), "why"),
    )


def _order(written: object) -> tuple[str, str]:
    name, order = (written, None) if isinstance(written, str) else single(written, "sort")
    if isinstance(order, Mapping):
        only(order, frozenset({"order"}), f"sort.{name}")
        order = order.get("order")
    if order not in (None, "asc", "desc"):
        raise BadParameter(f"sort by {name[:80]!r} {str(order)[:80]} is not allowed", fix="use asc or desc")
    return name, order or ("desc" if name == "_score" else "asc")


def _highlight(written: object) -> Highlight:
    options = object_of(written, "highlight")
    only(options, frozenset({"fields", "pre_tags", "post_tags", "number_of_fragments"}), "highlight")
    usual = whole_number(options.get("number_of_fragments", 3), "highlight.number_of_fragments", 1, 10)
    fields: dict[str, int] = {}
    for name, own in object_of(options.get("fields", {}), "highlight.fields").items():
        at = f"highlight.fields.{name[:80]}"
        only(object_of(own, at), frozenset({"number_of_fragments"}), at)
        fields[name] = whole_number(own.get("number_of_fragments", usual), f"{at}.number_of_fragments", 1, 10)
    before, after = (
        _tag(options.get(name, usual), name) for name, usual in (("pre_tags", "<em>"), ("post_tags", "</em>"))
    )
    return Highlight(fields, before, after)


def _tag(written: object, name: str) -> str:
    tags = listed(written)
    if len(tags) != 1:
        raise BadParameter(f"highlight.{name} must hold one tag")
    return text_of(tags[0], f"highlight.{name}")


def _aggregations(whole: Mapping[str, Any]) -> dict[str, Terms | Histogram]:
    if "aggs" in whole and "aggregations" in whole:
        raise BadParameter("aggs and aggregations are the same", fix="give one of them")
    written = object_of(whole.get("aggs", whole.get("aggregations", {})), "aggs")
    if len(written) > MOST_AGGREGATIONS:
        raise BadParameter(f"{len(written)} aggregations are too many", fix=f"use {MOST_AGGREGATIONS} at most")
    return {name: _aggregation(one, f"aggs.{name[:80]}") for name, one in written.items()}


def _aggregation(written: object, at: str) -> Terms | Histogram:
    kind, content = single(written, at)
    at = f"{at}.{kind[:80]}"
    if kind not in ("terms", "date_histogram"):
        raise BadParameter(f"{at} is not allowed", fix="use terms or date_histogram")
    options = object_of(content, at)
    name = text_of(options.get("field"), f"{at}.field")
    if kind == "date_histogram":
        return _histogram(name, options, at)
    only(options, frozenset({"field", "size"}), at)
    return Terms(name, whole_number(options.get("size", 10), f"{at}.size", 1, MOST_BUCKETS), at)


def _histogram(name: str, options: Mapping[str, Any], at: str) -> Histogram:
    only(options, frozenset({"field", "min_doc_count", *_INTERVALS}), at)
    if (options.get("calendar_interval") is None) == (options.get("fixed_interval") is None):
        raise BadParameter(f"{at} needs calendar_interval or fixed_interval")
    unit: Literal["calendar_interval", "fixed_interval"] = (
        "calendar_interval" if options.get("fixed_interval") is None else "fixed_interval"
    )
    least = whole_number(options.get("min_doc_count", 0), f"{at}.min_doc_count", 0, 2**31 - 1)
    return Histogram(name, unit, text_of(options[unit], f"{at}.{unit}"), least, at)


def _source(written: object) -> frozenset[str] | bool:
    if isinstance(written, bool):
        return written
    names = listed(written)
    if not all(isinstance(name, str) for name in names):
        raise BadParameter("_source must be true, false or a list of fields")
    return frozenset(str(name) for name in names)


def _check_total(written: object) -> None:
    """Hits are always counted in full, which is what either way of asking allows."""
    if not isinstance(written, bool):
        whole_number(written, "track_total_hits", 0, 2**31 - 1)
