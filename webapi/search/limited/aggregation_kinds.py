"""Aggregations that a caller with limited groups may send to an attached source.

An aggregation counts what the query finds, and the query has the filter. Left out are those that look beyond it:
``global``; ``significant_terms``, ``significant_text`` (counts in all documents); ``children``, ``parent`` (other
documents); samplers (the best documents by a score that depends on all); and whatever runs a script.
"""

from __future__ import annotations

from typing import Any

from indexer.errors import BadParameter
from webapi.search.body import require_object
from webapi.search.limited.grammar import (
    Part,
    RewriteContext,
    check_count,
    check_field,
    check_plain,
    check_scalar,
    get_part,
    list_of,
    named,
    object_of,
    one_of_kind,
    plains,
    scalars,
)
from webapi.search.limited.query_clauses import check_hits, check_queries, check_query, check_sort


def check_aggregations(scope: RewriteContext, value: object, path: str) -> dict[str, Any]:
    """Return the aggregations by the caller's names for them."""
    return {
        name: scope.enter(_check_aggregation, one, f"{path}.{name[:80]}")
        for name, one in require_object(value, path).items()
    }


def _check_aggregation(scope: RewriteContext, value: object, path: str) -> dict[str, Any]:
    entries = require_object(value, path)
    kinds = [name for name in entries if name not in _BESIDE_A_KIND]
    if len(kinds) != 1:
        raise BadParameter(f"{path[:200]} must have exactly one kind of aggregation")
    parts = _BESIDE_A_KIND | {kinds[0]: get_part(_AGGREGATIONS, kinds[0], path)}
    return {name: parts[name](scope, one, f"{path}.{name[:80]}") for name, one in entries.items()}


def _check_filters_of_buckets(scope: RewriteContext, value: object, path: str) -> Any:
    """Return the queries of buckets, which have names or stand in a list."""
    return (check_queries if isinstance(value, list) else named(check_query))(scope, value, path)


_BESIDE_A_KIND: dict[str, Part] = {
    "aggs": check_aggregations,
    "aggregations": check_aggregations,
    "meta": check_plain,
}
_FIELD: dict[str, Part] = {"field": check_field, **scalars("missing format")}
_BUCKETS: dict[str, Part] = _FIELD | scalars("keyed offset time_zone") | plains("order extended_bounds hard_bounds")
_TERMS: dict[str, Part] = {
    "min_doc_count": check_count,
    **scalars("size shard_size show_term_doc_count_error collect_mode execution_hint format"),
    **plains("order include exclude"),
}
_INTERVALS = scalars("interval calendar_interval fixed_interval")
_EMPTY_BUCKETS = scalars("min_doc_count")
"""Of a histogram, buckets without documents are between those of the documents found: 0 is harmless."""
_GRID: dict[str, Part] = {"field": check_field, **scalars("precision size shard_size"), **plains("bounds")}
_GAPS = scalars("format gap_policy") | plains("buckets_path")
_VALUE = object_of({"field": check_field, **scalars("missing")})
_COMPOSITE_OPTIONS: dict[str, Part] = {"field": check_field, **scalars("order missing_bucket missing_order format")}
_COMPOSITE_SOURCE = one_of_kind(
    {
        "terms": object_of(_COMPOSITE_OPTIONS),
        "histogram": object_of(_COMPOSITE_OPTIONS | _INTERVALS),
        "date_histogram": object_of(_COMPOSITE_OPTIONS | _INTERVALS | scalars("time_zone offset")),
        "geotile_grid": object_of(_COMPOSITE_OPTIONS | _GRID),
    }
)
_AGGREGATIONS: dict[str, Part] = {
    # buckets
    "terms": object_of(_FIELD | _TERMS),
    "multi_terms": object_of({"terms": list_of(_VALUE)} | _TERMS),
    "rare_terms": object_of(_FIELD | scalars("max_doc_count precision") | plains("include exclude")),
    "histogram": object_of(_BUCKETS | _INTERVALS | _EMPTY_BUCKETS),
    "date_histogram": object_of(_BUCKETS | _INTERVALS | _EMPTY_BUCKETS),
    "auto_date_histogram": object_of(_FIELD | scalars("buckets time_zone minimum_interval")),
    "range": object_of(_FIELD | scalars("keyed") | plains("ranges")),
    "date_range": object_of(_FIELD | scalars("keyed time_zone") | plains("ranges")),
    "ip_range": object_of(_FIELD | scalars("keyed") | plains("ranges")),
    "geo_distance": object_of(_FIELD | scalars("keyed unit distance_type") | plains("origin ranges")),
    "geohash_grid": object_of(_GRID),
    "geotile_grid": object_of(_GRID),
    "missing": object_of(_FIELD),
    "filter": check_query,
    "filters": object_of({"filters": _check_filters_of_buckets, **scalars("other_bucket other_bucket_key keyed")}),
    "adjacency_matrix": object_of({"filters": named(check_query), **scalars("separator")}),
    "nested": object_of({"path": check_field}),
    "reverse_nested": object_of({"path": check_field}),
    "composite": object_of({"sources": list_of(named(_COMPOSITE_SOURCE)), **scalars("size"), **plains("after")}),
    # figures
    **dict.fromkeys("avg max min sum value_count stats median_absolute_deviation".split(), object_of(_FIELD)),
    "extended_stats": object_of(_FIELD | scalars("sigma")),
    "string_stats": object_of(_FIELD | scalars("show_distribution")),
    "cardinality": object_of(_FIELD | scalars("precision_threshold")),
    "percentiles": object_of(_FIELD | scalars("keyed") | plains("percents tdigest hdr")),
    "percentile_ranks": object_of(_FIELD | scalars("keyed") | plains("values tdigest hdr")),
    "boxplot": object_of(_FIELD | scalars("compression")),
    "weighted_avg": object_of({"value": _VALUE, "weight": _VALUE, **scalars("format")}),
    "matrix_stats": object_of({"fields": list_of(check_field), **scalars("mode"), **plains("missing")}),
    "geo_bounds": object_of(_FIELD | scalars("wrap_longitude")),
    "geo_centroid": object_of(_FIELD),
    "top_hits": check_hits({}),
    "top_metrics": object_of({"metrics": list_of(_VALUE), "sort": check_sort, **scalars("size")}),
    # figures of other aggregations
    **dict.fromkeys("avg_bucket max_bucket min_bucket sum_bucket stats_bucket".split(), object_of(_GAPS)),
    "extended_stats_bucket": object_of(_GAPS | scalars("sigma")),
    "percentiles_bucket": object_of(_GAPS | scalars("keyed") | {"percents": list_of(check_scalar)}),
    "cumulative_sum": object_of(_GAPS),
    "derivative": object_of(_GAPS | scalars("unit")),
    "serial_diff": object_of(_GAPS | scalars("lag")),
    "bucket_sort": object_of(plains("sort") | scalars("from size gap_policy")),
}
