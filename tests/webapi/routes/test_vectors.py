"""The vector of a query, from every entrance to the comparison; on both engines."""

from __future__ import annotations

import itertools
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from indexer.indexing.build import build_index
from indexer.vectors import encode_vector
from tests.support.api_keys import AppClient, IssuedKeys, make_app_client, read_problem
from tests.support.corpora.web_papers import make_web_papers
from tests.support.engines import ENGINE_KINDS, open_empty_engine
from tests.support.multi_searches import search_together
from tests.support.vector_indexes import declare_vectors, record_specs
from webapi.client import ApiError, Client
from webapi.context import EXTENSION
from worker.explain.side import Side

Callers = dict[str, AppClient]
NUMBERS = itertools.count(1)
HITS = ["d1", "d2", "d3"]
WORDS = {"query": {"match": {"text": "web graph"}}, "size": 3}


@pytest.fixture(scope="module", params=ENGINE_KINDS)
def callers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callers]:
    """Callers of an app with the indexes ``papers``, which has vectors of three dimensions, and ``plain``, which has
    none."""
    folder = tmp_path_factory.mktemp("vectors")
    keys = IssuedKeys(folder / "keys.toml")
    keys.issue("root", groups=("*",))
    keys.issue("guest", groups=("guests",))
    with open_empty_engine(request.param, folder / "engine", request) as engine:
        build_index(make_web_papers(), engine, "plain", processes=1)
        with declare_vectors(3):
            build_index(make_web_papers(), engine, "papers", processes=1)
        client = make_app_client(engine, keys, limited_rate_per_minute=5)
        yield {name: client.with_key(key) for name, key in keys.secrets.items()}
        client.close()


@pytest.fixture
def app(callers: Callers) -> AppClient:
    return callers["root"]


@pytest.fixture
def vector() -> list[float]:
    """A vector that no other test sends, so that nothing is cached."""
    return [next(NUMBERS) / 4, -1.0, 3.5]


def post(app: AppClient, path: str, body: object, status: int = 200) -> Any:
    reply = app.post(path, body)
    assert reply.status_code == status, reply.text
    return reply.json


def explain(app: AppClient, status: int = 200, **body: object) -> Any:
    return post(app, "/v1/explanations", {"index": "papers", "hits": HITS, **body}, status)


def search_several(app: AppClient, *bodies: dict[str, Any]) -> list[Any]:
    return search_together(app, *(line for body in bodies for line in ({}, body)), path="/v1/papers/_msearch")


def test_a_page_is_explained_by_words_and_vector(app: AppClient, vector: list[float]) -> None:
    with record_specs() as specs:
        page = explain(app, query="web graph", vector=vector)
    assert {spec.b for spec in specs} == {Side.from_query("web graph", vector)} and len(specs) == 3
    assert page["query"] == "web graph" and [one["state"] for one in page["explanations"]] == ["done"] * 3
    assert page["id"] != explain(app, query="web graph")["id"] != explain(app, vector=vector)["id"]
    assert page["id"] == explain(app, query="web graph", vector=vector)["id"]
    assert page["id"] != explain(app, query="web graph", vector=[*vector[:2], 3.25])["id"]


def test_a_page_is_explained_by_a_vector_alone(app: AppClient, vector: list[float]) -> None:
    with record_specs() as specs:
        page = explain(app, vector=vector)
    assert {spec.b for spec in specs} == {Side.from_query("", vector)}
    assert (page["query"], page["against"]) == (None, "query")
    assert all(one["matched"] == one["lacks"] == [] for one in page["explanations"])


@pytest.mark.parametrize("query", [{"query": "web graph"}, {}])
def test_the_address_of_a_hit_leads_to_the_comparison_with_the_vector(
    app: AppClient, query: dict[str, str], vector: list[float]
) -> None:
    page = explain(app, **query, vector=vector)
    with record_specs() as specs:
        reply = app.get(page["explanations"][1]["href"]["common"])
    assert reply.status_code == 200 and [spec.b for spec in specs] == [Side.from_query(query.get("query", ""), vector)]
    assert reply.json["a"]["ids"] == ["d2"] and reply.json["b"]["title"] == query.get("query", "a vector")
    direct = app.compare("d2", {**query, "vector": vector}).json
    assert direct["id"] == reply.json["id"] == app.get(f"/v1/comparisons/{direct['id']}").json["id"]
    assert app.get(f"/v1/explanations/{page['id']}").json["explanations"] == page["explanations"]


