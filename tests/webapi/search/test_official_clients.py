"""The official clients of Elasticsearch search an attached index as if it were the source itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from elasticsearch import AuthorizationException, BadRequestError, Elasticsearch, NotFoundError

from tests.support.attached_articles import Articles
from tests.support.javascript import run_javascript
from tests.support.search_bodies import SEARCH_BODIES
from tests.support.web_servers import WAIT_HEADER, RunningServer, launch_server
from worker.jobs.config import WorkConfig

BODY: dict[str, Any] = {
    "query": {
        "function_score": {"query": {"match": {"text": "mountain"}}, "random_score": {"seed": 1, "field": "_seq_no"}}
    },
    "aggs": {"tags": {"terms": {"field": "tags"}}},
    "highlight": {"fields": {"text": {}}},
}
SCRIPT = {"script_score": {"query": {"match_all": {}}, "script": {"source": "1"}}}


@pytest.fixture(scope="module")
def server(articles: Articles, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    config = WorkConfig(engine=articles.url, engine_options={"prefix": articles.prefix})
    server = launch_server(config, tmp_path_factory.mktemp("server") / "log")
    yield server
    server.stop()


def check_answers(articles: Articles, replies: list[Any]) -> None:
    """Check what a client returned for: a search, the version, a count, documents by id."""
    found, info, count, documents = replies
    theirs = articles.search(BODY)
    assert [{**hit, "why": None} for hit in found["hits"]["hits"]] == [
        {**hit, "why": None} for hit in theirs["hits"]["hits"]
    ]
    assert {hit["why"]["state"] for hit in found["hits"]["hits"]} == {"done"}
    assert found["aggregations"] == theirs["aggregations"] and found["hits"]["total"] == theirs["hits"]["total"]
    assert info["version"]["number"] == articles.client.info()["version"]["number"]
    assert count["count"] == theirs["hits"]["total"]["value"]
    assert [entry["found"] for entry in documents["docs"]] == [True, False]
    assert documents["docs"][0]["_source"]["title"] == "Article 1: solar power"


def test_the_python_client(articles: Articles, server: RunningServer) -> None:
    with Elasticsearch(server.url + "/v1", max_retries=0) as plain:
        client = plain.options(headers=WAIT_HEADER)
        assert client.ping()
        replies = [
            client.search(index="articles", body=BODY).body,
            client.info().body,
            client.count(index="articles", query={"match": {"text": "mountain"}}).body,
            client.mget(index="articles", ids=["d1", "none"]).body,
        ]
        check_answers(articles, replies)
        for one in SEARCH_BODIES:
            if not one.needs:
                client.search(index="articles", body=articles.make_sent_body(one))
        with pytest.raises(AuthorizationException) as refused:
            client.search(index="articles", query=SCRIPT)
        assert refused.value.message == "forbidden" and refused.value.body["error"]["problem"]["code"] == "forbidden"
        with pytest.raises(BadRequestError, match="unknown query"):
            client.search(index="articles", query={"no_such": {}})
        with pytest.raises(NotFoundError, match="unknown-index"):
            client.search(index="nothing")


def test_the_javascript_client(articles: Articles, server: RunningServer) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search", {"index": "articles", **BODY}),
        ("info", {}),
        ("count", {"index": "articles", "query": {"match": {"text": "mountain"}}}),
        ("mget", {"index": "articles", "ids": ["d1", "none"]}),
        ("search", {"index": "articles", "query": SCRIPT}),
        ("search", {"index": "articles", "why": {"query": "hiking boots"}, "typed_keys": True, "_source": False}),
    ]
    *replies, refused, explained = run_javascript("search.mjs", server.url, calls)
    check_answers(articles, replies)
    assert (refused["error"]["status"], refused["error"]["type"]) == (403, "forbidden")
    why = explained["hits"]["hits"][0]["why"]
    assert {*(entry["word"] for entry in why["matched"]), *why["lacks"]} == {"hiking", "boots"}
