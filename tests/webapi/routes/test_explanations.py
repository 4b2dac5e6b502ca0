"""/v1/explanations: a whole results page in one job."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.fake_comparer import release_computations, tag_query
from tests.support.polling import wait_until
from tests.support.web_servers import WAIT_HEADER
from webapi.client import ApiError, Client

HITS = ["d1", "d2", "d3"]


def test_every_hit_is_explained_against_the_query(real: Client) -> None:
    page = real.explain("papers", HITS, query="web graph")
    assert page["state"] == "done"
    assert [entry["hit"] for entry in page["explanations"]] == HITS
    for entry in page["explanations"]:
        assert entry["state"] == "done"
        assert entry["comparison"]["a"]["ids"] == [entry["hit"]]
        assert entry["comparison"]["b"]["kind"] == "query"


def test_a_hits_comparison_can_be_asked_for_by_its_id(real: Client) -> None:
    page = real.explain("papers", HITS, query="web graph")
    for entry in page["explanations"]:
        alone = real.call("GET", f"/v1/comparisons/{entry['comparison']['id']}")
        assert alone == entry["comparison"]
    assert real.request("GET", f"/v1/comparisons/{page['id']}.99").json()["code"] == "unknown-job"
    assert real.request("GET", f"/v1/comparisons/{page['id']}").json()["code"] == "unknown-job"


def test_the_rest_of_the_page_a_document_and_the_hit_above(real: Client) -> None:
    rest = real.explain("papers", HITS, query="web", against="page")["explanations"]
    assert rest[0]["comparison"]["b"]["ids"] == ["d2", "d3"]
    document = real.explain("papers", HITS, document="d7")["explanations"]
    assert {entry["comparison"]["b"]["ids"][0] for entry in document} == {"d7"}
    above = real.explain("papers", HITS, query="web", against="above")["explanations"]
    assert above[0]["comparison"] is None
    assert [entry["comparison"]["b"]["ids"] for entry in above[1:]] == [["d1"], ["d2"]]


def test_hits_arrive_one_by_one(client: Client) -> None:
    body = {"index": "papers", "query": tag_query("hold=1"), "hits": HITS}
    first = client.request("POST", "/v1/explanations", body, {"Prefer": "respond-async"})
    assert first.status == 202
    assert [entry["hit"] for entry in first.json()["explanations"]] == HITS
    location = first.headers["location"]
    last = f"/v1/comparisons/{first.json()['id']}.2"

    def list_finished() -> list[Any]:
        entries = client.call("GET", location)["explanations"]
        return [entry for entry in entries if entry["state"] == "done"]

    for number in (1, 2):
        release_computations("hold=1", number)
        wait_until(lambda least=number: len(list_finished()) >= least)
        shown = list_finished()
        assert [entry["hit"] for entry in shown] == HITS[:number]
        for entry in shown:
            assert entry["comparison"]["a"]["ids"] == [entry["hit"]]
            assert client.call("GET", f"/v1/comparisons/{entry['comparison']['id']}") == entry["comparison"]
        assert client.request("GET", last).status == client.request("GET", location).status == 202
    release_computations("hold=1", 3)
    wait_until(lambda: client.request("GET", location).status == 200)
    assert len(list_finished()) == 3 and client.request("GET", last).status == 200


def test_deleting_a_page_cancels_it(client: Client) -> None:
    body = {"index": "papers", "query": tag_query("hold=1"), "hits": HITS}
    location = client.request("POST", "/v1/explanations", body, {"Prefer": "wait=0"}).headers["location"]
    assert client.request("DELETE", location).status == 200
    release_computations("hold=1", 3)
    wait_until(lambda: client.request("GET", location).status == 409)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"hits": []}, "invalid-request"),
        ({"hits": ["d1"] * 51}, "too-large"),
        ({"hits": ["d1", "nope"]}, "unknown-document"),
        ({"against": "magic"}, "invalid-request"),
        ({"against": "document"}, "bad-parameter"),
        ({"query": None}, "invalid-request"),
        ({"index": "nope"}, "unknown-index"),
    ],
)
def test_a_bad_page_request_is_reported_with_its_code(real: Client, changes: dict[str, object], code: str) -> None:
    body = {"index": "papers", "query": "web", "hits": HITS, **changes}
    with pytest.raises(ApiError) as caught:
        real.call("POST", "/v1/explanations", body)
    assert caught.value.code == code


def test_unknown_hits_can_be_skipped(real: Client) -> None:
    body = {"index": "papers", "query": "web", "hits": ["d1", "nope", "d2"], "unknown": "skip"}
    page = real.call("POST", "/v1/explanations", body, WAIT_HEADER)
    assert [entry["hit"] for entry in page["explanations"]] == ["d1", "d2"]
    with pytest.raises(ApiError, match="unknown-document"):
        real.call("POST", "/v1/explanations", {**body, "hits": ["nope"]})
