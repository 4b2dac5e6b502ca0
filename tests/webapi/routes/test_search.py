"""/v1/{index}/_search, with the official client and with plain requests."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from elasticsearch import BadRequestError, Elasticsearch, NotFoundError

from tests.support.api_keys import read_problem
from tests.support.fake_comparer import release_computations, tag_query
from tests.support.polling import wait_until
from tests.support.web_servers import WAIT_HEADER, RunningServer, StartServer
from webapi.client import ApiError, Client
from worker.jobs.config import WorkConfig

QUERY = {"match": {"text": "web graphs"}}


def search(client: Client, body: dict[str, object]) -> dict[str, Any]:
    return client.call("POST", "/v1/papers/_search", body, WAIT_HEADER)


def test_the_official_client_understands_the_answer(real_server: RunningServer) -> None:
    with Elasticsearch(real_server.url + "/v1") as elastic:
        found = elastic.options(headers=WAIT_HEADER).search(index="papers", query=QUERY, size=3)
        assert found["hits"]["total"]["value"] >= 12
        assert len(found["hits"]["hits"]) == 3
        assert "why" in found["hits"]["hits"][0]


def test_each_hit_says_why(real: Client) -> None:
    hits = search(real, {"query": QUERY, "size": 4})["hits"]["hits"]
    for hit in hits:
        why = hit["why"]
        assert why["state"] == "done" and "provisional" not in why
        assert len(why["common"]) <= 3 and len(why["distinct"]) <= 3
        assert [word["word"] for word in why["matched"]] == ["web", "graphs"] and why["lacks"] == []
        assert {word["field"] for word in why["matched"]} == {"title"}
        common = real.call("GET", why["href"]["common"])
        assert common["b"]["kind"] == "query" and common["a"]["ids"] == [hit["_id"]]
        distinct = real.call("GET", why["href"]["distinct"])
        assert set(distinct["b"]["ids"]) == {other["_id"] for other in hits} - {hit["_id"]}
    assert any(hit["why"]["common"] for hit in hits)


def test_what_is_not_ready_is_provisional_and_can_be_followed(client: Client) -> None:
    body = {"query": {"match": {"text": tag_query("web graph hold=1")}}, "size": 3}
    found = client.call("POST", "/v1/papers/_search", body, {"Prefer": "wait=0"})
    for hit in found["hits"]["hits"]:
        assert (hit["why"]["state"], hit["why"]["provisional"]) == ("pending", True)
        assert hit["why"]["common"][0]["phrase"]
    href = found["hits"]["hits"][-1]["why"]["href"]["common"]
    assert client.request("GET", href).status == 202
    release_computations("web graph hold=1", 3)
    wait_until(lambda: client.request("GET", href).status == 200)


def test_reasons_that_failed_are_unavailable(client: Client) -> None:
    body = {"query": {"match": {"text": tag_query("web graph fail=BadSide")}}, "size": 2}
    for hit in search(client, body)["hits"]["hits"]:
        why = hit["why"]
        assert (why["state"], why["code"], why["detail"]) == ("unavailable", "bad-side", "as ordered")
        assert why["provisional"] and why["common"][0]["phrase"]
        assert why["href"] == {}


def test_when_the_queue_is_full_hits_come_without_links(start_server: StartServer, work_config: WorkConfig) -> None:
    one_job = replace(work_config, limits=replace(work_config.limits, max_open_jobs=1))
    with start_server(one_job).make_client() as client:
        for words, state in (("web graph", "pending"), ("graph", "unavailable")):
            body = {"query": {"match": {"text": words}}, "size": 2}
            for hit in client.call("POST", "/v1/papers/_search", body, {"Prefer": "wait=0"})["hits"]["hits"]:
                assert hit["why"]["state"] == state
                assert set(hit["why"]["href"]) == ({"common", "distinct"} if state == "pending" else set())
        assert hit["why"]["code"] == "overloaded"


def test_filters_facets_and_pages(real: Client) -> None:
    whole = {
        "bool": {
            "must": [QUERY],
            "filter": [
                {"term": {"source.keyword": {"value": "BBC", "_name": "from the BBC"}}},
                {"range": {"date": {"gte": "2011-03-01", "lte": "2011-03-05"}}},
            ],
        }
    }
    found = search(real, {"query": whole, "aggs": {"sources": {"terms": {"field": "source"}}}, "why": False})
    assert {hit["_id"] for hit in found["hits"]["hits"]} == {"d1", "d3", "d5"}
    assert found["aggregations"]["sources"]["buckets"] == [{"key": "BBC", "doc_count": 3}]
    first = search(real, {"query": whole, "size": 2, "why": False})["hits"]["hits"]
    second = search(real, {"query": whole, "size": 2, "from": 2, "why": False})["hits"]["hits"]
    assert len(first) == 2 and len(second) == 1 and "why" not in first[0]
    assert search(real, {"query": whole})["hits"]["hits"][0]["matched_queries"] == ["from the BBC"]


def test_source_and_highlight(real: Client) -> None:
    body = {"query": QUERY, "size": 1, "_source": ["title"], "highlight": {"fields": {"title": {}, "text": {}}}}
    (hit,) = search(real, body | {"why": False})["hits"]["hits"]
    assert set(hit["_source"]) == {"title"}
    assert hit["highlight"]["title"][0].startswith("<em>Web</em> <em>graphs</em> and")
    assert hit["highlight"]["text"][0].startswith("The <em>web</em> <em>graph</em> is crawled.")
    assert len(hit["highlight"]["text"]) == 3
    marks = {"fields": {"text": {}}, "pre_tags": ["["], "post_tags": ["]"], "number_of_fragments": 1}
    (hit,) = search(real, body | {"why": False, "highlight": marks})["hits"]["hits"]
    (fragment,) = hit["highlight"]["text"]
    assert fragment.startswith("The [web] [graph] is")


def search_ids(client: Client, query: dict[str, object], **more: object) -> list[str]:
    hits = search(client, {"query": query, "why": False, "size": 100, **more})["hits"]["hits"]
    return [hit["_id"] for hit in hits if str(hit["_id"]).startswith("d") and str(hit["_id"])[1:].isdigit()]


def test_every_clause_of_a_bool_query_counts(papers: Client) -> None:
    bbc, late = {"term": {"source": "BBC"}}, {"range": {"date": {"gt": "2011-03-08"}}}
    assert set(search_ids(papers, {"bool": {"must": [QUERY], "must_not": [bbc]}})) == {
        "d2",
        "d4",
        "d6",
        "d8",
        "d10",
        "d12",
    }
    assert set(search_ids(papers, {"bool": {"filter": [QUERY, bbc, late]}})) == {"d9", "d11"}
    assert search_ids(papers, {"bool": {"should": [bbc, late], "minimum_should_match": 2}}) == ["d11", "d9"]
    assert set(
        search_ids(papers, {"bool": {"should": [{"bool": {"must": [bbc, late]}}, {"terms": {"source": ["x"]}}]}})
    ) == {
        "d9",
        "d11",
    }
    both = {"multi_match": {"query": "web unheardof", "fields": ["title^2", "text"], "operator": "and"}}
    assert search_ids(papers, both) == []


def test_each_hit_says_which_words_and_which_named_clauses_match_it(papers: Client) -> None:
    either = [
        {"match": {"text": {"query": "zebra Graphs", "_name": "mine"}}},
        {"match": {"text": "graphs unheardof walks"}},
        {"term": {"source": "CNN"}},
    ]
    (hit,) = search(papers, {"query": {"bool": {"should": either}}, "size": 1, "sort": "id"})["hits"]["hits"]
    assert hit["_id"] == "d1" and hit["matched_queries"] == ["mine"]
    graphs, walks = hit["why"]["matched"]
    assert graphs == {"word": "Graphs", "as": "graphs", "field": "title", "start": 4, "end": 10}
    assert (walks["word"], walks["as"], walks["field"]) == ("walks", "walk", "text")
    assert hit["_source"]["text"][walks["start"] : walks["end"]] == "walk"
    assert hit["why"]["lacks"] == ["zebra", "unheardof"]


def test_function_words_of_a_longer_query_neither_match_nor_are_marked(papers: Client) -> None:
    def find(words: str, **options: str) -> tuple[int, set[str]]:
        clause = {"match": {"text": {"query": words, **options}}}
        marks = {"fields": {"text": {}}, "pre_tags": ["["], "post_tags": ["]"]}
        hits = search(papers, {"query": clause, "highlight": marks, "why": False})["hits"]
        text = "".join(part for hit in hits["hits"] for part in hit.get("highlight", {}).get("text", ()))
        return hits["total"]["value"], {word.lower() for word in re.findall(r"\[(\w+)\]", text)}

    assert find("the unheardof of a") == (0, set())
    assert find("pages of the web")[1] == {"pages", "web"}
    assert find("which pages on the web", operator="and") == find("pages web", operator="and")
    assert find("of the")[1] == {"of", "the"}


@pytest.mark.parametrize("words", ["of", "x", "🚀", '"web -(graph" AND', "web " + "x" * 200, "שלום web", "das web"])
def test_any_words_can_be_searched_for(papers: Client, words: str) -> None:
    for hit in search(papers, {"query": {"match": {"text": words}}, "size": 2})["hits"]["hits"]:
        assert hit["why"]["matched"]


def test_a_search_for_thousands_of_words_is_refused(papers: Client) -> None:
    with pytest.raises(ApiError, match="too long"):
        search(papers, {"query": {"match": {"text": " ".join(f"word{n}" for n in range(10_000))}}})


def test_sorted_hits_carry_their_sort_values(papers: Client) -> None:
    body = {"query": {"term": {"source": "BBC"}}, "sort": [{"date": {"order": "desc"}}, "_score"], "why": False}
    hits = search(papers, body | {"size": 3})["hits"]["hits"]
    assert [hit["_id"] for hit in hits] == ["d11", "d9", "d7"]
    assert hits[0]["sort"] == [1299801600000, 1.0] and hits[0]["_score"] == 1.0
    by_id = search(papers, body | {"sort": {"id": "desc"}, "size": 1})["hits"]
    assert by_id["max_score"] is None and by_id["hits"][0]["_score"] is None and by_id["hits"][0]["_id"] == "d9"


def test_dates_are_counted_and_gaps_filled(papers: Client) -> None:
    body = {"query": {"terms": {"source": ["BBC"]}}, "size": 0}
    day = {"days": {"date_histogram": {"field": "date", "calendar_interval": "1d"}}}
    buckets = search(papers, body | {"aggs": day})["aggregations"]["days"]["buckets"]
    assert [bucket["doc_count"] for bucket in buckets] == [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]
    assert buckets[1] == {"key_as_string": "2011-03-02T00:00:00.000Z", "key": 1299024000000, "doc_count": 0}
    full = {"weeks": {"date_histogram": {"field": "date", "fixed_interval": "7d", "min_doc_count": 1}}}
    weeks = search(papers, body | {"aggregations": full})["aggregations"]["weeks"]["buckets"]
    assert sum(bucket["doc_count"] for bucket in weeks) == 6


def test_the_official_client_sorts_counts_and_gets_errors(real_server: RunningServer) -> None:
    with Elasticsearch(real_server.url + "/v1") as elastic:
        found = elastic.search(
            index="papers",
            query={
                "bool": {"must_not": {"term": {"source": "CNN"}}, "filter": {"range": {"date": {"lte": "2011-03"}}}}
            },
            sort=[{"date": "desc"}],
            aggs={"when": {"date_histogram": {"field": "date", "calendar_interval": "month"}}},
            highlight={"fields": {"text": {}}},
        )
        assert found.meta.headers["X-Elastic-Product"] == "Elasticsearch"
        assert [hit["_id"] for hit in found["hits"]["hits"]] == ["d11", "d9", "d7", "d5", "d3", "d1"]
        assert found["aggregations"]["when"]["buckets"][0]["doc_count"] == 6
        with pytest.raises(BadRequestError) as refused:
            elastic.search(index="papers", query={"script_score": {"query": {"match_all": {}}}})
        error = refused.value.body["error"]
        assert refused.value.message == error["type"] == error["problem"]["code"] == "bad-parameter"
        assert error["root_cause"] == [{"type": error["type"], "reason": error["reason"]}]
        assert "match_all" in error["reason"] and refused.value.body["status"] == 400
        with pytest.raises(NotFoundError):
            elastic.search(index="nope", query={"match_all": {}})


def test_a_parameter_of_the_address_is_not_ignored(real: Client) -> None:
    reply = real.request("POST", "/v1/papers/_search?size=1", {})
    assert (reply.status, read_problem(reply.json())["code"]) == (400, "bad-parameter")
    assert real.request("POST", "/v1/papers/_search?pretty=true", {"why": False}).status == 200


def test_without_words_hits_are_compared_with_each_other_only(real: Client) -> None:
    hits = search(real, {"query": {"match_all": {}}, "size": 2})["hits"]["hits"]
    assert set(hits[0]["why"]["href"]) == {"distinct"} and hits[0]["why"]["common"] == []


@pytest.mark.parametrize(
    "body",
    [
        {"query": {"script": {"script": "1"}}},
        {"query": {"function_score": {}}},
        {"query": {"match": {"secret": "x"}}},
        {"query": {"match": {"text": ""}}},
        {"query": {"match": {"text": {"query": "x", "operator": "near"}}}},
        {"query": {"match": {"text": {"query": "x", "fuzziness": "AUTO"}}}},
        {"query": {"bool": {"must": [QUERY], "minimum_should_match": "75%"}}},
        {"query": {"bool": {"filter": [{"script": {"script": "doc"}}]}}},
        {"query": {"bool": {"must": [QUERY] * 101}}},
        {"query": {"range": {"price": {"gte": "1"}}}},
        {"query": {"range": {"date": {"gte": "now-1d"}}}},
        {"query": {"range": {"date": {"gte": "2011", "boost": 2}}}},
        {"query": {"term": {"text": "web"}}},
        {"query": {"match_all": {"boost": 2}}},
        {"query": {"term": {"source": 5}}},
        {"query": []},
        {"query": {"match": {}, "term": {}}},
        {"size": 1000},
        {"size": -1},
        {"from": "0"},
        {"sort": [{"title": "asc"}]},
        {"sort": [{"date": {"order": "up"}}]},
        {"sort": [{"_script": {"script": "1"}}]},
        {"sort": ["date", "date"]},
        {"script_fields": {}},
        {"runtime_mappings": {}},
        {"aggs": {"x": {"scripted_metric": {}}}},
        {"aggs": {"x": {"terms": {"field": "source", "script": "1"}}}},
        {"aggs": {"x": {"terms": {"field": "source"}, "aggs": {"y": {"terms": {"field": "source"}}}}}},
        {"aggs": {"x": {"date_histogram": {"field": "date"}}}},
        {"aggs": {"x": {"date_histogram": {"field": "date", "fixed_interval": "1s"}}}},
        {"aggs": {}, "aggregations": {}},
        {"highlight": {"fields": {"text": {}}, "encoder": "x"}},
        {"why": "yes"},
    ],
)
def test_unsupported_parts_of_a_body_are_refused(real: Client, body: dict[str, object]) -> None:
    with pytest.raises(ApiError) as caught:
        search(real, body)
    assert (caught.value.status, caught.value.code) == (400, "bad-parameter")


def test_a_search_of_an_unknown_index_is_404(real: Client) -> None:
    with pytest.raises(ApiError, match="unknown-index"):
        real.search("nope", {"query": QUERY})


def test_the_caller_may_say_which_words_to_explain_by(real: Client) -> None:
    body = {"query": {"match": {"text": "web graph"}}, "size": 1, "highlight": {"fields": {"text": {}}}}
    plain = search(real, body)["hits"]["hits"][0]
    told = search(real, {**body, "why": {"query": "link analysis"}})["hits"]["hits"][0]
    why = told.pop("why")
    assert {*(entry["word"] for entry in why["matched"]), *why["lacks"]} == {"link", "analysis"}
    assert told == {name: value for name, value in plain.items() if name != "why"}


def test_documents_of_an_index_of_ours_are_counted_and_got_by_id(real: Client) -> None:
    query = {"query": {"match": {"text": "web"}}}
    count = real.request("POST", "/v1/papers/_count", query).json()
    assert count["count"] == search(real, {**query, "why": False})["hits"]["total"]["value"]
    docs = real.request("POST", "/v1/papers/_mget", {"ids": ["d1", "none"]}).json()["docs"]
    assert docs[0]["_source"]["title"] and docs[1] == {"_index": "papers", "_id": "none", "found": False}
    assert real.request("GET", "/v1/").json()["tagline"] == "You Know, for Search"
