"""Search bodies sent to Elasticsearch; that of a neighbourhood is in ``neighbourhood_query``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from indexer.dates import date_bounds_to_millis
from indexer.engines.attached_source import SourceAccess
from indexer.engines.date_histogram import Interval
from indexer.engines.elasticsearch.mappings import DELETION_MARKERS, SEQUENCE_FIELDS, VECTOR_FIELD, Body
from indexer.engines.query_tree import DateRange, FacetTerms, Match, MatchAll, Query, SortKey
from indexer.engines.rank_fusion import choose_candidate_count, make_vector_selection
from indexer.engines.search_types import MAX_FACET_VALUES, Groups, SearchRequest, Selection
from indexer.identifiers import build_facet_key_prefix, build_facet_keys, replace_surrogates
from indexer.vectors import decode_vector

MAX_IDS_PER_CLAUSE = 1000
"""Number of ids in one clause; Elasticsearch refuses more than the result window of the source."""
MAX_FILTERS_PER_AGGREGATION = 1000
"""Number of phrases that one aggregation counts."""
MAX_IDS_PER_WORD_SEARCH = 100
"""Documents in which words are looked up at once: Elasticsearch's limit for the hits of an aggregation."""
MAX_INDICES_OF_A_POINT_IN_TIME = 1000
MAX_HIGHLIGHTED_CHARACTERS = 1_000_000
"""Characters of a field that are searched for the place of a word: Elasticsearch's limit for highlighting."""
MATCH_START, MATCH_END = "\ufdd0", "\ufdd1"
"""Characters around a match: Unicode reserves them for such internal use."""
ID_FILTER_PATH = "timed_out,_shards.failed,hits.hits.sort"
"""Parts of the response to a search for ids that are read."""


def format_timeout(seconds: float) -> str:
    """Return a search timeout in whole milliseconds, at least one."""
    return f"{max(1, int(1000 * seconds))}ms"


def build_overview_search() -> Body:
    """Build the search for the concrete index behind an alias, its documents and those added after the build."""
    return {
        "size": 0,
        "track_total_hits": True,
        "aggs": {"index": {"terms": {"field": "_index"}}, "added": {"terms": {"field": "added"}}},
    }


def build_last_sequence_search() -> Body:
    """Build the search for the highest sequence number of all writes to an index."""
    return {"size": 0, "track_total_hits": False, "aggs": {"last": {"max": {"field": "sequence"}}}}


IS_DELETION_MARK: Body = {"terms": {"added": list(DELETION_MARKERS)}}
"""Selects the marks that stand in the place of deleted documents."""


def build_visibility_filters(groups: Groups) -> list[Body]:
    """Build the filters that select the documents that ``groups`` may read, without deletion marks."""
    if groups is None:
        return [{"bool": {"must_not": IS_DELETION_MARK}}]
    shared = {"terms": {"acl": sorted(map(replace_surrogates, groups))}}
    return [{"bool": {"should": [{"term": {"open": True}}, shared]}}]


def build_search(request: SearchRequest) -> Body:
    """Build the body of one page of a search; aggregations are named by position, ``0`` and ``date 0``."""
    body: Body = {
        "query": _build_selection_query(request.selection, request.groups),
        "sort": [_build_sort(key) for key in request.order],
        "from": request.offset,
        "size": request.size,
        "track_total_hits": True,
    }
    return body | _build_aggregations(request)


def build_nearest_search(request: SearchRequest) -> Body:
    """Build the search for the documents nearest to the vector of a request, all of them, with their counts."""
    assert request.vector is not None, "called for a search by a vector"
    body: Body = {
        "knn": _build_nearest_clause(request),
        "sort": [_build_sort(key) for key in request.order],
        "size": request.vector.k,
        "track_total_hits": True,
    }
    return body | _build_aggregations(request)


def build_union_counts(request: SearchRequest) -> Body:
    """Build the search that counts the documents that match the words or are nearest to the vector.

    Elasticsearch computes totals and aggregations of ``knn`` and ``query`` over what either finds.
    """
    query = _build_selection_query(request.selection, request.groups)
    body: Body = {"knn": _build_nearest_clause(request), "query": query, "size": 0, "track_total_hits": True}
    return body | _build_aggregations(request)


def _build_nearest_clause(request: SearchRequest) -> Body:
    """Build ``knn``; its filter limits what is searched, so that hidden documents take no place among the nearest."""
    assert request.vector is not None, "called for a search by a vector"
    return {
        "field": VECTOR_FIELD,
        "query_vector": decode_vector(request.vector.vector).tolist(),
        "k": request.vector.k,
        "num_candidates": choose_candidate_count(request.vector),
        "filter": _build_selection_query(make_vector_selection(request), request.groups),
    }


