"""The vector to explain by is read off any search body."""

from __future__ import annotations

from typing import Any

import pytest

from indexer.vectors import encode_vector
from tests.support.search_bodies import SEARCH_BODIES
from webapi.search.query_vectors import read_query_vector

VECTOR = [0.5, -2.0]
KNN = {"field": "vector", "query_vector": VECTOR, "k": 3, "num_candidates": 9}
OTHER = {**KNN, "query_vector": [1.0, 1.0]}
MATCH = {"match": {"text": "solar"}}
NESTED = {"nested": {"path": "chunks", "query": {"knn": {**KNN, "field": "chunks.vector"}}}}

FINDING_BODIES: dict[str, dict[str, Any]] = {
    "at the top": {"knn": KNN},
    "in a list at the top": {"knn": [KNN]},
    "the same one twice": {"knn": [KNN, {**KNN, "boost": 2}], "query": {"knn": KNN}},
    "beside a query": {"query": MATCH, "knn": KNN},
    "beside one of another field": {"knn": [{**OTHER, "field": "image"}, KNN]},
    "beside one that embeds a text": {
        "knn": [{"field": "vector", "query_vector_builder": {"text_embedding": {}}}, KNN]
    },
    "as a query": {"query": {"knn": KNN}},
    "in a bool query": {"query": {"bool": {"must": [MATCH], "should": [{"knn": KNN}]}}},
    "in a function score": {"query": {"function_score": {"query": {"knn": KNN}, "functions": [{"weight": 2}]}}},
    "in a constant score": {"query": {"constant_score": {"filter": {"knn": KNN}}}},
    "as a filter without another": {"query": {"bool": {"must": [MATCH], "filter": [{"knn": KNN}]}}},
    "beside one of a filter": {"query": {"bool": {"should": {"knn": KNN}, "filter": {"knn": OTHER}}}},
    "beside one that hits must not match": {"query": {"bool": {"should": {"knn": KNN}, "must_not": {"knn": OTHER}}}},
    "beside a negative one": {"query": {"boosting": {"positive": {"knn": KNN}, "negative": {"knn": OTHER}}}},
    "as a retriever": {"retriever": {"knn": KNN}},
    "in a standard retriever": {"retriever": {"standard": {"query": {"knn": KNN}}}},
    "in rrf": {"retriever": {"rrf": {"retrievers": [{"standard": {"query": MATCH}}, {"knn": KNN}]}}},
    "in a linear retriever": {"retriever": {"linear": {"retrievers": [{"retriever": {"knn": KNN}, "weight": 2}]}}},
    "below retrievers": {
        "retriever": {"rescorer": {"retriever": {"rrf": {"retrievers": [{"knn": KNN}]}}, "rescore": {"query": {}}}}
    },
    "in a reranker": {"retriever": {"text_similarity_reranker": {"retriever": {"knn": KNN}, "inference_text": "x"}}},
    "in a sub-search": {"sub_searches": [{"query": MATCH}, {"query": {"knn": KNN}}]},
}


@pytest.mark.parametrize("name", FINDING_BODIES)
def test_the_vector_of_a_body_is_found(name: str) -> None:
    assert read_query_vector(FINDING_BODIES[name], "vector") == encode_vector(VECTOR)


OTHER_BODIES: dict[str, dict[str, Any]] = {
    "none": {"query": MATCH},
    "two": {"knn": [KNN, OTHER]},
    "two in different parts": {"knn": KNN, "query": {"bool": {"should": [{"knn": OTHER}]}}},
    "one of another field": {"knn": {**KNN, "field": "image"}},
    "one that hits must not match": {"query": {"bool": {"must_not": [{"knn": KNN}]}}},
    "a text": {"knn": {**KNN, "query_vector": "3f00c000"}},
    "zero": {"knn": {**KNN, "query_vector": [0, 0]}},
    "not numbers": {"knn": {**KNN, "query_vector": ["a"]}},
    "a field that is called so": {"query": {"match": {"knn": {"query": "x"}}}},
    "values of an aggregation": {"aggs": {"knn": {"terms": {"field": "vector"}}}},
    "parts of other types": {"knn": 3, "query": [None, "knn"], "retriever": "knn"},
}


@pytest.mark.parametrize("name", OTHER_BODIES)
def test_no_vector_is_taken_if_it_is_not_clear_which(name: str) -> None:
    assert read_query_vector(OTHER_BODIES[name], "vector") is None


def test_the_vectors_of_passages_are_in_a_nested_field() -> None:
    assert read_query_vector({"query": NESTED}, "chunks.vector") == encode_vector(VECTOR)
    assert read_query_vector({"query": NESTED}, "vector") is None
    assert read_query_vector({"knn": KNN}, None) is None


def test_the_vectors_of_usual_bodies_are_found() -> None:
    found = {one.name for one in SEARCH_BODIES if read_query_vector(one.body, "vector") is not None}
    assert {"knn", "knn with a filter beside a query", "knn as a query", "knn retriever", "linear retriever"} <= found
    assert "two knn searches" not in found
