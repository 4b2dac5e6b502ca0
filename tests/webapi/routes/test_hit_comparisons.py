"""The comparison behind a list of a hit, computed when it is asked for."""

from __future__ import annotations

from webapi.client import Client

HITS = ["d1", "d2", "d3"]


def test_each_list_of_a_hit_leads_to_its_comparison(real: Client) -> None:
    entry = real.explain("papers", HITS, query="web graph")["explanations"][1]
    with_query = real.get_comparison(entry["href"]["common"])
    assert with_query["a"]["ids"] == ["d2"] and with_query["b"] == {"kind": "query", "ids": [], "title": "web graph"}
    assert [one["phrase"] for one in with_query["common"]] == [one["phrase"] for one in entry["common"]]
    assert all(one["evidence"] for one in with_query["common"])
    with_page = real.get_comparison(entry["href"]["distinct"])
    assert with_page["b"]["ids"] == ["d1", "d3"]


def test_the_comparison_of_a_hit_is_left_by_its_own_id(real: Client) -> None:
    entry = real.explain("papers", HITS, query="web graph")["explanations"][0]
    assert real.request("DELETE", entry["href"]["common"]).json()["code"] == "unknown-job"
    whole = real.get_comparison(entry["href"]["common"])
    assert real.request("DELETE", f"/v1/comparisons/{whole['id']}").status == 200
