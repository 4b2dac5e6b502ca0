"""The response to a search of an index of ours, in the JSON of Elasticsearch with ``why`` added to each hit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from indexer.dates import date_to_millis
from indexer.documents import AnalysedDocument
from indexer.engines.date_histogram import format_timestamp
from indexer.engines.query_tree import matches_document
from indexer.engines.search_types import FoundBy, Hit, SearchResult
from indexer.errors import TooLarge
from indexer.text.lemmatizer import Lemmatizer
from webapi.search.body import TermsAggregation
from webapi.search.highlight import build_highlights
from webapi.search.plan import PlannedHistogram, SearchPlan

_FOUND_BY_ORDER: tuple[FoundBy, ...] = ("words", "vector")
_MAX_DATE_BUCKETS = 10_000
"""Buckets of a date histogram, empty ones included."""


def build_search_response(
    index: str, plan: SearchPlan, result: SearchResult, whys: Sequence[Mapping[str, Any]], lemmatizer: Lemmatizer
) -> dict[str, Any]:
    """Return the response, with ``took`` still 0; ``whys`` has an entry for each hit, or none at all.

    ``lemmatizer`` is that of the index.
    Raise TooLarge for a date histogram with too many buckets.
    """
    hits = []
    for hit, why in zip_longest(result.hits, whys):
        out = _build_hit(index, plan, hit, lemmatizer)
        if names := [clause.name for clause in plan.named_clauses if matches_document(clause.query, hit.document)]:
            out["matched_queries"] = names
        if why is not None:
            out["why"] = why
        hits.append(out)
    body: dict[str, Any] = {
        "took": 0,
        "timed_out": False,
        "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
        "hits": {
            "total": {"value": result.total, "relation": "eq"},
            "max_score": max((hit.score for hit in result.hits), default=None) if plan.has_scores else None,
            "hits": hits,
        },
    }
    if plan.aggregations:
        body["aggregations"] = {name: _build_aggregation(value, result) for name, value in plan.aggregations.items()}
    return body


def _build_hit(index: str, plan: SearchPlan, hit: Hit, lemmatizer: Lemmatizer) -> dict[str, Any]:
    out: dict[str, Any] = {"_index": index, "_id": hit.id, "_score": hit.score if plan.has_scores else None}
    if plan.vector is not None:
        out["_found_by"] = [part for part in _FOUND_BY_ORDER if part in hit.found_by]
    if plan.source_filter is not False:
        out["_source"] = build_document_source(hit.document, plan.source_filter)
    if plan.sort:
        values = {"score": hit.score, "date": date_to_millis(hit.document.document.date), "id": hit.id}
        out["sort"] = [values[key.field] for key in plan.sort]
    if plan.highlight:
        highlights = build_highlights(hit.document, plan.words.lemmas, plan.highlight, lemmatizer)
        out |= {"highlight": highlights} if highlights else {}
    return out


def build_document_source(analysed: AnalysedDocument, source_filter: frozenset[str] | bool = True) -> dict[str, Any]:
    """Return the ``_source`` of a document; ``source_filter``: its fields, or True for all of them."""
    document = analysed.document
    source: dict[str, Any] = {
        **document.extra,
        **{name: list(values) for name, values in document.facets.items()},
        "title": document.title,
        "text": document.text,
        "date": document.date,
        "url": document.url,
    }
    if isinstance(source_filter, bool):
        return source
    return {name: value for name, value in source.items() if name in source_filter}


def _build_aggregation(aggregation: TermsAggregation | PlannedHistogram, result: SearchResult) -> dict[str, Any]:
    if isinstance(aggregation, TermsAggregation):
        return _build_terms_aggregation(result.facets.get(aggregation.field, {}), aggregation.size)
    return {"buckets": _build_date_buckets(result.histograms.get(aggregation.interval, {}), aggregation)}


def _build_terms_aggregation(counts: Mapping[str, int], size: int) -> dict[str, Any]:
    top = list(counts.items())[:size]
    return {
        "doc_count_error_upper_bound": 0,
        "sum_other_doc_count": sum(counts.values()) - sum(count for _, count in top),
        "buckets": [{"key": key, "doc_count": count} for key, count in top],
    }


def _build_date_buckets(counts: Mapping[int, int], histogram: PlannedHistogram) -> list[dict[str, Any]]:
    minimum = histogram.min_doc_count
    buckets: list[dict[str, Any]] = []
    for millis, count in histogram.interval.fill_empty_buckets(counts) if minimum == 0 else counts.items():
        if count >= minimum:
            buckets.append({"key_as_string": format_timestamp(millis), "key": millis, "doc_count": count})
        if len(buckets) > _MAX_DATE_BUCKETS:
            raise TooLarge("the date histogram has too many buckets", fix="use a longer interval, or min_doc_count 1")
    return buckets
