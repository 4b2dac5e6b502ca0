"""Searches with limited groups on a real Elasticsearch: they equal those of an index with only the readable documents.

Some documents are closed when the index is attached, some are closed in the source afterwards.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.api_keys import AppClient, IssuedKeys, make_app_client
from tests.support.attached_articles import Articles, attach_articles
from tests.support.readable_copy import copy_readable, strip_scores
from tests.support.search_bodies import SEARCH_BODIES, SearchBody, make_articles, make_vector

REFUSED = {
    "intervals": (403, "intervals[1].prefix"),
    "function score by age and place": (403, "_seq_no"),
    "script score": (403, "query.script_score"),
    "more like a text": (403, "query.more_like_this"),
    "rank fusion of one text": (403, "retriever.rrf.query"),
    "query rules over pinned documents": (403, "retriever.rule"),
    "semantic query": (403, "query.semantic"),
    "sparse vector query": (400, "no field 'tokens'"),
    "point in time": (403, "not allowed with a key for some groups"),
    "stored and doc value fields": (403, "_none_"),
    "suggestions": (403, "suggest"),
    "figures": (400, "no field 'groups'"),
    "filters, global and nested aggregations": (403, "aggs.all.global"),
    "composite and significant terms": (403, "aggs.unusual.significant_terms"),
    "details of each hit": (403, "explain"),
}
"""Bodies that are refused to callers with limited groups, with the status and a part of the reason.

All others are answered. Those that name a hidden field get the error for a field that does not exist.
"""
LACKING = [one.name for one in SEARCH_BODIES if one.needs and one.name not in REFUSED]
ANSWERED = [one for one in SEARCH_BODIES if one.name not in REFUSED and not one.needs]
SECRET = "zarquon"
CLOSED_WORDS = [
    *(f"grap{letter}" for letter in "0123456789abcdefg"),
    *(f"{letter}rapx" for letter in "0123456789abcdef"),
    *(f"g{letter}apx" for letter in "0123456789abcdefghijklmnopq"),
]
"""More than fifty words that are as similar to "grapx" as "graph" is, and come before it in the alphabet."""
SHARED_VIEWS = 34
"""Of a readable document and of a closed one."""
VECTOR = make_vector(1)
KNN = {"field": "vector", "query_vector": VECTOR, "k": 5, "num_candidates": 100}


def make_closed_articles() -> dict[str, dict[str, Any]]:
    """Return documents for the staff that push others aside: nearest to the vector, with words similar to "graph"."""
    return {
        f"closed{number}": {
            "title": f"{word} {SECRET}",
            "text": f"{word} graa{number:02} {SECRET}",
            "tags": [f"{SECRET}{number}", "science"],
            "published": "1999-01-01",
            "views": 1000 + number if number else SHARED_VIEWS,
            "vector": VECTOR,
            "comments": [{"author": SECRET, "body": word, "stars": 9}],
            "place": {"lat": -45, "lon": 170},
            "groups": ["staff"],
        }
        for number, word in enumerate(CLOSED_WORDS)
    }


@dataclass(frozen=True)
class LimitedSearch:
    """A caller in the group of guests, and Elasticsearch's answers from an index with only what guests may read."""

    app: AppClient
    articles: Articles
    copy: str

    def search(self, body: Any) -> Any:
        return self.app.post("/v1/articles/_search", body)

    def search_copy(self, body: Any) -> dict[str, Any]:
        return dict(self.articles.client.search(index=self.copy, body=body).body)

    def check_equal(self, body: dict[str, Any]) -> Any:
        """Check that the answer is that of the copy; return it."""
        reply = self.search(body | {"why": False})
        assert reply.status_code == 200, reply.text
        assert SECRET not in reply.text and "groups" not in reply.text
        assert strip_scores(reply.json, body) == strip_scores(self.search_copy(body), body)
        return reply.json


