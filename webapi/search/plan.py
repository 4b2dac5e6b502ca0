"""An allow-listed subset of the Elasticsearch search body, read into a plan. Nothing scripted, nothing ignored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from indexer.engines.date_histogram import Interval
from indexer.engines.query_tree import Everything, Query, Sort
from indexer.errors import BadParameter
from webapi.search import body as asked
from webapi.search.hit_reasons import Words
from webapi.search.query_parser import Clause, QueryReader, Spelled
from webapi.search.search_parts import facet_name

_SORTS = {"_score": "score", "date": "date", "id": "id", "_id": "id"}


@dataclass(frozen=True, slots=True)
class Histogram:
    interval: Interval
    least: int
    """Buckets with fewer documents are left out; 0 fills the gaps."""


@dataclass(frozen=True, slots=True)
class SearchPlan:
    query: Query
    words: Words
    clauses: tuple[Clause, ...]
    offset: int
    size: int
    sort: tuple[Sort, ...]
    highlight: asked.Highlight | None
    aggregations: Mapping[str, asked.Terms | Histogram]
    """The field of terms is the facet."""
    source: frozenset[str] | bool
    why: bool

    @property
    def scored(self) -> bool:
        return not self.sort or any(key.key == "score" for key in self.sort)


def read_body(body: object, spell: Callable[[str], Spelled]) -> SearchPlan:
    """The plan; BadParameter names what is not allowed and where. ``spell`` gives the lemmas of words."""
    whole = asked.read_asked(body)
    reader = QueryReader(spell)
    query = Everything() if whole.query is None else reader.read(whole.query, "query")
    for name in whole.highlight.fields if whole.highlight else ():
        if name not in ("title", "text"):
            raise BadParameter(f"highlight.fields.{name[:80]} is not allowed", fix="use title or text")
    return SearchPlan(
        query=query,
        words=Words(" ".join(reader.words), tuple(reader.lemmas)),
        clauses=tuple(reader.clauses),
        offset=whole.offset,
        size=whole.size,
        sort=_sort(whole.sort),
        highlight=whole.highlight,
        aggregations={name: _aggregation(one) for name, one in whole.aggregations.items()},
        source=whole.source,
        why=whole.why,
    )


def _sort(written: tuple[tuple[str, str], ...]) -> tuple[Sort, ...]:
    out: list[Sort] = []
    for name, order in written:
        if name not in _SORTS:
            raise BadParameter(f"sort by {name[:80]!r} is not allowed", fix="sort by _score, date or id")
        key = _SORTS[name]
        if any(key == earlier.key for earlier in out):
            raise BadParameter(f"sort names {name} twice")
        out.append(Sort(key, order == "desc"))  # type: ignore[arg-type]
    return tuple(out)


def _aggregation(one: asked.Terms | asked.Histogram) -> asked.Terms | Histogram:
    if isinstance(one, asked.Terms):
        return replace(one, field=facet_name(one.field))
    if one.field != "date":
        raise BadParameter(f"{one.at}.field must be date")
    read = Interval.calendar if one.unit == "calendar_interval" else Interval.of_length
    return Histogram(read(one.width), one.least)