@pytest.mark.parametrize("side", [{"query": "web graph"}, {"text": "The web graph is crawled."}, {}])
def test_a_side_of_a_comparison_may_have_a_vector(app: AppClient, side: dict[str, str], vector: list[float]) -> None:
    with record_specs() as specs:
        answer = app.compare("d1", {**side, "vector": vector})
    assert answer.status_code == 200 and [spec.b.vector for spec in specs] == [encode_vector(vector)]
    assert set(answer.json["b"]) == {"kind", "ids", "title"}
    if side:
        assert answer.json["id"] != app.compare("d1", side).json["id"]


def test_a_search_is_explained_by_the_vector_of_why(app: AppClient, vector: list[float]) -> None:
    for why, words in (
        ({"query": "random walk", "vector": vector}, "random walk"),
        ({"vector": vector}, "web graph"),
        ({"query": "", "vector": vector}, ""),
        ({"fields": ["text"], "vector": vector}, "web graph"),
    ):
        with record_specs() as specs:
            found = post(app, "/v1/papers/_search", {**WORDS, "why": why})
        assert {spec.b for spec in specs} <= {Side.from_query(words, vector)}  # equal pages are computed once
        whys = [hit["why"] for hit in found["hits"]["hits"]]
        assert [why["state"] for why in whys] == ["done"] * 3
        assert {word for one in whys for word in one["lacks"] + [m["word"] for m in one["matched"]]} == {*words.split()}
        hit = app.get(whys[0]["href"]["common"]).json
        assert hit["b"]["title"] == (words or "a vector")


def test_hits_of_a_search_without_words_are_explained_by_the_vector_alone(app: AppClient, vector: list[float]) -> None:
    with record_specs() as specs:
        found = post(app, "/v1/papers/_search", {"query": {"match_all": {}}, "size": 2, "why": {"vector": vector}})
    assert {spec.b for spec in specs} == {Side.from_query("", vector)}
    assert all({"common", "distinct"} <= hit["why"]["href"].keys() for hit in found["hits"]["hits"])
    assert all(hit["why"]["matched"] == hit["why"]["lacks"] == [] for hit in found["hits"]["hits"])


def test_the_searches_of_a_request_have_vectors_of_their_own(app: AppClient, vector: list[float]) -> None:
    others = [1.0, 1.0, 4.0]
    with record_specs() as specs:
        first, second, wrong, third = search_several(
            app,
            {**WORDS, "why": {"query": "link analysis", "vector": vector}},
            {**WORDS, "why": {"query": "link analysis", "vector": others}},
            {**WORDS, "why": {"vector": [1.0]}},
            {**WORDS, "why": {"query": "link analysis"}},
        )
    assert {spec.b.vector for spec in specs} == {encode_vector(vector), encode_vector(others), None}
    for found in (first, second, third):
        assert [hit["why"]["state"] for hit in found["hits"]["hits"]] == ["done"] * 3
    assert wrong["status"] == 400 and "1 numbers" in wrong["error"]["reason"]


BAD_VECTORS = {
    "too short": ([1.0, 2.0], "2 numbers, those of the index have 3"),
    "too long": ([1.0] * 4, "4 numbers, those of the index have 3"),
    "too long for any index": ([1.0] * 4097, "4,097"),
    "zero": ([0.0, 0, -0.0], "zero"),
    "empty": ([], "0 numbers"),
    "a number": (3, "list of numbers"),
    "a text": ("[1, 2, 3]", "list of numbers"),
    "an object": ({"0": 1.0}, "list of numbers"),
    "flags": ([True, False, True], "list of numbers"),
    "texts": (["1", "2", "3"], "list of numbers"),
    "nested": ([[1.0, 2.0, 3.0]], "list of numbers"),
    "null inside": ([1.0, None, 3.0], "list of numbers"),
    "too large for a float": ([1e39, 0.0, 0.0], "not finite"),
    "a large whole number": ([10**400, 0, 0], "not finite"),
}


@pytest.mark.parametrize("name", BAD_VECTORS)
def test_a_bad_vector_is_refused_at_every_entrance(app: AppClient, name: str) -> None:
    vector, message = BAD_VECTORS[name]
    bodies: dict[str, dict[str, Any]] = {
        "/v1/explanations": {"index": "papers", "hits": HITS, "query": "web", "vector": vector},
        "/v1/comparisons": {"index": "papers", "a": {"id": "d1"}, "b": {"query": "web", "vector": vector}},
        "/v1/papers/_search": {**WORDS, "why": {"vector": vector}},
    }
    for path, body in bodies.items():
        assert message in json.dumps(read_problem(post(app, path, body, 400))), path


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_numbers_that_are_not_finite_are_refused(app: AppClient, number: str, vector: list[float]) -> None:
    for path, body in (
        ("/v1/explanations", '{"index": "papers", "hits": ["d1"], "vector": [1, %s, 1]}'),
        ("/v1/comparisons", '{"index": "papers", "a": {"id": "d1"}, "b": {"query": "x", "vector": [1, %s, 1]}}'),
        ("/v1/papers/_search", '{"why": {"vector": [1, %s, 1]}}'),
    ):
        headers = {"Authorization": f"Bearer {app.key}", "Content-Type": "application/json"}
        reply = app.flask_app.test_client().post(path, data=body % number, headers=headers)
        assert reply.status_code == 400, (path, reply.text)


