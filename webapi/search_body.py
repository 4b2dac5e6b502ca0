"""An allow-listed subset of the Elasticsearch search body, read into a plan. Nothing scripted, nothing ignored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from indexer.engines.intervals import Interval
from indexer.engines.query import Everything, Query, Sort
from indexer.errors import BadParameter
from webapi.search_parts import facet_name, flag, listed, object_of, only, single, text_of, whole_number
from webapi.search_query import Clause, QueryReader, Spelled

TOP = frozenset(
    {"query", "from", "size", "sort", "highlight", "aggs", "aggregations", "_source", "track_total_hits", "why"}
)
MOST_HITS = 100
MOST_OFFSET = 10_000
MOST_BUCKETS = 1000
MOST_AGGREGATIONS = 20
_SORTS = {"_score": "score", "date": "date", "id": "id", "_id": "id"}


@dataclass(frozen=True, slots=True)
class Terms:
    facet: str
    size: int


@dataclass(frozen=True, slots=True)
class Histogram:
    interval: Interval
    least: int
    """Buckets with fewer documents are left out; 0 fills the gaps."""


@dataclass(frozen=True, slots=True)
class Highlight:
    fields: Mapping[str, int]
    """Name -> fragments at most."""
    before: str = "<em>"
    after: str = "</em>"


@dataclass(slots=True)
class SearchPlan:
    query: Query = field(default_factory=Everything)
    text: str = ""
    """All words that are searched for, as written."""
    lemmas: tuple[str, ...] = ()
    clauses: tuple[Clause, ...] = ()
    offset: int = 0
    size: int = 10
    sort: tuple[Sort, ...] = ()
    highlight: Highlight | None = None
    aggregations: dict[str, Terms | Histogram] = field(default_factory=dict)
    source: frozenset[str] | bool = True
    why: bool = True

    @property
    def scored(self) -> bool:
        return not self.sort or any(key.key == "score" for key in self.sort)


def read_body(body: object, spell: Callable[[str], Spelled]) -> SearchPlan:
    """The plan; BadParameter names what is not allowed and where. ``spell`` gives the lemmas of words."""
    whole = object_of(body, "the body")
    only(whole, TOP, "the body")
    plan = SearchPlan()
    plan.offset = whole_number(whole.get("from", 0), "from", 0, MOST_OFFSET)
    plan.size = whole_number(whole.get("size", 10), "size", 0, MOST_HITS)
    plan.sort = _sort(whole.get("sort", []))
    plan.highlight = _highlight(whole["highlight"]) if "highlight" in whole else None
    plan.aggregations = _aggregations(whole)
    plan.source = read_source_filter(whole.get("_source", True))
    plan.why = flag(whole.get("why", True), "why")
    read_total(whole.get("track_total_hits", True))
    if "query" in whole:
        reader = QueryReader(spell)
        plan.query = reader.read(whole["query"], "query")
        plan.text, plan.lemmas = " ".join(reader.words), tuple(reader.lemmas)
        plan.clauses = tuple(reader.clauses)
    return plan


def _sort(written: object) -> tuple[Sort, ...]:
    out: list[Sort] = []
    for one in listed(written):
        name, order = (one, None) if isinstance(one, str) else single(one, "sort")
        if isinstance(order, Mapping):
            only(order, frozenset({"order"}), f"sort.{name}")
            order = order.get("order")
        if name not in _SORTS or order not in (None, "asc", "desc"):
            raise BadParameter(
                f"sort by {str(name)[:80]!r} {str(order or '')[:80]} is not allowed",
                fix="sort by _score, date or id, asc or desc",
            )
        key = _SORTS[name]
        if any(key == earlier.key for earlier in out):
            raise BadParameter(f"sort names {name} twice")
        out.append(Sort(key, (order or ("desc" if key == "score" else "asc")) == "desc"))  # type: ignore[arg-type]
    return tuple(out)


def _highlight(written: object) -> Highlight:
    options = object_of(written, "highlight")
    only(options, frozenset({"fields", "pre_tags", "post_tags", "number_of_fragments"}), "highlight")
    usual = whole_number(options.get("number_of_fragments", 3), "highlight.number_of_fragments", 1, 10)
    fields: dict[str, int] = {}
    for name, own in object_of(options.get("fields", {}), "highlight.fields").items():
        if name not in ("title", "text"):
            raise BadParameter(f"highlight.fields.{name[:80]} is not allowed", fix="use title or text")
        at = f"highlight.fields.{name}"
        only(object_of(own, at), frozenset({"number_of_fragments"}), at)
        fields[name] = whole_number(own.get("number_of_fragments", usual), f"{at}.number_of_fragments", 1, 10)
    before, after = (
        read_tag(options.get(name, usual), name) for name, usual in (("pre_tags", "<em>"), ("post_tags", "</em>"))
    )
    return Highlight(fields, before, after)


def read_tag(written: object, name: str) -> str:
    tags = listed(written)
    if len(tags) != 1:
        raise BadParameter(f"highlight.{name} must hold one tag")
    return text_of(tags[0], f"highlight.{name}")


def _aggregations(whole: Mapping[str, object]) -> dict[str, Terms | Histogram]:
    if "aggs" in whole and "aggregations" in whole:
        raise BadParameter("aggs and aggregations are the same", fix="give one of them")
    out: dict[str, Terms | Histogram] = {}
    for name, one in object_of(whole.get("aggs", whole.get("aggregations", {})), "aggs").items():
        at = f"aggs.{name}"
        kind, content = single(one, at)
        if kind not in ("terms", "date_histogram"):
            raise BadParameter(f"{at}.{kind[:80]} is not allowed", fix="use terms or date_histogram")
        options = object_of(content, f"{at}.{kind}")
        out[name] = _terms(options, f"{at}.terms") if kind == "terms" else _histogram(options, f"{at}.date_histogram")
    if len(out) > MOST_AGGREGATIONS:
        raise BadParameter(f"{len(out)} aggregations are too many", fix=f"use {MOST_AGGREGATIONS} at most")
    return out


def _terms(options: Mapping[str, object], at: str) -> Terms:
    only(options, frozenset({"field", "size"}), at)
    size = whole_number(options.get("size", 10), f"{at}.size", 1, MOST_BUCKETS)
    return Terms(facet_name(text_of(options.get("field"), f"{at}.field")), size)


def _histogram(options: Mapping[str, object], at: str) -> Histogram:
    only(options, frozenset({"field", "calendar_interval", "fixed_interval", "min_doc_count"}), at)
    if options.get("field") != "date":
        raise BadParameter(f"{at}.field must be date")
    calendar, fixed = options.get("calendar_interval"), options.get("fixed_interval")
    if (calendar is None) == (fixed is None):
        raise BadParameter(f"{at} needs calendar_interval or fixed_interval")
    least = whole_number(options.get("min_doc_count", 0), f"{at}.min_doc_count", 0, 2**31 - 1)
    if calendar is not None:
        return Histogram(Interval.calendar(text_of(calendar, f"{at}.calendar_interval")), least)
    return Histogram(Interval.of_length(text_of(fixed, f"{at}.fixed_interval")), least)


def read_source_filter(written: object) -> frozenset[str] | bool:
    if isinstance(written, bool):
        return written
    names = listed(written)
    if not all(isinstance(name, str) for name in names):
        raise BadParameter("_source must be true, false or a list of fields")
    return frozenset(str(name) for name in names)


def read_total(written: object) -> None:
    """Hits are always counted in full, which is what either way of asking allows."""
    if not isinstance(written, bool):
        whole_number(written, "track_total_hits", 0, 2**31 - 1)