@pytest.fixture(scope="module")
def limited(elasticsearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LimitedSearch]:
    documents = make_articles() | make_closed_articles()
    with attach_articles(elasticsearch_url, documents=documents) as articles:
        closed_later = {
            id: documents[id] | {"text": f"{SECRET} power", "groups": ["staff"]} for id in ("d1", "d4", "d8")
        }
        for id, document in closed_later.items():
            articles.client.index(index=articles.index, id=id, document=document, refresh=True)
        readable = {id: one for id, one in documents.items() if "groups" not in one and id not in closed_later}
        keys = IssuedKeys(Path(tmp_path_factory.mktemp("keys")) / "keys.toml")
        keys.issue("guest", groups=("guests",))
        with (
            copy_readable(articles.client, articles.index, readable) as copy,
            articles.open_engine() as engine,
        ):
            app = make_app_client(engine, keys, limited_rate_per_minute=0)
            yield LimitedSearch(app.with_key(keys.secrets["guest"]), articles, copy)
            app.close()


def test_the_table_of_refused_bodies_names_bodies() -> None:
    assert REFUSED.keys() <= {one.name for one in SEARCH_BODIES}
    assert (len(ANSWERED), len(LACKING), len(REFUSED)) == (51, 4, 15)


@pytest.mark.parametrize("one", ANSWERED, ids=lambda one: one.name)
def test_an_allowed_body_gives_what_an_index_of_readable_documents_gives(
    limited: LimitedSearch, one: SearchBody
) -> None:
    body = dict(one.body)
    if "rescorer" not in str(body) and body.get("size") != 0:
        body["size"] = 50  # which hits come first depends on scores
    limited.check_equal(body)


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_body_is_refused_with_the_place(limited: LimitedSearch, name: str) -> None:
    status, reason = REFUSED[name]
    body = next(limited.articles.make_sent_body(one) for one in SEARCH_BODIES if one.name == name)
    reply = limited.search(body)
    assert reply.status_code == status, reply.text
    assert reason in reply.text


@pytest.mark.parametrize("name", LACKING)
def test_a_body_that_the_server_lacks_is_not_refused_by_us(limited: LimitedSearch, name: str) -> None:
    body = next(dict(one.body) for one in SEARCH_BODIES if one.name == name)
    reply = limited.search(body)
    assert reply.status_code == 400 and "Elasticsearch refuses this search" in reply.text


def nest(**query: Any) -> dict[str, Any]:
    return {"query": {"nested": {"path": "comments", "query": query, "inner_hits": {"size": 3}}}}


def count(**aggregations: Any) -> dict[str, Any]:
    return {"size": 0, "aggs": aggregations}


