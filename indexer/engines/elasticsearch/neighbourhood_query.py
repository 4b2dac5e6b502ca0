"""The search that returns the neighbourhood of two sides with the BM25 score of every edge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from indexer.engines.elasticsearch.mappings import Body
from indexer.engines.elasticsearch.query_builder import IS_DELETION_MARK, build_visibility_filters
from indexer.engines.search_types import NeighbourhoodRequest
from indexer.identifiers import is_document_id, replace_surrogates
from indexer.model.bm25 import split_phrase_words

MAX_EXACT_COUNT = 10_000
"""Limit up to which documents reached from both sides are counted exactly."""
PINNED_SCORE = 1e9
"""Score that ranks an included document before all others, whatever its own total."""
NEIGHBOURHOOD_FILTER_PATH = (
    "timed_out,_shards.failed,hits.total,hits.hits.sort,hits.hits.fields,hits.hits.matched_queries"
)
"""Parts of the response to a neighbourhood query that are read."""


def build_neighbourhood_search(request: NeighbourhoodRequest, phrases: Sequence[str]) -> Body:
    """Build the one search that returns documents, totals and edges; see NeighbourhoodRequest for the definition.

    Every phrase is a named clause, the position in ``phrases`` its name. Elasticsearch returns its score with each
    hit that contains the phrase, also with included documents reached from one side only. A phrase of both sides
    scores once, with both boosts added, and is a condition without score in the disjunction of side B; so the score
    of a hit is its total by the definition.
    """
    include = [name for name in request.include if is_document_id(name)]
    edges = {
        phrase: _build_edge_clause(phrase, str(i), sum_boosts(request, phrase)) for i, phrase in enumerate(phrases)
    }
    included: Body = {"bool": {"filter": {"ids": {"values": include}}, "must_not": IS_DELETION_MARK}}
    if request.boosts_a and request.boosts_b:
        pinned = {"constant_score": {"filter": included, "boost": PINNED_SCORE}}
        query: Body = {
            "should": [_build_both_sides_query(request, edges), pinned],
            "minimum_should_match": 1,
            "filter": [],
        }
    else:  # nothing can be reached from both sides, but included documents still have edges
        query = {"should": list(edges.values()), "filter": [included]}
    if request.groups is not None:  # a deletion mark has no phrases
        query["filter"] += build_visibility_filters(request.groups)
    return {
        "query": {"bool": query},
        "sort": ["_score", {"id": "asc"}],
        "size": request.limit + len(include),
        "track_total_hits": MAX_EXACT_COUNT,
        "_source": False,
        "stored_fields": "_none_",
        "docvalue_fields": ["card"],
    }


def _build_both_sides_query(request: NeighbourhoodRequest, edge_clauses: Mapping[str, Body]) -> Body:
    """Build the query for documents with an edge to each side; ``edge_clauses``: the clause of every phrase."""
    from_a = [edge_clauses[phrase] for phrase in request.boosts_a]
    from_b = [edge_clauses[phrase] for phrase in request.boosts_b if phrase not in request.boosts_a]
    shared = [replace_surrogates(phrase) for phrase in request.boosts_b if phrase in request.boosts_a]
    if shared:
        from_b.append({"constant_score": {"filter": {"terms": {"phrases": shared}}, "boost": 0}})
    return {"bool": {"must": [{"bool": {"should": from_a}}, {"bool": {"should": from_b}}]}}


def sum_boosts(request: NeighbourhoodRequest, phrase: str) -> float:
    """Return the boost of a phrase over both sides."""
    return request.boosts_a.get(phrase, 0.0) + request.boosts_b.get(phrase, 0.0)


def _build_edge_clause(phrase: str, name: str, boost: float) -> Body:
    """Build the clause that matches documents with the phrase and scores its words.

    A document with the phrase contains all its words, so the operator ``and`` changes no score; it is faster since
    Elasticsearch then needs no priority queue over the postings of the words.
    """
    phrase = replace_surrogates(phrase)
    words = {"query": " ".join(split_phrase_words(phrase)), "operator": "and"}
    return {
        "bool": {
            "must": {"match": {"tokens": words}},
            "filter": {"term": {"phrases": phrase}},
            "boost": boost,
            "_name": name,
        }
    }
