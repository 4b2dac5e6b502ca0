"""A caller who may read everything searches an attached index with any body: the source's own answer, with reasons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.api_keys import AppClient, make_app_client
from tests.support.attached_articles import Articles, attach_articles, serve_recording_elasticsearch
from tests.support.search_bodies import SEARCH_BODIES, SearchBody

RUNNABLE = [one for one in SEARCH_BODIES if not one.needs]
UNKNOWN_HERE = [one for one in SEARCH_BODIES if one.needs]
UNKNOWN_NAMES = frozenset(
    "rrf linear text_similarity_reranker rule semantic sparse_vector query_vector_builder script".split()
)


@pytest.fixture(scope="module")
def articles(elasticsearch_url: str) -> Iterator[Articles]:
    with attach_articles(elasticsearch_url) as articles:
        yield articles


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
