"""The search body for an attached source: the same allow-list as ``search_body``, in the source's own fields."""

from __future__ import annotations

from dataclasses import dataclass

from indexer.engines.attached_source import SourceFields
from indexer.errors import BadParameter, TooLarge
from webapi.search.body import Highlight, Histogram, Terms, read_asked
from webapi.search.source_query_parser import Body, Label, SourceQueryReader

_WINDOW = 10_000
"""The farthest hit that Elasticsearch shows by default."""


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
    whole = read_asked(body)
    usual = [fields.names[what] for what in ("title", "text") if what in fields.names]
    reader = SourceQueryReader(fields.types.keys(), usual)
    if whole.offset + whole.size > _WINDOW:
        raise TooLarge(f"hit {whole.offset + whole.size} is too far down", fix=f"ask for hits up to {_WINDOW}")
    # whole records, to see whether they are what was attached; cut afterwards
    sent: Body = {"from": whole.offset, "size": whole.size, "_source": True}
    if whole.query is not None:
        sent["query"] = reader.read(whole.query, "query")
    if whole.sort:
        sent["sort"] = _sort(whole.sort, reader)
    if whole.highlight is not None:
        sent["highlight"] = _highlight(whole.highlight, reader)
    if whole.aggregations:
        sent["aggs"] = {name: _aggregation(one, reader) for name, one in whole.aggregations.items()}
    return SourcePlan(sent, " ".join(reader.words), tuple(reader.labels), whole.source, whole.why)


def _sort(written: tuple[tuple[str, str], ...], reader: SourceQueryReader) -> list[Body]:
    out: list[Body] = []
    for name, order in written:
        if name != "_score":
            reader.field(name, "sort")
        if any(name in earlier for earlier in out):
            raise BadParameter(f"sort names {name} twice")
        out.append({name: {"order": order}})
    return out


def _highlight(how: Highlight, reader: SourceQueryReader) -> Body:
    fields = {
        reader.field(name, "highlight.fields"): {"number_of_fragments": most} for name, most in how.fields.items()
    }
    return {"fields": fields, "pre_tags": [how.before], "post_tags": [how.after]}


def _aggregation(one: Terms | Histogram, reader: SourceQueryReader) -> Body:
    name = reader.field(one.field, one.at)
    if isinstance(one, Terms):
        return {"terms": {"field": name, "size": one.size}}
    return {"date_histogram": {"field": name, "min_doc_count": one.least, one.unit: one.width}}