TERMS = {"terms": {"field": "tags", "size": 1000}}
SAME: dict[str, dict[str, Any]] = {
    # the first fifty of many similar words: those of closed documents must not take the places
    "fuzzy match": {"query": {"match": {"text": {"query": "grapx", "fuzziness": 1}}}},
    "fuzzy match of several fields": {"query": {"multi_match": {"query": "grapx", "fuzziness": "AUTO"}}},
    "fuzzy term": {"query": {"fuzzy": {"text": {"value": "grapx", "fuzziness": 1}}}},
    "unfinished phrase": {"query": {"match_phrase_prefix": {"text": "gra"}}},
    "unfinished phrase of several fields": {
        "query": {"multi_match": {"query": "gra", "fields": ["text"], "type": "phrase_prefix"}}
    },
    "unfinished word": {"query": {"match_bool_prefix": {"text": {"query": "grapx gra", "fuzziness": 1}}}},
    # the nearest of all documents: closed ones must not take the places
    "knn": {"knn": KNN},
    "knn with few candidates": {"knn": {**KNN, "k": 2, "num_candidates": 2}, "size": 2},
    "knn beside a query": {"knn": KNN, "query": {"match": {"text": SECRET}}},
    "knn as a query": {"query": {"knn": KNN}},
    "knn in a filter": {"query": {"bool": {"filter": [{"knn": KNN}]}}, "aggs": {"tags": TERMS}},
    "knn with a nested filter": {
        "knn": {**KNN, "filter": {"nested": {"path": "comments", "query": {"range": {"comments.stars": {"gte": 1}}}}}}
    },
    "knn retriever": {"retriever": {"knn": KNN}, "aggs": {"tags": TERMS}, "size": 5},
    "knn after a query": {"post_filter": {"knn": KNN}, "aggs": {"tags": TERMS}},
    "knn in an aggregation": count(near={"filter": {"knn": KNN}, "aggs": {"tags": TERMS}}),
    "standard retriever": {"retriever": {"standard": {"query": {"match": {"text": SECRET}}}}, "aggs": {"tags": TERMS}},
    "retriever of everything": {"retriever": {"standard": {}}, "aggs": {"tags": TERMS}, "size": 50},
    # words that only closed documents have
    "query string of all fields": {"query": {"query_string": {"query": f"{SECRET}* OR views:>=1000 OR staff"}}},
    "simple query string of all fields": {"query": {"simple_query_string": {"query": f"{SECRET}* | staff | 1000"}}},
    "multi match of all fields": {"query": {"multi_match": {"query": f"{SECRET} staff 1000"}}},
    "wildcard": {"query": {"wildcard": {"tags": "*"}}, "size": 50},
    "regexp": {"query": {"regexp": {"tags": f"{SECRET}.*"}}},
    "ids": {"query": {"ids": {"values": ["closed1", "d1", "d2", "d5"]}}},
    "terms of ids": {"query": {"terms": {"_id": ["closed1", "d1", "d2", "d5"]}}},
    "nested": nest(term={"comments.author": SECRET}),
    "nested without": {"query": {"bool": {"must_not": nest(match_all={})["query"]}}},
    "rescored": {
        "query": {"match_all": {}},
        "rescore": {"query": {"rescore_query": {"match": {"text": SECRET}}}},
        "size": 50,
    },
    # counts
    "terms": count(tags=TERMS),
    "terms from a pattern": count(tags={"terms": {"field": "tags", "include": f"{SECRET}.*", "size": 99}}),
    "rarest terms": count(tags={"terms": {"field": "tags", "order": {"_count": "asc"}, "size": 1}}),
    "rare terms": count(tags={"rare_terms": {"field": "tags"}}),
    "empty buckets": count(views={"histogram": {"field": "views", "interval": 10, "min_doc_count": 0}}),
    "dates": count(days={"date_histogram": {"field": "published", "calendar_interval": "month"}}),
    "largest and smallest": count(
        **{kind: {kind: {"field": "views"}} for kind in ("min", "max", "sum", "avg", "value_count", "cardinality")}
    ),
    "corners": count(box={"geo_bounds": {"field": "place"}}, middle={"geo_centroid": {"field": "place"}}),
    "filters": count(
        parts={
            "filters": {"filters": {"a": {"match": {"text": SECRET}}}, "other_bucket": True},
            "aggs": {"tags": TERMS},
        }
    ),
    "nested counts": count(
        comments={
            "nested": {"path": "comments"},
            "aggs": {"by": {"terms": {"field": "comments.author"}, "aggs": {"back": {"reverse_nested": {}}}}},
        }
    ),
    "composite": count(
        pages={"composite": {"size": 500, "sources": [{"t": {"terms": {"field": "tags"}}}], "after": {"t": "y"}}}
    ),
    "hits in an aggregation": count(
        tags={**TERMS, "aggs": {"all": {"top_hits": {"size": 50, "sort": [{"views": "desc"}], "fields": ["*"]}}}}
    ),
    "pipeline": count(
        tags={**TERMS, "aggs": {"views": {"sum": {"field": "views"}}}},
        most={"max_bucket": {"buckets_path": "tags>views"}},
    ),
    # what hits show
    "groups of hits": {
        "collapse": {"field": "views", "inner_hits": {"name": "all", "size": 50}},
        "sort": ["views"],
        "size": 50,
    },
    "all fields": {"fields": ["*"], "_source": False, "size": 50},
    "records by pattern": {"_source": ["gro*", "t*"], "docvalue_fields": ["views"], "size": 50},
    "records of the hidden field": {"_source": {"includes": "groups"}, "size": 50},
    "highlights of the filter": {
        "query": {"match": {"text": "web"}},
        "highlight": {"fields": {"*": {}}, "require_field_match": False, "number_of_fragments": 0},
        "size": 50,
    },
    "sorted by a nested field": {
        "sort": [
            {"comments.stars": {"nested": {"path": "comments", "filter": {"exists": {"field": "comments.author"}}}}},
            "title.keyword",
        ],
        "size": 50,
    },
    "hits after a value": {"sort": [{"views": "desc"}, "title.keyword"], "search_after": [1001, "a"], "size": 50},
}


@pytest.mark.parametrize("name", SAME)
def test_closed_documents_change_nothing(limited: LimitedSearch, name: str) -> None:
    limited.check_equal({"size": 50, **SAME[name]})