def test_an_index_without_vectors_refuses_one_and_names_the_fix(app: AppClient, vector: list[float]) -> None:
    for path, body in (
        ("/v1/explanations", {"index": "plain", "hits": HITS, "query": "web", "vector": vector}),
        ("/v1/comparisons", {"index": "plain", "a": {"vector": vector}, "b": {"id": "d1"}}),
        ("/v1/plain/_search", {**WORDS, "why": {"vector": vector}}),
    ):
        problem = read_problem(post(app, path, body, 400))
        assert problem["code"] == "bad-side" and "the index has no vectors" in problem["detail"]
        assert "--vectors" in problem["detail"]


@pytest.mark.parametrize("side", [{"id": "d1"}, {"ids": ["d1", "d2"]}, {"search": "web"}])
def test_documents_take_no_vector(app: AppClient, side: dict[str, object], vector: list[float]) -> None:
    answer = app.compare({**side, "vector": vector}, "d3")
    assert answer.status_code == 400 and "documents have their own" in answer.text
    assert app.compare({"query": "x", "text": "y", "vector": vector}, "d3").status_code == 400


def test_a_vector_of_the_largest_size_fits_into_a_request(app: AppClient) -> None:
    vector = [1.2345678901234567e-05] * 4096
    assert len(json.dumps(vector)) > 50_000
    for path, body in (
        ("/v1/explanations", {"index": "papers", "hits": HITS, "vector": vector}),
        ("/v1/papers/_search", {**WORDS, "why": {"vector": vector}}),
    ):
        assert "4,096 numbers" in read_problem(post(app, path, body, 400))["detail"]


def test_neither_answers_nor_log_lines_contain_a_vector(app: AppClient, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    vector = [0.125, 77.0625, 4.0]
    page = app.post("/v1/explanations", {"index": "papers", "hits": HITS, "query": "link", "vector": vector})
    texts = [page.text, app.get(page.json["explanations"][0]["href"]["common"]).text]
    texts += [app.post("/v1/papers/_search", {**WORDS, "why": {"vector": vector}}).text]
    texts += [app.post("/v1/explanations", {"index": "papers", "hits": HITS, "vector": [*vector, 1.0]}).text]
    assert all("77.0625" not in text for text in [*texts, *map(str, caplog.messages)])


def test_vectors_of_a_caller_with_limited_groups_count_as_guesses(callers: Callers, vector: list[float]) -> None:
    guest = callers["guest"]
    hits = {"index": "papers", "hits": HITS}
    replies = [guest.post("/v1/explanations", {**hits, "vector": [*vector[:2], float(n)]}) for n in range(6)]
    assert [reply.status_code for reply in replies] == [200] * 5 + [429]
    assert read_problem(replies[-1].json)["code"] == "rate-limited"


def test_the_client_sends_a_vector_beside_a_query(real: Client) -> None:
    for query in ("web graph", None):
        with pytest.raises(ApiError, match="the index has no vectors"):
            real.explain("papers", HITS, query=query, vector=(0.5, 1.0))


def test_the_length_is_checked_again_where_the_index_is_read(
    app: AppClient, vector: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.index_catalog._SOURCE_TTL_SECONDS", 600.0)  # the first check does not see the new epoch
    engine = app.flask_app.extensions[EXTENSION].gateway.container.engine

    def build(dimensions: int) -> None:
        with declare_vectors(dimensions):
            build_index(make_web_papers(), engine, "rebuilt", processes=1, force=True)

    build(3)
    page = {"index": "rebuilt", "hits": HITS, "query": "web graph"}
    post(app, "/v1/explanations", {**page, "vector": vector})
    build(4)
    refused = read_problem(post(app, "/v1/explanations", {**page, "query": "link", "vector": vector}, 400))
    assert refused["code"] == "bad-side" and "3 numbers, those of the index have 4" in refused["detail"]
    hits = post(app, "/v1/rebuilt/_search", {**WORDS, "why": {"vector": vector}})["hits"]["hits"]
    assert {(hit["why"]["state"], hit["why"]["code"]) for hit in hits} == {("unavailable", "bad-side")}
    post(app, "/v1/explanations", {**page, "vector": [*vector, 1.0]})
    post(app, "/v1/explanations", {**page, "vector": vector}, 400)
