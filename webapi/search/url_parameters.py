"""Parameters in the URL of a search: which are passed on to an attached source, and which change nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from indexer.errors import BadParameter

NO_EFFECT_PARAMETERS = frozenset(
    {"allow_no_indices", "expand_wildcards", "human", "ignore_unavailable", "preference", "pretty"}
)
"""Parameters that change nothing in the response of an index of ours."""
PASSTHROUGH_PARAMETERS = frozenset(
    "_source _source_exclude_vectors _source_excludes _source_includes allow_no_indices allow_partial_search_results "
    "analyze_wildcard analyzer batched_reduce_size ccs_minimize_roundtrips default_operator df docvalue_fields "
    "expand_wildcards explain filter_path from human ignore_throttled ignore_unavailable include_named_queries_score "
    "lenient max_concurrent_shard_requests pre_filter_shard_size preference pretty q request_cache "
    "rest_total_hits_as_int routing search_type seq_no_primary_term size sort stats stored_fields suggest_field "
    "suggest_mode suggest_size suggest_text terminate_after timeout track_scores track_total_hits typed_keys "
    "version".split()
)
"""Parameters that reach the source of an attached index, for callers who may read everything."""
COUNT_PARAMETERS = NO_EFFECT_PARAMETERS | frozenset(
    "analyze_wildcard analyzer default_operator df ignore_throttled lenient q routing terminate_after".split()
)
"""Parameters that change which documents match, but not the form of the response."""
MGET_PARAMETERS = NO_EFFECT_PARAMETERS | {"_source", "_source_excludes", "_source_includes", "routing"}
"""Parameters of a request for documents by id."""
LIMITED_PARAMETERS = frozenset({"request_cache", "rest_total_hits_as_int", "search_type", "typed_keys"})
"""Parameters that reach the source of an attached index for callers with limited groups."""
_FIXES = {
    "scroll": "page with search_after, or scroll in Elasticsearch itself",
    "format": "read JSON",
    "source": "send the body with POST",
    "source_content_type": "send the body with POST",
}


def check_parameters(parameters: Mapping[str, str], allowed: Collection[str]) -> None:
    """Raise BadParameter for a parameter that is not allowed."""
    for name in parameters:
        if name not in allowed:
            fix = _FIXES.get(name, "put it in the body")
            raise BadParameter(f"the parameter {name[:80]!r} is not allowed", fix=fix)