PUBLIC = {"bool": {"must_not": {"exists": {"field": "groups"}}}}


@pytest.mark.parametrize(
    "name",
    [
        *("fuzzy match", "fuzzy term", "unfinished phrase", "knn", "knn as a query", "knn retriever"),
    ],
)
def test_a_filter_around_the_query_would_not_do(limited: LimitedSearch, name: str) -> None:
    """Elasticsearch itself finds less if closed documents are only left out of the hits."""
    body, articles = SAME[name], limited.articles
    filtered = articles.client.search(index=articles.index, body={**body, "post_filter": PUBLIC}).body
    assert len(filtered["hits"]["hits"]) < len(limited.search_copy(body)["hits"]["hits"])


def test_hits_inside_those_of_a_vector_search_are_refused(limited: LimitedSearch) -> None:
    """Elasticsearch takes them from all documents, although the vector search has a filter."""
    body: dict[str, Any] = {"knn": KNN, "collapse": {"field": "views", "inner_hits": {"name": "all", "size": 9}}}
    articles = limited.articles
    nearest = {"query_vector": make_articles()["d2"]["vector"], "filter": PUBLIC}
    leaking = articles.client.search(index=articles.index, body={**body, "knn": {**KNN, **nearest}}).body
    assert SECRET in str(leaking)
    reply = limited.search(body)
    assert reply.status_code == 403 and "collapse.inner_hits" in reply.text


def test_query_strings_never_reach_the_hidden_field(limited: LimitedSearch) -> None:
    """Random texts of Lucene's language: those that are accepted find what the copy finds, where nothing is hidden."""
    chance = random.Random(1)
    parts = [*'+-!()^2~[]{}"*?/ \t\u3000', "title:", "text:", "title", "groups:", ":", "groups", "staff", "web", "NOT"]
    accepted = 0
    for _ in range(2000):
        text = "".join(chance.choice(parts) for _ in range(chance.randint(2, 8)))
        reply = limited.search({"query": {"query_string": {"query": text, "fields": ["title"]}}, "why": False})
        assert SECRET not in reply.text
        if reply.status_code == 200:
            accepted += ":" in text
            expected = limited.search_copy({"query": {"query_string": {"query": text, "fields": ["title"]}}})
            assert reply.json["hits"]["total"] == expected["hits"]["total"], text
        else:
            assert reply.status_code in (400, 403)
    assert accepted > 10


def test_hits_carry_reasons(limited: LimitedSearch) -> None:
    body = {"query": {"multi_match": {"query": "solar pawer", "fuzziness": "AUTO"}}, "_source": False, "size": 3}
    hits = limited.search(body).json["hits"]["hits"]
    assert len(hits) == 3 and all("_source" not in hit and "solar" in str(hit["why"]["matched"]) for hit in hits)


def test_documents_are_counted_and_fetched_as_they_are_searched(limited: LimitedSearch) -> None:
    everything = limited.app.post("/v1/articles/_count", {}).json["count"]
    assert everything == limited.search_copy({"size": 0})["hits"]["total"]["value"]
    secret = {"query": {"match": {"text": SECRET}}}
    assert limited.app.post("/v1/articles/_count", secret).json["count"] == 0
    reply = limited.app.post("/v1/articles/_mget", {"ids": ["d2", "d1", "closed1"]})
    assert [one["found"] for one in reply.json["docs"]] == [True, False, False]
    assert SECRET not in reply.text


@pytest.mark.parametrize(
    "parameter",
    [
        "q=groups:staff",
        "_source=groups",
        "filter_path=hits.hits._source",
        "stored_fields=groups",
        "routing=x",
        "explain",
    ],
)
def test_parameters_that_could_name_fields_are_refused(limited: LimitedSearch, parameter: str) -> None:
    assert limited.app.post(f"/v1/articles/_search?{parameter}", {}).status_code == 400


def test_parameters_for_clients_are_passed_on(limited: LimitedSearch) -> None:
    body = {"size": 0, "aggs": {"tags": {"terms": {"field": "tags"}}}}
    reply = limited.app.post("/v1/articles/_search?typed_keys=true&rest_total_hits_as_int=true", body).json
    assert "sterms#tags" in reply["aggregations"]
    assert reply["hits"]["total"] == limited.search_copy(body)["hits"]["total"]["value"]
