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
    assert (page["state"], page["against"], page["query"]) == ("done", "query", "web graph")
    assert [entry["hit"] for entry in page["explanations"]] == HITS
    for entry in page["explanations"]:
        assert entry["state"] == "done"
        assert [match["word"] for match in entry["matched"]] + entry["lacks"] == ["web", "graph"]
        assert {reason["kind"] for reason in entry["common"]} <= {"shared", "implied"}


def test_the_comparisons_behind_the_lists_are_computed_when_asked_for(real: Client) -> None:
    page = real.explain("papers", HITS, query="web graph")
    for entry in page["explanations"]:
        common = real.call("GET", entry["href"]["common"], headers=WAIT_HEADER)
        assert (common["a"]["ids"], common["b"]["kind"]) == ([entry["hit"]], "query")
        names = ("phrase", "display", "score", "kind")
        assert [{name: one[name] for name in names} for one in common["common"]] == [
            {name: one[name] for name in names} for one in entry["common"]
        ]
        distinct = real.call("GET", entry["href"]["distinct"], headers=WAIT_HEADER)
        assert distinct["b"]["ids"] == [hit for hit in HITS if hit != entry["hit"]]
        assert real.call("GET", f"/v1/comparisons/{common['id']}") == common
    assert real.request("GET", f"/v1/comparisons/{page['id']}.99").json()["code"] == "unknown-job"
    assert real.request("GET", f"/v1/comparisons/{page['id']}").json()["code"] == "unknown-job"


def test_a_page_computes_no_comparison(real: Client) -> None:
    page = real.explain("papers", HITS, query="page rank")
    first = real.request("GET", page["explanations"][0]["href"]["common"], headers=WAIT_HEADER)
    assert first.headers["x-cache"] == "miss"


def test_the_rest_of_the_page_a_document_and_the_hit_above(real: Client) -> None:
    def list_compared(entries: list[dict[str, Any]]) -> list[list[str]]:
        return [real.call("GET", one["href"]["common"], headers=WAIT_HEADER)["b"]["ids"] for one in entries]

    rest = real.explain("papers", HITS, query="web", against="page")["explanations"]
    assert list_compared(rest) == [["d2", "d3"], ["d1", "d3"], ["d1", "d2"]]
    document = real.explain("papers", HITS, document="d7")["explanations"]
    assert list_compared(document) == [["d7"]] * 3
    assert all("matched" not in entry and "distinct_of_other" in entry for entry in document)
    above = real.explain("papers", HITS, query="web", against="above")["explanations"]
    assert (above[0]["common"], above[0]["distinct"], above[0]["href"]) == ([], [], {})
    assert list_compared(above[1:]) == [["d1"], ["d2"]]


def test_the_hits_of_a_query_arrive_together(client: Client) -> None:
    body = {"index": "papers", "query": tag_query("hold=1"), "hits": HITS}
    first = client.request("POST", "/v1/explanations", body, {"Prefer": "respond-async"})
    assert first.status == 202
    assert [entry["hit"] for entry in first.json()["explanations"]] == HITS
    location = first.headers["location"]
    release_computations("hold=1", 3)
    wait_until(lambda: client.request("GET", location).status == 200)
    assert [entry["state"] for entry in client.call("GET", location)["explanations"]] == ["done"] * 3


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