def _build_selection_query(selection: Selection, groups: Groups) -> Body:
    """Build the query of a selection, limited to what ``groups`` may read."""
    filters = build_visibility_filters(groups)
    for name, values in selection.facets.items():
        filters.append({"terms": {"facets": build_facet_keys({name: values})}})
    start, end = date_bounds_to_millis(selection.date_from, selection.date_to)
    limits = {op: value for op, value in (("gte", start), ("lt", end)) if value is not None}
    if limits:
        filters.append({"range": {"date": limits}})
    query: Body = {"bool": {"filter": filters, "must": []}}
    if selection.words is not None:
        query["bool"]["must"].append(build_query(Match(selection.words)))
    if selection.query is not None:
        query["bool"]["must"].append(build_query(selection.query))
    return query


def _build_aggregations(request: SearchRequest) -> Body:
    """Build the aggregations of a request, if it has any."""
    aggregations = {str(i): _build_facet_aggregation(name) for i, name in enumerate(request.facets)}
    aggregations |= {
        f"date {i}": _build_histogram_aggregation(interval) for i, interval in enumerate(request.histograms)
    }
    return {"aggs": aggregations} if aggregations else {}


def build_query(query: Query) -> Body:
    """Translate a query tree into Elasticsearch's query DSL."""
    if isinstance(query, Match):
        if not query.words:
            return {"match_none": {}}
        operator = "and" if query.require_all else "or"
        return {"match": {"tokens": {"query": replace_surrogates(" ".join(query.words)), "operator": operator}}}
    if isinstance(query, FacetTerms):
        values = build_facet_keys({query.name: query.values})
        return {"constant_score": {"filter": {"terms": {"facets": values}}, "boost": 1}}
    if isinstance(query, DateRange):
        limits = {op: value for op, value in (("gte", query.start), ("lt", query.end)) if value is not None}
        condition = {"range": {"date": limits}} if limits else {"exists": {"field": "date"}}
        return {"constant_score": {"filter": condition, "boost": 1}}
    if isinstance(query, MatchAll):
        return {"match_all": {}}
    clauses: Body = {
        name: [build_query(part) for part in getattr(query, name)] for name in ("must", "should", "filter", "must_not")
    }
    if query.requires_nothing:  # otherwise a should clause would have to match
        clauses["filter"].append({"match_all": {}})
    if query.required_should_count > len(query.should):
        return {"match_none": {}}
    return {"bool": clauses | {"minimum_should_match": query.required_should_count}}


def _build_sort(key: SortKey) -> Body:
    order = {"order": "desc" if key.descending else "asc"}
    if key.field == "score":
        return {"_score": order}
    return {key.field: order | {"missing": "_last"}}


def _build_histogram_aggregation(interval: Interval) -> Body:
    width = {"fixed_interval": f"{interval.fixed_ms}ms"} if interval.fixed_ms else {"calendar_interval": interval.unit}
    return {"date_histogram": {"field": "date", "min_doc_count": 1, **width}}


def _build_facet_aggregation(name: str) -> Body:
    # the pattern is a regular expression: escape everything that is not a letter or digit
    prefix = re.sub(r"([^\w])", r"\\\1", build_facet_key_prefix(name))
    order = [{"_count": "desc"}, {"_key": "asc"}]
    return {"terms": {"field": "facets", "include": prefix + ".*", "size": MAX_FACET_VALUES, "order": order}}


def build_scan_search(after_id: str | None, size: int, groups: Groups) -> Body:
    """Build the search for the next ``size`` documents by id, after ``after_id``."""
    body: Body = {
        "query": {"bool": {"filter": build_visibility_filters(groups)}},
        "sort": [{"id": "asc"}],
        "size": size,
        "track_total_hits": False,
    }
    return body if after_id is None else body | {"search_after": [after_id]}


def build_mark_scan_search(after_id: str | None, size: int, since_seconds: float) -> Body:
    """Build the search for the next ``size`` write marks by id, of writes since a time in seconds since 1970."""
    return build_scan_search(after_id, size, None) | {
        "query": {"bool": {"filter": [{"range": {"written": {"gte": since_seconds}}}]}},
        "_source": list(SEQUENCE_FIELDS),
    }


def build_readable_ids_search(after_id: str | None, size: int, groups: Groups) -> Body:
    """Build a scan whose hits have no content but the sort value, which is the id."""
    return build_scan_search(after_id, size, groups) | {"_source": False, "stored_fields": "_none_"}


def build_facet_names_search(groups: Groups) -> Body:
    """Build the search for the most frequent values of all facets together; each value names its facet."""
    terms = {"field": "facets", "size": MAX_FACET_VALUES, "order": [{"_count": "desc"}, {"_key": "asc"}]}
    query = {"bool": {"filter": build_visibility_filters(groups)}}
    return {"query": query, "size": 0, "track_total_hits": False, "aggs": {"values": {"terms": terms}}}


