"""Parsers of the responses to the searches that ``query_builder`` builds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from indexer.engines.elasticsearch.mappings import decode_source, decode_summary_degrees, decode_summary_title
from indexer.engines.elasticsearch.neighbourhood_query import sum_boosts
from indexer.engines.rank_fusion import fuse_ranks
from indexer.engines.search_types import (
    FoundBy,
    Hit,
    Neighbourhood,
    NeighbourhoodRequest,
    SearchRequest,
    SearchResult,
)
from indexer.identifiers import build_facet_key_prefix
from indexer.lazy_sequences import LazySequence


def parse_search_response(response: Mapping[str, Any], request: SearchRequest) -> SearchResult:
    """Return the hits and counts of the response to ``build_search(request)``."""
    return _make_search_result(response, request, _parse_hits(response, request))


def parse_nearest_response(response: Mapping[str, Any], request: SearchRequest) -> SearchResult:
    """Return a page of the response to ``build_nearest_search(request)``."""
    page = _parse_hits(response, request)[request.offset : request.offset + request.size]
    by_vector: frozenset[FoundBy] = frozenset({"vector"})
    return _make_search_result(response, request, [replace(hit, found_by=by_vector) for hit in page])


def parse_fused_responses(
    nearest: Mapping[str, Any], words: Mapping[str, Any], counts: Mapping[str, Any], request: SearchRequest
) -> SearchResult:
    """Return a page of the merged hits of a vector and of words; ``counts``: of ``build_union_counts(request)``."""
    words_hits, nearest_hits = _parse_hits(words, request), _parse_hits(nearest, request)
    documents = {hit.id: hit.document for hit in (*words_hits, *nearest_hits)}
    found = fuse_ranks([hit.id for hit in words_hits], [hit.id for hit in nearest_hits])
    page = found[request.offset : request.offset + request.size]
    hits = [Hit(id, score, documents[id], found_by) for id, score, found_by in page]
    return _make_search_result(counts, request, hits)


def _parse_hits(response: Mapping[str, Any], request: SearchRequest) -> list[Hit]:
    hits = []
    score_position = next((i for i, key in enumerate(request.order) if key.field == "score"), None)
    for hit in response["hits"]["hits"]:
        analysed = decode_source(hit["_source"])
        score = request.constant_score or 0.0 if score_position is None else float(hit["sort"][score_position])
        hits.append(Hit(analysed.document.id, score, analysed))
    return hits


def _make_search_result(response: Mapping[str, Any], request: SearchRequest, hits: Sequence[Hit]) -> SearchResult:
    """Return the hits with the counts of a response."""
    results = response.get("aggregations", {})
    facets = {name: _parse_facet_counts(results[str(i)]["buckets"], name) for i, name in enumerate(request.facets)}
    histograms = {interval: _parse_histogram(results[f"date {i}"]) for i, interval in enumerate(request.histograms)}
    return SearchResult(response["hits"]["total"]["value"], tuple(hits), facets, histograms)


def _parse_histogram(histogram: Mapping[str, Any]) -> dict[int, int]:
    return {int(bucket["key"]): bucket["doc_count"] for bucket in histogram["buckets"]}


def _parse_facet_counts(buckets: Sequence[Mapping[str, Any]], name: str) -> dict[str, int]:
    prefix = build_facet_key_prefix(name)
    return {bucket["key"][len(prefix) :]: bucket["doc_count"] for bucket in buckets}


def parse_word_places(
    response: Mapping[str, Any], words: Sequence[str], fields: Sequence[str]
) -> dict[tuple[str, str], dict[str, tuple[str, str] | None]]:
    """Return the words of each hit of ``build_word_search``, by concrete index and id.

    A word has its field and the marked content of it, or None if Elasticsearch found it, but not its place.
    """
    found: dict[tuple[str, str], dict[str, tuple[str, str] | None]] = {
        (hit["_index"], hit["_id"]): {} for hit in response["hits"]["hits"]
    }
    for i, word in enumerate(words):
        for j, name in enumerate(fields):
            for hit in response["aggregations"][f"{i} {j}"]["hits"]["hits"]["hits"]:
                marked = hit.get("highlight", {}).get(name)
                words_of_hit = found.get((hit["_index"], hit["_id"]), {})  # an alias may have an id twice
                words_of_hit[word] = (name, marked[0]) if marked else None
    return found


def parse_neighbourhood(
    response: Mapping[str, Any], request: NeighbourhoodRequest, phrases: Sequence[str]
) -> Neighbourhood:
    """Return the neighbourhood from the response to ``build_neighbourhood_search(request, phrases)``."""
    hits = {hit["sort"][1]: hit for hit in response.get("hits", {}).get("hits", ())}
    included = [id for id in dict.fromkeys(request.include) if id in hits]
    totals = {id: hit["sort"][0] for id, hit in hits.items()}
    unreached = 0
    for id in included:  # their score is the pinned one: compute the total
        scores = hits[id].get("matched_queries", {})
        if _is_reached_from_both(scores, phrases, request):
            totals[id] = sum(sum_boosts(request, phrases[int(row)]) for row in scores)
        else:
            del totals[id]
            unreached += 1
    ranked = sorted([(-total, id) for id, total in totals.items()])[: request.limit]
    included_ids = set(included)
    ids = included + [id for _, id in ranked if id not in included_ids]

    summaries = [hits[id]["fields"]["card"][0] for id in ids]
    edge_scores = [hits[id].get("matched_queries", {}) for id in ids]
    sizes = list(map(len, edge_scores))
    edges, row_by_name = sum(sizes), {str(row): row for row in range(len(phrases))}
    rows = np.fromiter(map(row_by_name.__getitem__, chain.from_iterable(edge_scores)), dtype=np.int64, count=edges)
    weights = chain.from_iterable([scores.values() for scores in edge_scores])
    return Neighbourhood(
        ids=tuple(ids),
        titles=LazySequence(len(summaries), lambda i: decode_summary_title(summaries[i])),
        degrees=decode_summary_degrees(summaries),
        phrases=tuple(phrases),
        rows=rows,
        columns=np.repeat(np.arange(len(ids), dtype=np.int64), sizes),
        weights=np.fromiter(weights, dtype=np.float64, count=edges),
        reached_count=response.get("hits", {}).get("total", {"value": 0})["value"] - unreached,
    )


def _is_reached_from_both(scores: Mapping[str, float], phrases: Sequence[str], request: NeighbourhoodRequest) -> bool:
    """Return whether a hit contains a phrase of each side; ``scores``: by the name of the clause."""
    matched = [phrases[int(row)] for row in scores]
    return any(name in request.boosts_a for name in matched) and any(name in request.boosts_b for name in matched)
