"""A whole results page in one job."""

from __future__ import annotations

import pytest

from tests.worker.jobs.conftest import tagged, until
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
    asked = {"index": "papers", "query": tagged("sleep=1 steps=2"), "hits": HITS}
    first = client.request("POST", "/v1/explanations", asked, {"Prefer": "respond-async"})
    assert first.status == 202
    assert [entry["hit"] for entry in first.json()["explanations"]] == HITS
    place = first.headers["location"]
    seen: set[int] = set()

    def done() -> bool:
        reply = client.request("GET", place)
        entries = reply.json()["explanations"]
        ready = [entry for entry in entries if entry["state"] == "done"]
        assert all(entry["comparison"]["a"]["ids"] == [entry["hit"]] for entry in ready)
        for entry in ready:
            assert client.call("GET", f"/v1/comparisons/{entry['comparison']['id']}") == entry["comparison"]
        seen.add(len(ready))
        return reply.status == 200

    until(done)
    assert {1, 2, 3} <= seen
    pending = client.request("POST", "/v1/explanations", {**asked, "query": tagged("sleep=9")}, {"Prefer": "wait=0"})
    last = f"/v1/comparisons/{pending.json()['id']}.2"
    assert client.request("GET", last).status == 202
    assert client.request("DELETE", pending.headers["location"]).status == 200


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
def test_a_bad_page_is_told_in_one_line(real: Client, changes: dict[str, object], code: str) -> None:
    body = {"index": "papers", "query": "web", "hits": HITS, **changes}
    with pytest.raises(ApiError) as caught:
        real.call("POST", "/v1/explanations", body)
    assert caught.value.code == code