def build_holder_counts(phrases: Sequence[str], groups: Groups) -> Body:
    """Build the search that counts the documents with each phrase, in several aggregations of anonymous filters.

    The field of the phrases has no doc values, so a terms aggregation cannot count it.
    """
    filters = [{"term": {"phrases": replace_surrogates(phrase)}} for phrase in phrases]
    parts = range(0, len(filters), MAX_FILTERS_PER_AGGREGATION)
    return {
        "query": {"bool": {"filter": build_visibility_filters(groups)}},
        "size": 0,
        "track_total_hits": False,
        "aggs": {
            str(start): {"filters": {"filters": filters[start : start + MAX_FILTERS_PER_AGGREGATION]}}
            for start in parts
        },
    }


def build_word_search(words: Sequence[str], ids: Sequence[str], fields: Sequence[str]) -> Body:
    """Build the search for the first place of words in documents of an attached source.

    ``fields``: in the order in which they are looked into. The aggregation ``WORD FIELD``, by position, has the
    documents with the word in the field and in none before it: the whole field, with the places marked. A highlight of
    the search itself would mark all words alike. ``_source`` has the fields, to compare them with our copy.
    """
    aggregations: Body = {}
    for i, word in enumerate(words):
        queries = [{"match": {name: {"query": word, "operator": "and", "lenient": True}}} for name in fields]
        for j, (name, query) in enumerate(zip(fields, queries, strict=True)):
            highlight = {
                "fields": {name: {"highlight_query": query, "number_of_fragments": 0}},
                "max_analyzed_offset": MAX_HIGHLIGHTED_CHARACTERS,
                "pre_tags": [MATCH_START],
                "post_tags": [MATCH_END],
            }
            hits = {"top_hits": {"size": len(ids), "_source": False, "highlight": highlight}}
            first = {"bool": {"filter": [query], "must_not": queries[:j]}}
            aggregations[f"{i} {j}"] = {"filter": first, "aggs": {"hits": hits}}
    return {"query": {"ids": {"values": list(ids)}}, "size": len(ids), "_source": list(fields), "aggs": aggregations}


def build_revision_search(ids: Sequence[str], size: int, source: bool | Body) -> Body:
    """Build the search for the sequence numbers of these documents in a source.

    ``source``: what of their content to return, as ``_source`` has it.
    """
    return {
        "query": {"ids": {"values": list(ids)}},
        "size": size,
        "seq_no_primary_term": True,
        "_source": source,
    }


def build_source_filter(with_vectors: bool, excluded_paths: Sequence[str] = ()) -> Body:
    """Build the ``_source`` of a search that returns whole documents, apart from the excluded paths.

    ``with_vectors``: whether to ask for vectors, for servers that leave them out otherwise.
    """
    return {
        **({"exclude_vectors": False} if with_vectors else {}),
        **({"excludes": list(excluded_paths)} if excluded_paths else {}),
    }


def build_index_names_search(pit_id: str) -> Body:
    """Build the search for the names of the indices whose documents a point in time has."""
    names = {"terms": {"field": "_index", "size": MAX_INDICES_OF_A_POINT_IN_TIME}}
    return {"pit": {"id": pit_id}, "size": 0, "track_total_hits": False, "aggs": {"indices": names}}


def restrict_source_search(search_body: Body, access: SourceAccess | None, timeout_seconds: float) -> Body:
    """Restrict a caller's search of an attached source to documents they may read, hits and aggregations alike.

    ``access``: None for a caller who may read everything.
    """
    body = search_body | {"track_total_hits": True, "timeout": format_timeout(timeout_seconds)}
    if access is None:
        return body
    query = search_body.get("query", {"match_all": {}})
    return body | {"query": {"bool": {"must": [query], "filter": [build_access_filter(access)]}}}


def build_access_filter(access: SourceAccess) -> Body:
    """Build the query that matches the documents of an attached source that a caller with limited groups may read."""
    ids, guard = access.readable_ids, access.guard
    clauses = [
        {"ids": {"values": list(ids[start : start + MAX_IDS_PER_CLAUSE])}}
        for start in range(0, len(ids), MAX_IDS_PER_CLAUSE)
    ]
    # an alias may point to another index by now, whose mapping was not examined
    filters: list[Body] = [{"term": {"_index": guard.index}}]
    filters.append({"bool": {"should": clauses}} if clauses else {"match_none": {}})
    if guard.acl_path:
        filters.append({"bool": {"must_not": {"terms": {"_ignored": guard.list_acl_names_in_ignored()}}}})
    if guard.is_filterable:
        is_public = {"bool": {"must_not": {"exists": {"field": guard.acl_path}}}}
        shared = {"terms": {guard.acl_path: sorted(map(replace_surrogates, access.groups))}}
        filters.append({"bool": {"should": [is_public, shared]}})
    return {"bool": {"filter": filters}}
