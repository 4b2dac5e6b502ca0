"""The search body of an attached source: the allow-list of ``plan``, in the source's own fields."""

from __future__ import annotations

from dataclasses import dataclass

from indexer.engines.attached_source import SourceFields
from indexer.errors import BadParameter, TooLarge
from webapi.search.body import DateHistogramAggregation, Highlight, TermsAggregation, parse_search_body
from webapi.search.source_query_parser import SourceBody, SourceQueryParser

_MAX_RESULT_WINDOW = 10_000
"""The last hit that Elasticsearch returns by default."""


@dataclass(frozen=True, slots=True)
class SourcePlan:
    """A search of an attached source, ready to send."""

    body: SourceBody
    source_filter: frozenset[str] | bool
    """Fields to return, or whether to return any."""


def build_source_plan(body: object, fields: SourceFields) -> SourcePlan:
    """Build the plan of a search body; raise BadParameter that names what is not allowed and where, or TooLarge."""
    parsed = parse_search_body(body)
    defaults = [fields.document_fields[part] for part in ("title", "text") if part in fields.document_fields]
    parser = SourceQueryParser(fields.types.keys(), defaults, fields.aggregatable)
    last_hit = parsed.offset + parsed.size
    if last_hit > _MAX_RESULT_WINDOW:
        raise TooLarge(f"hit {last_hit} is beyond the result window", fix=f"request hits up to {_MAX_RESULT_WINDOW}")
    # whole records, to compare them with what was attached; filtered afterwards
    source_body: SourceBody = {"from": parsed.offset, "size": parsed.size, "_source": True}
    if parsed.query is not None:
        source_body["query"] = parser.parse(parsed.query, "query")
    if parsed.sort:
        source_body["sort"] = _build_sort(parsed.sort, parser)
    if parsed.highlight is not None:
        source_body["highlight"] = _build_highlight(parsed.highlight, parser)
    if parsed.aggregations:
        source_body["aggs"] = {name: _build_aggregation(value, parser) for name, value in parsed.aggregations.items()}
    return SourcePlan(source_body, parsed.source_filter)


def _build_sort(sort: tuple[tuple[str, str], ...], parser: SourceQueryParser) -> list[SourceBody]:
    keys: list[SourceBody] = []
    for name, order in sort:
        if name != "_score":
            parser.check_counted_field(name, "sort")
        if any(name in earlier for earlier in keys):
            raise BadParameter(f"sort names {name} twice")
        keys.append({name: {"order": order}})
    return keys


def _build_highlight(highlight: Highlight, parser: SourceQueryParser) -> SourceBody:
    fields = {
        parser.check_field(name, "highlight.fields"): {"number_of_fragments": count}
        for name, count in highlight.fields.items()
    }
    return {"fields": fields, "pre_tags": [highlight.pre_tag], "post_tags": [highlight.post_tag]}


def _build_aggregation(
    aggregation: TermsAggregation | DateHistogramAggregation, parser: SourceQueryParser
) -> SourceBody:
    field = parser.check_counted_field(aggregation.field, aggregation.path)
    if isinstance(aggregation, TermsAggregation):
        return {"terms": {"field": field, "size": aggregation.size}}
    interval = {aggregation.interval_kind: aggregation.interval}
    return {"date_histogram": {"field": field, "min_doc_count": aggregation.min_doc_count, **interval}}
