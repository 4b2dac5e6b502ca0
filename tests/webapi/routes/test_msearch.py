"""/v1/_msearch, with the official client and with plain requests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import Elasticsearch

from tests.support.api_keys import AppClient, IssuedKeys, make_app_client
from tests.support.fake_comparer import count_computations, release_computations, tag_query
from tests.support.javascript import run_javascript
from tests.support.multi_searches import NDJSON, make_lines, search_together
from tests.support.polling import wait_until
from tests.support.web_servers import WAIT_HEADER, RunningServer
from webapi.client import Client, Reply

PATH = "/v1/papers/_msearch"


def make_query(words: str, **more: object) -> dict[str, object]:
    return {"query": {"match": {"text": words}}, "size": 3, **more}


def post(client: Client, *lines: object, path: str = PATH, headers: dict[str, str] = NDJSON) -> Reply:
    return client.request("POST", path, make_lines(*lines), {**WAIT_HEADER, **headers})


def search_all(client: Client, *lines: object, path: str = PATH) -> list[Any]:
    """Return the responses to several searches."""
    reply = post(client, *lines, path=path)
    assert reply.status == 200, reply.body
    responses: list[Any] = reply.json()["responses"]
    return responses


def test_the_official_client_understands_the_answer(real_server: RunningServer) -> None:
    with Elasticsearch(real_server.url + "/v1") as elastic:
        searches: list[dict[str, Any]] = [{}, make_query("web graphs"), {"index": "nope"}, make_query("web graphs")]
        found = elastic.options(headers=WAIT_HEADER).msearch(index="papers", searches=searches)
        first, second = found["responses"]
        assert first["status"] == 200 and len(first["hits"]["hits"]) == 3
        assert [word["word"] for word in first["hits"]["hits"][0]["why"]["matched"]] == ["web", "graphs"]
        assert second["status"] == 404 and second["error"]["type"] == "unknown-index"
        searches = [{"index": "papers"}, make_query("link analysis", why=False)]
        (alone,) = elastic.msearch(searches=searches)["responses"]
        assert alone["hits"]["hits"] and "why" not in alone["hits"]["hits"][0]


def test_the_official_javascript_client_understands_the_answer(real_server: RunningServer) -> None:
    searches = [{}, make_query("web graphs"), {"index": "nope"}, make_query("web graphs")]
    answer = run_javascript("msearch.mjs", real_server.url, {"index": "papers", "searches": searches})
    first, second = answer["responses"]
    assert [word["word"] for word in first["hits"]["hits"][0]["why"]["matched"]] == ["web", "graphs"]
    assert second["status"] == 404 and second["error"]["type"] == "unknown-index"


def test_each_search_has_the_response_of_a_single_one(papers: Client) -> None:
    bodies = [
        make_query("web graphs", highlight={"fields": {"text": {}}}),
        {"query": {"term": {"source": "BBC"}}, "aggs": {"sources": {"terms": {"field": "source"}}}, "size": 2},
        {"query": {"match_all": {}}, "size": 0},
        make_query("link analysis", why=False),
    ]
    together = search_all(papers, *(line for body in bodies for line in ({}, body)))
    for body, response in zip(bodies, together, strict=True):
        alone = papers.call("POST", "/v1/papers/_search", body, WAIT_HEADER)
        assert response.pop("status") == 200
        assert response | {"took": 0} == alone | {"took": 0}


def test_the_reasons_of_all_searches_are_computed_by_one_job(client: Client) -> None:
    words = [tag_query(f"web graph hold=1 {n}") for n in range(3)]
    lines = [line for query in words for line in ({}, make_query(query))]
    responses = client.request("POST", PATH, make_lines(*lines), {**NDJSON, "Prefer": "wait=0"}).json()["responses"]
    for response in responses:
        for hit in response["hits"]["hits"]:
            assert (hit["why"]["state"], hit["why"]["provisional"]) == ("pending", True)
    href = responses[2]["hits"]["hits"][-1]["why"]["href"]["common"]
    assert client.request("GET", href).status == 202
    wait_until(lambda: count_computations("web graph hold=1 0") == 1)
    assert [count_computations(f"web graph hold=1 {n}") for n in (1, 2)] == [0, 1], "the comparison alone, by its link"
    for n in range(3):
        release_computations(f"web graph hold=1 {n}", 4)
    ready = search_all(client, *lines)
    assert {hit["why"]["state"] for response in ready for hit in response["hits"]["hits"]} == {"done"}
    assert [count_computations(f"web graph hold=1 {n}") for n in range(3)] == [3, 3, 4]


def test_a_search_alone_finds_the_reasons_that_a_multi_search_computed(client: Client) -> None:
    first, second = tag_query("web graph a"), tag_query("web graph b")
    search_all(client, {}, make_query(first), {}, make_query(second))
    client.call("POST", "/v1/papers/_search", make_query(second), WAIT_HEADER)
    assert [count_computations("web graph a"), count_computations("web graph b")] == [3, 3]


def test_a_search_that_is_wrong_has_its_own_error(inline: Client) -> None:
    right = make_query("web graphs", why=False)
    lines = [
        *({}, right, {}, {"query": {"fuzzy": {}}}),
        *({"index": "papers"}, right, {"index": "nope"}, right),
        *("", right, {}, "not JSON"),
        *({"indices": ["papers"]}, right, {}, "[" * 5000),
        *({}, right, {}, ""),
        *({"preference": "me"}, right, {"index": "papers", "scroll": "1m"}, right),
        *({}, right, {"index": "papers,other"}, right),
        *({}, right, {"index": "*"}, right),
        *({"index": "papers", "routing": None}, right, {"index": 7}, right),
        *({}, right, [], right),
        *({}, right, "{", right),
        *({}, right, {}, []),
    ]
    responses = search_all(inline, *lines)
    assert [one["status"] for one in responses[::2]] == [200] * (len(lines) // 4)
    assert all(one == responses[0] | {"took": one["took"]} for one in responses[::2])
    assert [one["status"] for one in responses[1::2]] == [400, 404, *[400] * 10]
    for one in responses[1::2]:
        assert set(one) == {"error", "status"}
        error = one["error"]
        assert error["root_cause"] == [{"type": error["type"], "reason": error["reason"]}] and error["reason"]
    assert responses[3]["error"]["type"] == "unknown-index"


def test_a_header_names_the_index_where_the_path_names_none(inline: Client) -> None:
    right = make_query("web graphs", why=False)
    named, unnamed = search_all(inline, {"index": "papers"}, right, {}, right, path="/v1/_msearch")
    assert named["hits"]["hits"] and unnamed["status"] == 400
    assert 'name it in the header: {"index": "papers"}' in unnamed["error"]["reason"]
    named, unnamed = search_all(inline, {"index": "papers"}, right, {}, right, path="/v1/nope/_msearch")
    assert named["hits"]["hits"] and unnamed["status"] == 404


@pytest.mark.parametrize(
    ("data", "status", "message"),
    [
        (b"", 400, "newline"),
        (b"{}\n{}", 400, "newline"),
        (b"\n", 400, "no body"),
        (b"{}\n", 400, "no body"),
        (b"{}\n{}\n{}\n", 400, "no body"),
        (b"{}\n{}\n" * 101, 413, "limit of 100"),
        (b"{}\n" + b" " * 2**20 + b"{}\n", 413, "too large"),
    ],
)
def test_a_request_that_cannot_be_split_into_searches_is_refused(
    inline: Client, data: bytes, status: int, message: str
) -> None:
    reply = inline.request("POST", PATH, data, NDJSON)
    assert reply.status == status and message in reply.body.decode()


def test_lines_may_end_as_on_windows_and_a_blank_one_may_follow(inline: Client) -> None:
    lines = make_lines({}, make_query("web graphs", why=False)).replace(b"\n", b"\r\n") + b"\r\n"
    reply = inline.request("POST", PATH, lines, NDJSON)
    assert reply.status == 200 and len(reply.json()["responses"]) == 1


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("application/x-ndjson", 200),
        ("application/json", 200),
        ("application/vnd.elasticsearch+json; compatible-with=9", 200),
        ("application/vnd.elasticsearch+x-ndjson; compatible-with=8", 200),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
    ],
)
def test_the_content_type_must_be_json(inline: Client, content_type: str, status: int) -> None:
    reply = post(inline, {}, {"size": 0}, headers={"Content-Type": content_type})
    assert reply.status == status


def test_it_has_the_headers_that_clients_check(inline: Client) -> None:
    media_type = "application/vnd.elasticsearch+json; compatible-with=9"
    reply = post(inline, {}, {"size": 0}, headers={**NDJSON, "Accept": media_type})
    assert reply.headers["x-elastic-product"] == "Elasticsearch" and reply.headers["content-type"] == media_type
    assert reply.json()["took"] >= 0


def test_parameters_that_would_change_the_response_are_refused(inline: Client) -> None:
    assert post(inline, {}, {"size": 0}, path=PATH + "?max_concurrent_searches=5&pretty").status == 200
    assert post(inline, {}, {"size": 0}, path=PATH + "?filter_path=took").status == 400
    (refused,) = search_all(inline, {}, {"size": 0}, path=PATH + "?typed_keys=true")
    assert refused["status"] == 400, "only an attached index has that"


@pytest.fixture
def limited(engine_folder: Path, tmp_path: Path) -> Iterator[tuple[AppClient, dict[str, str]]]:
    """An app, and its keys by name; those with limited groups may search three times a minute."""
    keys = IssuedKeys(tmp_path / "keys.json")
    keys.issue("root", groups=("*",))
    keys.issue("elsewhere", indexes=("other",))
    keys.issue("reader", scopes=("read",))
    keys.issue("guest", groups=("guests",))
    app = make_app_client(engine_folder, keys, limited_rate_per_minute=3)
    yield app, keys.secrets
    app.close()


def test_an_index_that_the_key_may_not_use_does_not_exist(limited: tuple[AppClient, dict[str, str]]) -> None:
    app, keys = limited
    lines = ({"index": "papers"}, {"size": 0}, {"index": "nopers"}, {"size": 0})
    hidden, missing = search_together(app.with_key(keys["elsewhere"]), *lines)
    assert hidden["status"] == 404
    assert json.dumps(hidden).replace("papers", "nopers") == json.dumps(missing)


def test_a_key_without_the_scope_gets_hits_but_no_reasons(limited: tuple[AppClient, dict[str, str]]) -> None:
    app, keys = limited
    header = {"index": "papers"}
    refused, found = search_together(
        app.with_key(keys["reader"]), header, make_query("web"), header, make_query("web", why=False)
    )
    assert refused["status"] == 403 and found["hits"]["hits"]


def test_each_search_of_a_key_with_limited_groups_is_counted(limited: tuple[AppClient, dict[str, str]]) -> None:
    app, keys = limited
    lines = [{"index": "papers"}, make_query("web", why=False)]
    assert [one["status"] for one in search_together(app.with_key(keys["guest"]), *lines * 5)] == [
        200,
        200,
        200,
        429,
        429,
    ]
    assert [one["status"] for one in search_together(app.with_key(keys["root"]), *lines * 5)] == [200] * 5
