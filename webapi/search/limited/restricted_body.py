"""The search body that a caller with limited groups may send to an attached source: an allow-list by grammar.

The answer is the one that an index with only the documents they may read would give, apart from scores, which depend
on the words of all documents. The filter is part of everything that finds documents, so that totals and aggregations
respect it as well. What is not known to keep to it is refused with its place in the body.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from indexer.engines.attached_source import SourceAccess, SourceFields
from indexer.errors import BadParameter
from webapi.search.body import require_object
from webapi.search.limited.aggregation_kinds import check_aggregations
from webapi.search.limited.grammar import (
    Part,
    RewriteContext,
    check_field,
    check_plain,
    choose_from,
    list_of,
    make_refusal,
    object_of,
    one_of_kind,
    scalars,
)
from webapi.search.limited.query_clauses import (
    check_hits,
    check_inner_hits,
    check_knn,
    check_queries,
    check_query,
    check_sort,
)


def restrict_body(
    body: object, fields: SourceFields, access: SourceAccess, access_filter: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the body to send for a caller with limited groups.

    ``access_filter``: the query that matches what ``access`` allows. Raise Forbidden for what might tell of other
    documents, and BadParameter for values of a wrong shape and for fields that the caller may not name.
    """
    parts = dict(require_object(body, "the body"))
    has_other_searches = bool({"knn", "retriever"} & parts.keys())
    collapse = parts.get("collapse")
    if has_other_searches and "query" not in parts and isinstance(collapse, Mapping) and "inner_hits" in collapse:
        # Elasticsearch looks for them among all documents that match the query: here, all there are
        raise make_refusal("collapse.inner_hits of a vector search or retriever")
    if "query" in parts and isinstance(highlight := parts.get("highlight"), Mapping):
        # Otherwise the filter takes part: its groups are marked without require_field_match, and Elasticsearch
        # marks nothing in documents that match it by a field with doc values only.
        parts["highlight"] = {"highlight_query": parts["query"], **highlight}
    scope = RewriteContext(fields.without_hidden(access.guard), access.guard, access_filter)
    checked: dict[str, Any] = _BODY(scope, parts, "")
    if "query" in checked or not (checked.get("knn") or "retriever" in checked):  # an empty list is no search
        checked["query"] = scope.limit_query(checked.get("query", {"match_all": {}}))
    return checked


def _check_standard_retriever(scope: RewriteContext, value: object, path: str) -> dict[str, Any]:
    members = {
        "query": check_query,
        "filter": check_queries,
        "sort": check_sort,
        "search_after": check_plain,
        "collapse": object_of({"field": check_field}),
        **scalars("min_score _name"),
    }
    checked: dict[str, Any] = object_of(members)(scope, value, path)
    return checked | {"query": scope.limit_query(checked.get("query", {"match_all": {}}))}


def _check_retriever(scope: RewriteContext, value: object, path: str) -> dict[str, Any]:
    """Return a retriever with the filter in each part of it that finds documents."""
    limited_before = scope.limited_count
    checked: dict[str, Any] = one_of_kind(_RETRIEVERS)(scope, value, path)
    if scope.limited_count == limited_before:
        raise BadParameter(f"{path[:200]} contains no search", fix="give it a retriever that finds documents")
    return checked


def _check_weighted_retriever(scope: RewriteContext, value: object, path: str) -> dict[str, Any]:
    """Return a retriever that may have a weight beside it."""
    if isinstance(value, Mapping) and "retriever" in value:
        members = {"retriever": _check_retriever, **scalars("weight normalizer")}
        checked: dict[str, Any] = object_of(members)(scope, value, path)
        return checked
    return _check_retriever(scope, value, path)


_RESCORE = list_of(
    object_of(
        {
            "query": object_of(
                {"rescore_query": check_query, **scalars("query_weight rescore_query_weight score_mode")}
            ),
            **scalars("window_size"),
        }
    )
)
_COMPOUND: dict[str, Part] = {"filter": check_queries, **scalars("rank_window_size min_score _name")}
_ONE_INSIDE: dict[str, Part] = _COMPOUND | {"retriever": _check_retriever}
_SEVERAL_INSIDE: dict[str, Part] = _COMPOUND | {"retrievers": list_of(_check_weighted_retriever)}
_RETRIEVERS: dict[str, Part] = {
    "standard": _check_standard_retriever,
    "knn": check_knn,
    "rrf": object_of(_SEVERAL_INSIDE | scalars("rank_constant")),
    "linear": object_of(_SEVERAL_INSIDE | scalars("normalizer")),
    "rescorer": object_of(_ONE_INSIDE | {"rescore": _RESCORE}),
    "text_similarity_reranker": object_of(
        _ONE_INSIDE | {"field": check_field} | scalars("inference_id inference_text")
    ),
}
"""Kinds of retrievers. ``rule`` and ``pinned`` add documents that no filter applies to."""
_BODY = check_hits(
    {
        "query": check_query,
        "knn": list_of(check_knn),
        "retriever": _check_retriever,
        "post_filter": check_query,
        "aggs": check_aggregations,
        "aggregations": check_aggregations,
        "collapse": object_of(
            {
                "field": check_field,
                "inner_hits": list_of(check_inner_hits),
                **scalars("max_concurrent_group_searches"),
            }
        ),
        "rescore": _RESCORE,
        "search_after": check_plain,
        "profile": choose_from(False),
        **scalars("min_score track_total_hits timeout"),
    }
)
"""Parts of a body. A ``pit`` may be older than the rights of today."""
