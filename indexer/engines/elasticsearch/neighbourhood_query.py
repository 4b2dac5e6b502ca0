"""The search that returns the neighbourhood of two sides with the BM25 score of every edge."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from indexer.engines.elasticsearch.mappings import Body
from indexer.engines.elasticsearch.query_builder import IS_DELETION_MARK, build_visibility_filters
from indexer.engines.search_types import NeighbourhoodRequest
from indexer.identifiers import is_document_id, replace_surrogates
from indexer.model.bm25 import split_phrase_words

MAX_EXACT_COUNT = 1_000
"""Limit up to which documents reached from both sides are counted exactly: Elasticsearch skips none until then."""
PINNED_SCORE = 1e9
"""Score that ranks an included document before all others, whatever its own total."""
NEGLIGIBLE_BOOST = 1e-30
"""Boost of clauses whose scores vanish in the total, which has single precision."""
NEIGHBOURHOOD_FILTER_PATH = (
    "timed_out,_shards.failed,hits.total,hits.hits.sort,hits.hits.fields,hits.hits.matched_queries"
)
"""Parts of the response to a neighbourhood query that are read."""


def build_neighbourhood_search(
    request: NeighbourhoodRequest,
    phrases: Sequence[str],
    rarer: Collection[str],
    other: Collection[str],
    *,
    is_sharded: bool,
) -> Body:
    """Build the one search that returns documents, totals and edges; see NeighbourhoodRequest for the definition.

    The query is a flat disjunction of constants with a single filter: that is the form in which Elasticsearch skips
    documents that cannot be among the best. The filter is the phrases of the ``rarer`` side; those of the ``other``
    one, and whether the caller may read it, are checked only of a document that would be among the best so far. Two
    filters in the query, or a disjunction for each side, would be evaluated for every document that both sides reach.

    The weights are the scores of named clauses, the position in ``phrases`` their name. Beside the post filter they
    decide nothing, so Elasticsearch evaluates them for the hits alone, included documents among them. But it collects
    the statistics of several shards for the query alone, so there they take part in it, with a boost that decides
    nothing.
    """
    include = [name for name in request.include if is_document_id(name)]
    included: Body = {"ids": {"values": include}}
    holders = [_build_constant({"term": {"phrases": replace_surrogates(p)}}, sum_boosts(request, p)) for p in phrases]
    edges = [_build_edge_clause(phrase, str(i)) for i, phrase in enumerate(phrases)]
    weighed: Body = {"bool": {"should": edges, "boost": NEGLIGIBLE_BOOST}}
    is_live = {"bool": {"filter": included, "must_not": IS_DELETION_MARK}}
    size = request.limit + len(include)
    return {
        "query": {
            "bool": {
                "should": [*holders, _build_constant(included, PINNED_SCORE), *([weighed] if is_sharded else ())],
                "minimum_should_match": 1,
                "filter": _build_either(_build_phrase_filter(rarer), is_live),
            }
        },
        "post_filter": {
            "bool": {
                "filter": [
                    _build_either(_build_phrase_filter(other), included),
                    # a deletion mark has no phrases
                    *(build_visibility_filters(request.groups) if request.groups is not None else ()),
                ],
                "should": [] if is_sharded else edges,
            }
        },
        "sort": ["_score", {"id": "asc"}],
        "size": size,
        "track_total_hits": max(MAX_EXACT_COUNT, size),
        "_source": False,
        "stored_fields": "_none_",
        "docvalue_fields": ["card"],
    }


def _build_constant(filter: Body, score: float) -> Body:
    return {"constant_score": {"filter": filter, "boost": score}}


def _build_phrase_filter(phrases: Collection[str]) -> Body:
    return {"terms": {"phrases": list(map(replace_surrogates, phrases))}}


def _build_either(*filters: Body) -> Body:
    return {"bool": {"should": list(filters)}}


def sum_boosts(request: NeighbourhoodRequest, phrase: str) -> float:
    """Return the boost of a phrase over both sides."""
    return request.boosts_a.get(phrase, 0.0) + request.boosts_b.get(phrase, 0.0)


def _build_edge_clause(phrase: str, name: str) -> Body:
    """Build the clause that matches documents with the phrase and scores its words.

    A document with the phrase contains all its words, so the operator ``and`` changes no score; it is faster since
    Elasticsearch then needs no priority queue over the postings of the words.
    """
    phrase = replace_surrogates(phrase)
    words = {"query": " ".join(split_phrase_words(phrase)), "operator": "and"}
    return {
        "bool": {
            "should": {"match": {"tokens": words}},
            "filter": {"term": {"phrases": phrase}},
            "_name": name,
        }
    }
