"""The words to explain by are read off any search body."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.search_bodies import SEARCH_BODIES, SearchBody
from webapi.search.query_texts import read_query_texts


@pytest.mark.parametrize("one", SEARCH_BODIES, ids=lambda one: one.name)
def test_the_texts_of_usual_bodies_are_found(one: SearchBody) -> None:
    assert read_query_texts(one.body) == tuple(dict.fromkeys(one.texts))


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("title:(quick OR brown) fox", ("quick brown", "fox")),
        ("wi-fi e-mail c++ C# and/or", ("wi-fi e-mail c++ C# and/or",)),
        ("name:/jo(h)n/ age:>=10 date:[2020 TO *] left", ("left",)),
        ("-(a b) !c NOT d +e && f || g", ("e f g",)),
        ('"a b"~3^2 ro~2 kim*t wh?t', ("a b ro",)),
        (r"a\:b \(c\)", ("a:b (c)",)),
        ('"never closed', ("never closed",)),
        (")(](", ()),
        ("x:", ("x",)),
    ],
)
def test_the_words_of_a_text_in_lucenes_syntax_are_those_that_hits_contain(query: str, words: tuple[str, ...]) -> None:
    assert read_query_texts({"query": {"query_string": {"query": query}}}) == words


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("time 10:30 [urgent]", "time 10:30 [urgent]"),
        ('"a b"~2 +c | (d* -e) f~1', "a b c d f"),
        ("-only", None),
    ],
)
def test_the_words_of_a_simple_query_are_those_that_hits_contain(query: str, words: str | None) -> None:
    expected = () if words is None else (words,)
    assert read_query_texts({"query": {"simple_query_string": {"query": query}}}) == expected


def test_a_long_list_of_intervals_is_read_in_linear_time() -> None:
    rules = [{"match": {"query": f"w{n % 7}"}} for n in range(100_000)]
    assert read_query_texts({"query": {"intervals": {"a": rules}}}) == tuple(f"w{n}" for n in range(7))


@pytest.mark.parametrize(
    ("body", "texts"),
    [
        ({"query": {"bool": {"filter": [{"match": {"a": "narrow"}}]}}}, ("narrow",)),
        ({"query": {"bool": {"must": {"match": {"a": "wide"}}, "filter": {"match": {"a": "narrow"}}}}}, ("wide",)),
        ({"query": {"bool": {"must_not": {"match": {"a": "not"}}}}}, ()),
        ({"query": {"nested": {"path": "a", "query": {"match": {"a.b": {"query": "inner"}}}}}}, ("inner",)),
        ({"query": {"brand_new": {"inner": [{"match": {"a": "found"}}]}}}, ("found",)),
        ({"retriever": {"brand_new": {"retrievers": [{"standard": {"query": {"match": {"a": "x"}}}}]}}}, ("x",)),
        ({"query": {"text_expansion": {"tokens": {"model_id": "m", "model_text": "expanded"}}}}, ("expanded",)),
        ({"query": {"match": {"a": 5}}}, ()),
        ({"query": {"match": "x"}}, ()),
        ({"query": {"multi_match": []}}, ()),
        ({"query": {"intervals": {"a": {"match": {"query": "x", "filter": {"not_containing": {}}}}}}}, ("x",)),
        ({"query": "x", "knn": 1, "retriever": [], "rescore": None}, ()),
        ({"post_filter": {"match": {"a": "x"}}, "aggs": {"x": {"filter": {"match": {"a": "x"}}}}}, ()),
    ],
)
def test_texts_that_narrow_or_exclude_are_left_out(body: dict[str, Any], texts: tuple[str, ...]) -> None:
    assert read_query_texts(body) == texts


def test_texts_can_be_limited_to_fields() -> None:
    body = {
        "query": {
            "bool": {
                "should": [
                    {"match": {"title": "one"}},
                    {"match": {"text": "two"}},
                    {"multi_match": {"query": "three", "fields": ["ti*^3", "tags"]}},
                    {"multi_match": {"query": "four"}},
                    {"query_string": {"query": "title:five text:six", "default_field": "text"}},
                ]
            }
        }
    }
    assert read_query_texts(body, frozenset({"title"})) == ("one", "three", "four", "five")
    assert read_query_texts(body, frozenset({"text"}), {"q": "seven", "df": "text"}) == ("two", "four", "six", "seven")
