"""A caller who may read everything searches an attached index with any body: the source's own answer, with reasons."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from indexer.engines.elasticsearch.attached_source import ElasticsearchSource
from indexer.engines.elasticsearch.engine import ElasticsearchEngine
from indexer.errors import EngineUnavailable
from tests.support.api_keys import AppClient, make_app_client
from tests.support.attached_articles import Articles, attach_articles, serve_recording_elasticsearch
from tests.support.search_bodies import SEARCH_BODIES, SearchBody

RUNNABLE = [one for one in SEARCH_BODIES if not one.needs]
UNKNOWN_HERE = [one for one in SEARCH_BODIES if one.needs]
UNKNOWN_NAMES = frozenset(
    "rrf linear text_similarity_reranker rule semantic sparse_vector query_vector_builder script".split()
)


@pytest.fixture(scope="module")
def app(articles: Articles) -> Iterator[AppClient]:
    with articles.open_engine() as engine:
        app = make_app_client(engine)
        yield app
        app.close()


def search(app: AppClient, body: object, parameters: str = "", status: int = 200) -> Any:
    reply = app.post(f"/v1/articles/_search{parameters}", body)
    assert reply.status_code == status, reply.text
    return reply.json


def split_whys(answer: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any] | None]]:
    """Return an answer without the time it took and without reasons, and the reasons."""
    whys = [hit.pop("why", None) for hit in answer["hits"]["hits"]]
    return {name: value for name, value in answer.items() if name not in ("took", "pit_id")}, whys


@pytest.mark.parametrize("one", RUNNABLE, ids=lambda one: one.name)
def test_the_answer_is_elasticsearchs_own_with_reasons(articles: Articles, app: AppClient, one: SearchBody) -> None:
    body = articles.make_sent_body(one)
    ours, whys = split_whys(search(app, body))
    theirs, _ = split_whys(articles.search(body))
    assert ours == theirs
    for hit, why in zip(ours["hits"]["hits"], whys, strict=True):
        if "_id" not in hit:  # with "stored_fields": "_none_"
            assert why is None
            continue
        assert why is not None and why["state"] == "done"
        words = {word for text in one.texts for word in text.casefold().replace("?", "").split()}
        told = {*(entry["word"] for entry in why["matched"]), *why["lacks"]}
        assert {word.casefold() for word in told} <= words and bool(told) == bool(words)


def test_a_body_that_the_test_server_does_not_know_reaches_the_source_unchanged(elasticsearch_url: str) -> None:
    with (
        serve_recording_elasticsearch(elasticsearch_url, UNKNOWN_NAMES) as server,
        attach_articles(elasticsearch_url, server.address) as articles,
        articles.open_engine() as engine,
    ):
        app = make_app_client(engine, allow_source_scripts=True)
        for one in UNKNOWN_HERE:
            server.recorded.clear()
            answer = search(app, {**one.body, "why": True})
            assert server.recorded == [dict(one.body)], one.name
            assert [hit["why"]["state"] for hit in answer["hits"]["hits"]] == ["done"] * 3
        app.close()


DOCUMENT = {"index": "elsewhere", "id": "1"}
LOOKUP_FIELD = {"type": "lookup", "input_field": "tags", "target_field": "tags", "fetch_fields": ["title"]}
SHAPE = {"geo_shape": {"place": {"indexed_shape": {"id": "1", "path": "shape"}}}}


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"query": {"bool": {"filter": [{"script": {"script": "1"}}]}}}, "query.bool.filter.0.script"),
        ({"script_fields": {}}, "script_fields"),
        ({"sort": [{"_script": {"type": "number", "script": "1"}}]}, "sort.0._script"),
        ({"query": {"terms_set": {"tags": {"minimum_should_match_script": "1"}}}}, "minimum_should_match_script"),
        ({"aggs": {"x": {"scripted_metric": {"map_script": "1"}}}}, "aggs.x.scripted_metric"),
        ({"aggs": {"x": {"bucket_script": {"buckets_path": {}}}}}, "aggs.x.bucket_script"),
        ({"runtime_mappings": {"x": {"type": "keyword", "script": "1"}}}, "runtime_mappings.x.script"),
        ({"query": {"terms": {"tags": DOCUMENT | {"path": "x"}}}}, "query.terms.tags.index"),
        ({"query": {"percolate": DOCUMENT | {"field": "x"}}}, "query.percolate.index"),
        ({"query": SHAPE}, "indexed_shape.index"),
        ({"post_filter": {"geo_shape": {"place": {"indexed_shape": DOCUMENT}}}}, "indexed_shape.index"),
        ({"knn": {"field": "vector", "query_vector_builder": {"lookup": DOCUMENT}}}, "lookup.index"),
        ({"query": {"more_like_this": {"like": [{"_index": "elsewhere", "_id": "1"}]}}}, "like.0._index"),
        ({"query": {"more_like_this": {"unlike": {"_index": "elsewhere", "doc": {}}}}}, "unlike._index"),
        ({"runtime_mappings": {"x": LOOKUP_FIELD | {"target_index": "elsewhere"}}}, "runtime_mappings.x.target_index"),
        ({"query": {"terms": {"tags": DOCUMENT | {"index": ["elsewhere"]}}}}, "query.terms.tags.index"),
        ({"query": {"more_like_this": {"like": {"_index": {}, "_id": "1"}}}}, "like._index"),
        ({"query": {"wrapper": {"query": "e30="}}}, "query.wrapper"),
        ({"suggest": {"x": {"phrase": {"collate": {"query": {"source": "{}"}}}}}}, "phrase.collate"),
    ],
)
def test_scripts_and_references_to_other_indices_are_refused_by_their_path(
    app: AppClient, body: dict[str, Any], path: str
) -> None:
    error = search(app, body, status=403)["error"]
    assert error["type"] == "forbidden" and path in error["reason"] and "; " in error["reason"]


def test_references_to_documents_of_the_source_are_allowed(articles: Articles, app: AppClient) -> None:
    document = {"index": articles.index, "id": "d1"}
    for body in (
        {"query": {"terms": {"tags": document | {"path": "tags"}}}},
        {"query": {"more_like_this": {"fields": ["title"], "like": {"_index": articles.index, "_id": "d1"}}}},
        {"query": {"more_like_this": {"fields": ["title"], "like": {"_id": "d1"}}}},
        {"runtime_mappings": {"x": LOOKUP_FIELD | {"target_index": articles.index}}, "fields": ["x"], "size": 2},
        {"query": {"bool": {"must_not": {"terms": {"_index": ["elsewhere"]}}}}, "size": 1},
    ):
        assert split_whys(search(app, body))[0] == split_whys(articles.search(body))[0]


def test_documents_behind_an_alias_cannot_be_referred_to(elasticsearch_url: str) -> None:
    """Reading them by id would pass by the filter of the alias."""
    with attach_articles(elasticsearch_url) as articles:
        alias = f"{articles.index}-some"
        articles.client.indices.put_alias(index=articles.index, name=alias, filter={"range": {"views": {"gte": 5}}})
        articles.attach(alias)
        with articles.open_engine() as engine:
            app = make_app_client(engine)
            for index in (alias, articles.index):
                body = {"query": {"terms": {"tags": {"index": index, "id": "d1", "path": "tags"}}}}
                assert "another index" in search(app, body, status=403)["error"]["reason"]
            search(app, {"query": {"more_like_this": {"fields": ["title"], "like": {"_id": "d1"}}}}, status=403)
            search(app, {"pit": {"id": articles.open_point_in_time(articles.index)}}, status=403)
            app.close()


def test_a_field_may_be_called_like_a_script(app: AppClient) -> None:
    assert search(app, {"query": {"match": {"movie_script": "x"}}})["hits"]["hits"] == []


def test_a_size_that_is_no_number_of_hits_is_refused(app: AppClient) -> None:
    reply = app.flask_app.test_client().post(
        "/v1/articles/_search", data=b'{"size": 1e999}', content_type="application/json"
    )
    assert reply.status_code == 400


def test_a_point_in_time_must_cover_the_source_only(articles: Articles, app: AppClient) -> None:
    other = f"{articles.index}-other"
    articles.client.index(index=other, id="1", document={"title": "hidden"}, refresh=True)
    for indices in (other, f"{articles.index},{other}"):
        id = articles.open_point_in_time(indices)
        for body in ({"pit": {"id": id}}, {"pit": {"id": id}, "size": 0, "aggs": {"x": {"terms": {"field": "views"}}}}):
            assert "pit" in search(app, body, status=403)["error"]["reason"]
    for pit in ("x", {}, {"id": 1}, {"id": "AAAA"}):
        assert search(app, {"pit": pit}, status=400)["error"]["type"] == "bad-parameter"
    closed = articles.open_point_in_time(articles.index)
    assert search(app, {"pit": {"id": closed}})["pit_id"]
    articles.client.close_point_in_time(id=closed)
    assert "search context" in search(app, {"pit": {"id": closed}}, status=400)["error"]["reason"]


@pytest.mark.parametrize(
    "raw",
    [
        b'{"size": 1, "size": 2}',
        b'{"query": {"match": {"title": "a"}, "match": {"title": "b"}}}',
        b'{"size": NaN}',
        b'{"why": false',
        b"[" * 100_000,
        b'{"query": ' * 250 + b"{}" + b"}" * 250,
        b"[]",
        b'"x"',
    ],
)
def test_a_body_that_two_parsers_could_read_differently_is_refused(app: AppClient, raw: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    reply = app.flask_app.test_client().post("/v1/articles/_search", data=raw, headers=headers)
    assert reply.status_code == 400 and "\n" not in reply.json["error"]["reason"], reply.text


def test_a_body_of_unannounced_length_is_read(app: AppClient) -> None:
    reply = app.flask_app.test_client().post(
        "/v1/articles/_search",
        input_stream=io.BytesIO(b'{"size": 2, "why": false}'),
        content_type="application/json",
        environ_overrides={"wsgi.input_terminated": True},
    )
    assert len(reply.json["hits"]["hits"]) == 2


def test_a_large_body_is_passed_on_and_a_larger_one_refused(app: AppClient) -> None:
    terms = {"query": {"terms": {"tags": ["travel", *(f"tag {number}" for number in range(50_000))]}}, "why": False}
    assert search(app, terms)["hits"]["total"]["value"] == 10
    terms["query"]["terms"]["tags"] *= 2  # type: ignore[index]
    assert search(app, terms, status=413)["error"]["type"] == "too-large"


def test_what_elasticsearch_refuses_is_reported_in_its_words(app: AppClient) -> None:
    for body, reason in (
        ({"query": {"no_such": {}}}, "unknown query [no_such]"),
        ({"sort": ["text"]}, "Fielddata is disabled"),
        ({"size": "many"}, "many"),
    ):
        error = search(app, body, status=400)["error"]
        assert error["type"] == "bad-parameter" and reason in error["reason"] and "\n" not in error["reason"]


@pytest.mark.parametrize(
    "parameters",
    [
        {"typed_keys": "true", "rest_total_hits_as_int": "true"},
        {"q": "title:solar", "size": "3", "_source_includes": "title", "sort": "views:desc"},
        {"search_type": "dfs_query_then_fetch", "preference": "_local", "request_cache": "false"},
        {"routing": "x", "ignore_unavailable": "true", "expand_wildcards": "open", "human": "true"},
        {"filter_path": "hits.hits._id,hits.hits._index,hits.total"},
        {"filter_path": "aggregations"},
        {"track_total_hits": "false"},
    ],
)
def test_parameters_of_the_url_are_passed_on(articles: Articles, app: AppClient, parameters: dict[str, str]) -> None:
    body = {"aggs": {"tags": {"terms": {"field": "tags"}}}}
    ours = search(app, body, "?" + urlencode(parameters | {"pretty": "true"}))
    raw = articles.client.perform_request(
        "POST",
        f"/{articles.index}/_search",
        params=parameters,
        headers={"Accept": "application/json", "Content-Type": "application/json"},
        body=body,
    )
    for hit in ours.get("hits", {}).get("hits", []):
        assert hit.pop("why")["state"] == "done"
    assert {**ours, "took": 0} == {**raw.body, "took": 0}


@pytest.mark.parametrize("name", ["scroll=1m", "format=yaml", "source={}", "source_content_type=x", "no_such=1"])
def test_a_parameter_that_is_not_passed_on_is_refused(app: AppClient, name: str) -> None:
    assert name.partition("=")[0] in search(app, {}, f"?{name}", 400)["error"]["reason"]


def read_words(answer: Any) -> set[str]:
    why = answer["hits"]["hits"][0]["why"]
    return {*(entry["word"] for entry in why["matched"]), *why["lacks"]}


def test_the_caller_may_say_which_words_to_explain_by(app: AppClient) -> None:
    body = {
        "query": {"bool": {"should": [{"match": {"title": "solar"}}, {"match": {"text": "battery"}}]}},
        "knn": {"field": "vector", "query_vector": [1.0] * 8, "k": 3, "num_candidates": 9},
    }
    assert read_words(search(app, body)) == {"solar", "battery"}
    assert read_words(search(app, {**body, "why": {"query": "hiking boots"}})) == {"hiking", "boots"}
    assert read_words(search(app, {**body, "why": {"fields": ["text"]}})) == {"battery"}
    assert read_words(search(app, {"query": {"match_all": {}}}, "?q=title:solar")) == {"solar"}
    assert all("why" not in hit for hit in search(app, {**body, "why": False})["hits"]["hits"])
    for why, reason in (
        ({"vector": [1.0]}, "the vector has 1 numbers"),
        ({"words": "x"}, "why"),
        ({"query": 1}, "why.query"),
        ({"query": "x", "fields": ["title"]}, "why.fields"),
        ("yes", "why"),
    ):
        assert reason in search(app, {**body, "why": why}, status=400)["error"]["reason"]


def test_more_hits_than_are_explained_at_once_are_refused(app: AppClient) -> None:
    for body, parameters in (({"size": 51}, ""), ({"size": "51"}, ""), ({}, "?size=51")):
        assert "why" in search(app, body, parameters, 413)["error"]["reason"]
    assert len(search(app, {"size": 1000, "why": False})["hits"]["hits"]) == 30


def test_hits_that_differ_from_the_attached_documents_are_marked_whatever_the_answer_shows(
    elasticsearch_url: str,
) -> None:
    with attach_articles(elasticsearch_url) as articles, articles.open_engine() as engine:
        index = articles.index
        articles.client.index(index=index, id="late", document={"title": "A late solar one", "text": "x"}, refresh=True)
        articles.client.update(index=index, id="d1", doc={"title": "Solar, written anew"}, refresh=True)
        articles.client.update(index=index, id="d2", doc={"views": 1000}, refresh=True)
        app = make_app_client(engine)
        answer = search(app, {"_source": False, "size": 40, "query": {"match": {"title": "solar hike"}}})
        whys = {hit["_id"]: hit["why"] for hit in answer["hits"]["hits"]}
        assert {id: why["state"] for id, why in whys.items() if why["state"] != "done"} == {
            "late": "not-indexed",
            "d1": "changed",
        }
        assert "d2" in whys
        for id in ("late", "d1"):
            assert whys[id]["matched"][0]["as"].lower() == "solar"
        assert whys["late"]["lacks"] == ["hike"]
        app.close()


def test_a_partial_answer_comes_back_as_elasticsearch_marks_it(elasticsearch_url: str) -> None:
    with attach_articles(elasticsearch_url) as articles, articles.open_engine() as engine:
        alias, other = f"{articles.index}-all", f"{articles.index}-2"
        articles.client.indices.create(index=other, mappings={"properties": {"views": {"type": "text"}}})
        articles.client.index(index=other, id="d1", document={"title": "solar", "text": "x"}, refresh=True)
        articles.client.indices.put_alias(index=articles.index, name=alias)
        articles.attach(alias)
        articles.client.indices.put_alias(index=other, name=alias)
        app = make_app_client(engine)
        answer = search(app, {"sort": ["views"], "size": 2})
        assert (answer["_shards"]["failed"], len(answer["hits"]["hits"])) == (1, 2)
        whole = search(app, {"query": {"ids": {"values": ["d1"]}}})["hits"]["hits"]
        assert {hit["_index"] for hit in whole} == {articles.index, other}  # the same id, one of them attached
        assert sorted(hit["why"]["state"] for hit in whole) == ["changed", "done"]
        app.close()


def test_reasons_are_unavailable_when_only_they_fail(
    articles: Articles, app: AppClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise EngineUnavailable("out of order")

    monkeypatch.setattr(ElasticsearchSource, "find_changed_hits", fail)
    answer = search(app, {"query": {"match": {"title": "solar"}}, "size": 2})
    assert [(hit["why"]["state"], hit["why"]["code"]) for hit in answer["hits"]["hits"]] == [
        ("unavailable", "engine-unavailable")
    ] * 2


def test_a_page_costs_one_search_and_one_look_at_its_hits(articles: Articles) -> None:
    with articles.open_engine() as engine:
        app = make_app_client(engine)
        body = {"query": {"match": {"title": "solar"}}, "_source": False}
        search(app, body)  # computes the reasons and fills the caches
        assert isinstance(engine, ElasticsearchEngine)
        before = engine.request_count
        search(app, {**body, "why": False})
        assert engine.request_count - before == 1
        before = engine.request_count
        search(app, body)
        assert engine.request_count - before == 3  # the search, the hits in the side index and in the source
        app.close()


def test_documents_are_counted_and_got_by_id(articles: Articles, app: AppClient) -> None:
    query = {"query": {"match": {"title": "solar"}}}
    assert app.post("/v1/articles/_count", query).json["count"] == 10
    assert app.get("/v1/articles/_count").json["count"] == 30
    assert app.get("/v1/articles/_count?q=title:solar").json["count"] == 10
    assert app.post("/v1/articles/_count", {"size": 1}).status_code == 400
    found = app.post("/v1/articles/_mget?_source=title", {"ids": ["d2", "none", "d1"]}).json["docs"]
    assert [(entry["_id"], entry["found"]) for entry in found] == [("d2", True), ("none", False), ("d1", True)]
    assert found[0]["_source"] == {"title": "Article 2: mountain hike"} and found[0]["_index"] == articles.index
    assert app.post("/v1/articles/_mget", {"docs": [{"_id": "d1", "_index": "articles"}]}).json["docs"][0]["found"]
    for bad in ({"docs": [{"_id": "d1", "_index": "elsewhere"}]}, {"ids": "d1"}, {}, {"ids": [1]}, {"docs": [{}]}):
        assert app.post("/v1/articles/_mget", bad).status_code == 400


def test_half_a_character_breaks_nothing(app: AppClient) -> None:
    body = {"query": {"bool": {"should": [{"match": {"title": text}} for text in ("solar", "\ud800")]}}}
    assert search(app, body)["hits"]["hits"][0]["why"]["matched"][0]["word"] == "solar"
