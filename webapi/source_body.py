"""The search body for an attached source: the same allow-list as ``search_body``, in the source's own fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from indexer.engines.source import SourceFields
from indexer.errors import BadParameter, TooLarge
from webapi.search_body import (
    MOST_AGGREGATIONS,
    MOST_BUCKETS,
    MOST_HITS,
    MOST_OFFSET,
    TOP,
    read_source_filter,
    read_tag,
    read_total,
)
from webapi.search_parts import flag, listed, object_of, only, single, text_of, whole_number
from webapi.source_query import Body, Label, SourceQueryReader

_WINDOW = 10_000
"""The farthest hit that Elasticsearch shows by default."""
_INTERVALS = frozenset({"field", "calendar_interval", "fixed_interval", "min_doc_count"})


@dataclass(frozen=True, slots=True)
class SourcePlan:
    body: Body
    """As it is sent."""
    text: str
    """All words that are searched for, as written."""
    labels: tuple[Label, ...]
    """By the names their clauses were given: "0", "1", ..."""
    source: frozenset[str] | bool
    why: bool


def read_source_body(body: object, fields: SourceFields) -> SourcePlan:
    """The plan; BadParameter names what is not allowed and where."""
    whole = object_of(body, "the body")
    only(whole, TOP, "the body")
    usual = [fields.names[what] for what in ("title", "text") if what in fields.names]
    reader = SourceQueryReader(fields.types.keys(), usual)
    sent: Body = {
        "from": whole_number(whole.get("from", 0), "from", 0, MOST_OFFSET),
        "size": whole_number(whole.get("size", 10), "size", 0, MOST_HITS),
        "_source": True,  # whole, to see whether it is what was attached; cut afterwards
    }
    if sent["from"] + sent["size"] > _WINDOW:
        raise TooLarge(f"hit {sent['from'] + sent['size']} is too far down", fix=f"ask for hits up to {_WINDOW}")
    if "query" in whole:
        sent["query"] = reader.read(whole["query"], "query")
    if "sort" in whole:
        sent["sort"] = _sort(whole["sort"], reader)
    if "highlight" in whole:
        sent["highlight"] = _highlight(whole["highlight"], reader)
    if aggregations := _aggregations(whole, reader):
        sent["aggs"] = aggregations
    read_total(whole.get("track_total_hits", True))
    why = flag(whole.get("why", True), "why")
    return SourcePlan(
        sent, " ".join(reader.words), tuple(reader.labels), read_source_filter(whole.get("_source", True)), why
    )


def _sort(written: object, reader: SourceQueryReader) -> list[Body]:
    out: list[Body] = []
    for one in listed(written):
        name, order = (one, None) if isinstance(one, str) else single(one, "sort")
        if isinstance(order, Mapping):
            only(order, frozenset({"order"}), f"sort.{name[:80]}")
            order = order.get("order")
        if order not in (None, "asc", "desc"):
            raise BadParameter(f"sort by {name[:80]!r} {str(order)[:80]} is not allowed", fix="use asc or desc")
        if name != "_score":
            reader.field(name, "sort")
        if any(name in earlier for earlier in out):
            raise BadParameter(f"sort names {name} twice")
        out.append({name: {"order": order or ("desc" if name == "_score" else "asc")}})
    return out


def _highlight(written: object, reader: SourceQueryReader) -> Body:
    options = object_of(written, "highlight")
    only(options, frozenset({"fields", "pre_tags", "post_tags", "number_of_fragments"}), "highlight")
    usual = whole_number(options.get("number_of_fragments", 3), "highlight.number_of_fragments", 1, 10)
    fields: Body = {}
    for name, own in object_of(options.get("fields", {}), "highlight.fields").items():
        at = f"highlight.fields.{name[:80]}"
        reader.field(name, "highlight.fields")
        only(object_of(own, at), frozenset({"number_of_fragments"}), at)
        most = whole_number(own.get("number_of_fragments", usual), f"{at}.number_of_fragments", 1, 10)
        fields[name] = {"number_of_fragments": most}
    tags = {name: [read_tag(options[name], name)] for name in ("pre_tags", "post_tags") if name in options}
    return {"fields": fields, **tags}


def _aggregations(whole: Mapping[str, Any], reader: SourceQueryReader) -> Body:
    if "aggs" in whole and "aggregations" in whole:
        raise BadParameter("aggs and aggregations are the same", fix="give one of them")
    out: Body = {}
    for name, one in object_of(whole.get("aggs", whole.get("aggregations", {})), "aggs").items():
        at = f"aggs.{name[:80]}"
        kind, content = single(one, at)
        if kind not in ("terms", "date_histogram"):
            raise BadParameter(f"{at}.{kind[:80]} is not allowed", fix="use terms or date_histogram")
        options = object_of(content, f"{at}.{kind}")
        read = _terms if kind == "terms" else _histogram
        out[name] = {kind: read(options, f"{at}.{kind}", reader)}
    if len(out) > MOST_AGGREGATIONS:
        raise BadParameter(f"{len(out)} aggregations are too many", fix=f"use {MOST_AGGREGATIONS} at most")
    return out


def _terms(options: Mapping[str, Any], at: str, reader: SourceQueryReader) -> Body:
    only(options, frozenset({"field", "size"}), at)
    name = reader.field(text_of(options.get("field"), f"{at}.field"), at)
    return {"field": name, "size": whole_number(options.get("size", 10), f"{at}.size", 1, MOST_BUCKETS)}


def _histogram(options: Mapping[str, Any], at: str, reader: SourceQueryReader) -> Body:
    only(options, _INTERVALS, at)
    name = reader.field(text_of(options.get("field"), f"{at}.field"), at)
    width = {
        one: text_of(options[one], f"{at}.{one}") for one in ("calendar_interval", "fixed_interval") if one in options
    }
    if len(width) != 1:
        raise BadParameter(f"{at} needs calendar_interval or fixed_interval")
    least = whole_number(options.get("min_doc_count", 0), f"{at}.min_doc_count", 0, 2**31 - 1)
    return {"field": name, "min_doc_count": least, **width}
