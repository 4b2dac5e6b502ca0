"""Searches of an attached index by vector are explained by that vector, and those by words as before."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from indexer.vectors import encode_vector
from tests.support.api_keys import AppClient, IssuedKeys, make_app_client, read_problem
from tests.support.attached_articles import Articles, attach_articles
from tests.support.multi_searches import search_together
from tests.support.search_bodies import make_vector
from tests.support.vector_indexes import declare_vectors, record_specs
from worker.explain.side import Side

Callers = dict[str, AppClient]
NUMBERS = itertools.count(100)


@contextmanager
def attach_articles_with_vectors(elasticsearch_url: str, dimensions: int) -> Iterator[Articles]:
    """Attach to the articles, whose field ``vector`` then counts as having this many dimensions."""
    with ExitStack() as stack:
        with declare_vectors(dimensions, "vector"):
            articles = stack.enter_context(attach_articles(elasticsearch_url))
        yield articles


@pytest.fixture(scope="module")
def callers(elasticsearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callers]:
    """Callers of an index that was attached with the field ``vector``, by name."""
    keys = IssuedKeys(tmp_path_factory.mktemp("keys") / "keys.toml")
    keys.issue("root", groups=("*",))
    keys.issue("guest", groups=("guests",))
    with attach_articles_with_vectors(elasticsearch_url, 8) as articles, articles.open_engine() as engine:
        app = make_app_client(engine, keys)
        yield {name: app.with_key(key) for name, key in keys.secrets.items()}
        app.close()


@pytest.fixture
def vector() -> list[float]:
    """A vector that no other test sends, so that nothing is cached."""
    return make_vector(next(NUMBERS))


def search(app: AppClient, body: object, status: int = 200) -> Any:
    reply = app.post("/v1/articles/_search", body)
    assert reply.status_code == status, reply.text
    return reply.json


def make_knn(vector: list[float], **more: object) -> dict[str, Any]:
    return {"field": "vector", "query_vector": vector, "k": 3, "num_candidates": 30, **more}


@pytest.mark.parametrize("caller", ["root", "guest"])
def test_hits_of_a_search_by_vector_alone_are_explained_by_it(
    callers: Callers, vector: list[float], caller: str
) -> None:
    app = callers[caller]
    bodies: list[dict[str, Any]] = [
        {"knn": make_knn(vector), "size": 3},
        {"query": {"knn": make_knn(vector)}, "size": 3},
        {"retriever": {"knn": make_knn(vector)}, "size": 3},
        {"query": {"bool": {"filter": [{"exists": {"field": "title"}}], "must": [{"knn": make_knn(vector)}]}}},
    ]
    for body in bodies:
        with record_specs() as specs:
            found = search(app, body)
        whys = [hit["why"] for hit in found["hits"]["hits"]]
        assert len(whys) == 3 and all(why["state"] == "done" for why in whys)
        assert {spec.b for spec in specs} <= {Side.from_query("", vector)}  # equal pages are computed once
        assert all(why["matched"] == why["lacks"] == [] for why in whys)
        assert app.get(whys[0]["href"]["common"]).json["b"]["title"] == "a vector"


def test_a_hybrid_search_is_explained_by_words_and_vector(callers: Callers, vector: list[float]) -> None:
    body = {"query": {"match": {"text": "solar"}}, "knn": make_knn(vector), "size": 3}
    with record_specs() as specs:
        search(callers["root"], body)
        search(callers["root"], {**body, "why": {"query": "sun light"}})
    assert {spec.b for spec in specs} == {Side.from_query("solar", vector), Side.from_query("sun light", vector)}


def test_the_vector_of_why_has_precedence(callers: Callers, vector: list[float]) -> None:
    given = make_vector(next(NUMBERS))
    with record_specs() as specs:
        search(callers["root"], {"knn": make_knn(vector), "size": 3, "why": {"query": "sun", "vector": given}})
    assert {spec.b for spec in specs} == {Side.from_query("sun", given)}


def test_no_vector_is_taken_from_a_search_with_several(callers: Callers, vector: list[float]) -> None:
    body = {"query": {"match": {"text": "solar"}}, "knn": [make_knn(vector), make_knn(make_vector(next(NUMBERS)))]}
    with record_specs() as specs:
        found = search(callers["root"], {**body, "why": {"query": "sun and light"}})
    assert {spec.b for spec in specs} == {Side.from_query("sun and light")} and found["hits"]["hits"]


def test_several_searches_have_vectors_of_their_own(callers: Callers, vector: list[float]) -> None:
    other = make_vector(next(NUMBERS))
    lines = [{}, {"knn": make_knn(vector)}, {}, {"knn": make_knn(other)}, {}, {"why": {"vector": [1.0]}}]
    with record_specs() as specs:
        *found, wrong = search_together(callers["root"], *lines, path="/v1/articles/_msearch")
    assert {spec.b.vector for spec in specs} == {encode_vector(vector), encode_vector(other)}
    assert all(hit["why"]["state"] == "done" for one in found for hit in one["hits"]["hits"])
    assert wrong["status"] == 400 and "1 numbers, those of the index have 8" in wrong["error"]["reason"]


def test_a_vector_that_does_not_fit_is_refused_in_why_only(elasticsearch_url: str, vector: list[float]) -> None:
    with attach_articles_with_vectors(elasticsearch_url, 7) as articles, articles.open_engine() as engine:
        app = make_app_client(engine)
        with record_specs() as specs:
            found = search(app, {"query": {"match": {"text": "solar"}}, "knn": make_knn(vector)})
        assert found["hits"]["hits"] and all(hit["why"]["state"] == "done" for hit in found["hits"]["hits"])
        assert {spec.b for spec in specs} == {Side.from_query("solar")}
        problem = read_problem(search(app, {"knn": make_knn(vector), "why": {"vector": vector}}, 400))
        assert "8 numbers, those of the index have 7" in problem["detail"]
        app.close()


def test_an_index_that_was_attached_without_vectors_explains_by_words(
    elasticsearch_url: str, vector: list[float]
) -> None:
    without = ("--vectors", "none")
    with attach_articles(elasticsearch_url, options=without) as articles, articles.open_engine() as engine:
        app = make_app_client(engine)
        found = search(app, {"knn": make_knn(vector), "size": 3})
        assert all(hit["why"]["common"] == [] and hit["why"]["state"] == "done" for hit in found["hits"]["hits"])
        problem = read_problem(search(app, {"knn": make_knn(vector), "why": {"vector": vector}}, 400))
        assert problem["code"] == "bad-side" and "the index has no vectors" in problem["detail"]
        for bad in ([], [0.0] * 8, "x", [True] * 8, [1.0] * 4097):
            assert read_problem(search(app, {"why": {"vector": bad}}, 400))["code"] == "bad-side"
        app.close()
