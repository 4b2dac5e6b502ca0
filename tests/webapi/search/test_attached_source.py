"""An attached index is searched in its source: its analyzers, fields and mappings, with reasons from the side index."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import BadRequestError, Elasticsearch

from indexer.engines.elasticsearch import query_builder, reader
from indexer.indexing.update import refresh_index
from tests.support.api_keys import AppClient, IssuedKeys, make_app_client
from tests.support.attached_sources import BASE_TEXT, MAPPINGS, AttachedSource, attach_source, make_story
from tests.support.polling import wait_until
from tests.support.web_servers import WAIT_HEADER, RunningServer, launch_server
from worker.jobs.config import WorkConfig

pytestmark = pytest.mark.elasticsearch


@pytest.fixture
def house(elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[AttachedSource]:
    house = AttachedSource(elasticsearch_url)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PHRASECOM_INDEX_PREFIX", house.prefix)
    attach_source(house)
    yield house
    house.close()


@contextmanager
def reading(house: AttachedSource, tmp_path: Path, **settings: Any) -> Iterator[Callable[[str], AppClient]]:
    """``who("guest")``: the service as one caller meets it."""
    ring = IssuedKeys(tmp_path / "keys.toml")
    everything = ("read", "compare", "ingest")
    for name, groups in {"root": ("*",), "staff": ("staff",), "guest": ("guests",)}.items():
        ring.issue(name, everything, groups=groups)
    with house.open_engine() as engine:
        app = make_app_client(engine, ring, **settings)
        yield lambda name: app.with_key(ring.secrets[name])
        app.close()


def found(who: AppClient, body: dict[str, Any], status: int = 200) -> Any:
    reply = who.post("/v1/news/_search", body)
    assert reply.status_code == status, reply.text
    return reply.json


def ids(answer: Any) -> set[str]:
    return {hit["_id"] for hit in answer["hits"]["hits"]}


@pytest.fixture
def served(house: AttachedSource, tmp_path: Path) -> Iterator[RunningServer]:
    config = WorkConfig(engine=house.url, engine_options={"prefix": house.prefix})
    server = launch_server(config, tmp_path / "log")
    yield server
    server.stop()


def test_the_official_client_searches_the_source_in_its_own_words(house: AttachedSource, served: RunningServer) -> None:
    asked: dict[str, Any] = {
        "query": {
            "bool": {
                "must": [{"match": {"body": "Graph"}}],
                "filter": [{"range": {"views": {"gte": 90, "_name": "often read"}}}],
            }
        },
        "sort": [{"views": "asc"}],
        "aggs": {
            "desks": {"terms": {"field": "meta.desk"}},
            "months": {"date_histogram": {"field": "published", "calendar_interval": "month"}},
        },
        "highlight": {"fields": {"body": {}}, "pre_tags": ["["], "post_tags": ["]"]},
    }
    with Elasticsearch(served.url + "/v1") as client:
        ours = client.options(headers=WAIT_HEADER).search(index="news", body=asked)
    theirs = house.client.search(index=house.index, body=asked)
    for answer in (ours, theirs):
        assert [hit["_id"] for hit in answer["hits"]["hits"]] == ["s10", "s8", "s6", "s4", "s2"]
    assert ours["hits"]["total"] == theirs["hits"]["total"] == {"value": 5, "relation": "eq"}
    assert ours["aggregations"] == theirs["aggregations"]
    for mine, other in zip(ours["hits"]["hits"], theirs["hits"]["hits"], strict=True):
        assert {name: mine[name] for name in ("_source", "sort", "highlight", "matched_queries")} == {
            name: other[name] for name in ("_source", "sort", "highlight", "matched_queries")
        }
        assert mine["why"]["state"] == "done" and mine["why"]["matched"] == ["match: Graph", "often read"]


def test_hits_carry_reasons_from_the_side_index(house: AttachedSource, tmp_path: Path) -> None:
    with reading(house, tmp_path) as who:
        answer = found(who("root"), {"query": {"multi_match": {"query": "web graph"}}, "size": 12})
        assert len(ids(answer)) == 12
        for hit in answer["hits"]["hits"]:
            assert any("web graph" in entry["phrase"] for entry in hit["why"]["common"])
            comparison = who("root").get(hit["why"]["href"]["common"]).json
            assert comparison["a"]["ids"] == [hit["_id"]]
        bare = found(who("root"), {"query": {"match": {"body": "web"}}, "why": False, "_source": ["meta.desk"]})
        assert all("why" not in hit and hit["_source"].keys() == {"meta"} for hit in bare["hits"]["hits"])


def test_what_is_new_or_changed_in_the_source_says_so(house: AttachedSource, tmp_path: Path) -> None:
    house.put_document("late", make_story(1) | {"headline": "A late one"})
    house.put_document("s1", make_story(1) | {"headline": "Written anew"})
    house.put_document("s2", make_story(2) | {"views": 5})
    house.client.delete(index=house.index, id="s4", refresh=True)
    with reading(house, tmp_path) as who:
        answer = found(who("root"), {"query": {"match": {"body": "web"}}, "size": 20})
        whys = {hit["_id"]: hit["why"] for hit in answer["hits"]["hits"]}
        assert whys.keys() == {"late", *(f"s{n}" for n in range(1, 13) if n != 4)}
        assert {id for id, why in whys.items() if why["state"] == "done"} == whys.keys() - {"late", "s1"}
        for id, state in (("late", "not-indexed"), ("s1", "changed")):
            assert whys[id].keys() == {"state", "detail", "matched"} and whys[id]["state"] == state
            assert "attach" in whys[id]["detail"] and whys[id]["matched"] == ["match: web"]
        attach_source(house)
        wait_until(lambda: _states(found(who("root"), {"query": {"match": {"body": "web"}}, "size": 20})) == {"done"})


def _states(answer: Any) -> set[str]:
    return {hit["why"]["state"] for hit in answer["hits"]["hits"]}


COUNTS = {"aggs": {"desks": {"terms": {"field": "meta.desk"}}}, "size": 20, "query": {"match": {"body": "web"}}}


def counted(answer: Any) -> tuple[int, int]:
    """Hits in all, by the total and by the facet counts."""
    buckets = answer["aggregations"]["desks"]["buckets"]
    return answer["hits"]["total"]["value"], sum(one["doc_count"] for one in buckets)


def test_hidden_documents_are_neither_shown_nor_counted(house: AttachedSource, tmp_path: Path) -> None:
    with reading(house, tmp_path) as who:
        assert counted(found(who("staff"), COUNTS)) == (12, 12)
        seen = found(who("guest"), COUNTS)
        assert counted(seen) == (8, 8)
        assert ids(seen) == {f"s{n}" for n in range(1, 13) if n % 3}
        only = {"query": {"term": {"headline.keyword": "Story 3 on the web graph"}}}
        assert ids(found(who("staff"), only)) == {"s3"}
        assert found(who("guest"), only)["hits"]["total"]["value"] == 0
        far = found(who("guest"), COUNTS | {"from": 6, "size": 20, "why": False})
        assert len(ids(far)) == 2


def test_a_document_the_side_index_does_not_know_is_hidden_from_limited_callers(
    house: AttachedSource, tmp_path: Path
) -> None:
    house.put_document("late", make_story(1))
    with reading(house, tmp_path) as who:
        assert counted(found(who("root"), COUNTS)) == (13, 13)
        assert counted(found(who("staff"), COUNTS)) == (12, 12)
        assert counted(found(who("guest"), COUNTS)) == (8, 8)


def test_a_right_taken_away_in_the_source_holds_at_once(house: AttachedSource, tmp_path: Path) -> None:
    with reading(house, tmp_path) as who:
        assert counted(found(who("guest"), COUNTS)) == (8, 8)
        house.put_document("s1", make_story(1) | {"groups": ["staff"], "body": f"{BASE_TEXT} zarquon"})
        seen = found(who("guest"), COUNTS)
        assert counted(seen) == (7, 7) and "s1" not in ids(seen)
        probe = {"query": {"match": {"body": "zarquon"}}, "aggs": COUNTS["aggs"]}
        assert counted(found(who("guest"), probe)) == (0, 0)
        assert counted(found(who("staff"), probe)) == (1, 1)


def test_a_right_taken_away_in_the_side_index_holds_at_once(house: AttachedSource, tmp_path: Path) -> None:
    with reading(house, tmp_path) as who:
        assert counted(found(who("guest"), COUNTS)) == (8, 8)
        new = {"id": "s1", "title": "Story", "text": BASE_TEXT, "acl": ["staff"]}
        job = who("root").post("/v1/indexes/news/documents", {"documents": [new]}).json["id"]
        wait_until(lambda: who("root").get(f"/v1/jobs/{job}").json["state"] == "done")
        seen = found(who("guest"), COUNTS)
        assert counted(seen) == (7, 7) and "s1" not in ids(seen)
        assert (
            found(who("staff"), COUNTS | {"query": {"term": {"views": 99}}})["hits"]["hits"][0]["why"]["state"]
            == "changed"
        )


def test_a_right_given_in_the_source_waits_until_it_is_attached_again(house: AttachedSource, tmp_path: Path) -> None:
    house.put_document("s3", {name: value for name, value in make_story(3).items() if name != "groups"})
    with reading(house, tmp_path) as who:
        assert counted(found(who("guest"), COUNTS)) == (8, 8)
        attach_source(house)
        wait_until(lambda: counted(found(who("guest"), COUNTS)) == (9, 9))


def test_groups_are_not_shown_to_limited_callers(house: AttachedSource, tmp_path: Path) -> None:
    with reading(house, tmp_path) as who:
        assert any("groups" in hit["_source"] for hit in found(who("root"), COUNTS)["hits"]["hits"])
        assert not any("groups" in hit["_source"] for hit in found(who("staff"), COUNTS)["hits"]["hits"])
        for body in (
            {"query": {"term": {"groups": "staff"}}},
            {"sort": ["groups"]},
            {"aggs": {"x": {"terms": {"field": "groups"}}}},
            {"highlight": {"fields": {"groups": {}}}},
        ):
            found(who("root"), body)
            assert found(who("staff"), body, 400)["code"] == "bad-parameter"
        assert "groups" not in who("staff").get("/v1/indexes/news").text


def test_rights_that_cannot_be_checked_in_a_search_are_refused_not_guessed(
    house: AttachedSource, tmp_path: Path
) -> None:
    other = f"{house.index}-2"
    house.client.indices.create(index=other, mappings=MAPPINGS)
    house.client.indices.update_aliases(
        actions=[{"add": {"index": name, "alias": f"{house.index}-all"}} for name in (house.index, other)]
    )
    attach_source(house, index=f"{house.index}-all")
    with reading(house, tmp_path) as who:
        assert counted(found(who("root"), COUNTS)) == (12, 12)
        refused = found(who("guest"), COUNTS, 403)
        assert refused["code"] == "forbidden" and "several indices" in refused["detail"]
    loose = f"{house.index}-loose"
    mappings = {"properties": MAPPINGS["properties"] | {"groups": {"type": "text"}}}
    house.client.indices.create(index=loose, mappings=mappings)
    house.client.index(index=loose, id="s1", document=make_story(3), refresh=True)
    attach_source(house, index=loose)
    with reading(house, tmp_path) as who:
        refused = found(who("guest"), COUNTS, 403)
        assert refused["code"] == "forbidden" and "not of type keyword" in refused["detail"]


def test_the_ids_of_what_may_be_read_go_into_the_search_in_parts(
    house: AttachedSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_builder, "MAX_IDS_PER_CLAUSE", 3)
    monkeypatch.setattr(reader, "ID_BATCH", 5)
    house.client.indices.put_settings(index=house.index, settings={"index.max_result_window": 25})
    with reading(house, tmp_path) as who:
        assert counted(found(who("guest"), COUNTS)) == (8, 8)
        assert counted(found(who("staff"), COUNTS)) == (12, 12)


def test_whoever_may_read_nothing_finds_nothing(house: AttachedSource, tmp_path: Path) -> None:
    for number in range(1, 13):
        house.put_document(f"s{number}", make_story(number) | {"groups": ["staff"]})
    attach_source(house)
    with reading(house, tmp_path) as who:
        assert counted(found(who("guest"), COUNTS)) == (0, 0)
        assert counted(found(who("staff"), COUNTS)) == (12, 12)


def test_more_readable_documents_than_go_into_a_search_are_told(house: AttachedSource, tmp_path: Path) -> None:
    with reading(house, tmp_path, max_source_ids=8) as who:
        assert counted(found(who("guest"), COUNTS)) == (8, 8)
        refused = found(who("staff"), COUNTS, 413)
        assert refused["code"] == "too-large" and "max_source_ids" in refused["detail"]


@pytest.mark.parametrize(
    "body",
    [
        {"query": {"script_score": {"query": {"match_all": {}}, "script": {"source": "1"}}}},
        {"query": {"match": {"nowhere": "x"}}},
        {"query": {"match": {"bo*": "x"}}},
        {"query": {"match": {"body": {"query": "x", "analyzer": "simple"}}}},
        {"query": {"match": {"body": " "}}},
        {"query": {"multi_match": {"query": "x", "fields": ["*"]}}},
        {"query": {"multi_match": {"query": "x", "fields": ["body^x"]}}},
        {"query": {"terms": {"meta.desk": {"index": "other", "id": "1", "path": "x"}}}},
        {"query": {"term": {"meta.desk": {"value": ["x"]}}}},
        {"query": {"term": {"_id": "s1"}}},
        {"query": {"range": {"views": {"gte": 1, "relation": "within"}}}},
        {"query": {"query_string": {"query": "groups:*"}}},
        {"query": {"bool": {"must": [{"match_all": {}}] * 101}}},
        {"size": 101},
        {"from": 9950, "size": 100},
        {"sort": [{"_script": {}}]},
        {"sort": ["nowhere"]},
        {"sort": [{"views": {"order": "asc", "mode": "max"}}]},
        {"script_fields": {}},
        {"runtime_mappings": {}},
        {"fields": ["body"]},
        {"aggs": {"x": {"top_hits": {}}}},
        {"aggs": {"x": {"terms": {"field": "meta.desk", "script": "1"}}}},
        {"aggs": {"x": {"terms": {"field": "meta.desk"}, "aggs": {}}}},
        {"aggs": {"x": {"terms": {"field": "body"}}}},
        {"aggs": {"x": {"date_histogram": {"field": "published"}}}},
        {"highlight": {"fields": {"body": {"type": "fvh"}}}},
        {"pit": {"id": "x"}},
        {"why": 1},
    ],
)
def test_what_is_not_on_the_list_is_refused(shared: AppClient, body: dict[str, Any]) -> None:
    reply = shared.post("/v1/news/_search", body)
    assert (reply.status_code, reply.json["code"]) in ((400, "bad-parameter"), (413, "too-large")), reply.text
    assert "\n" not in reply.json["detail"]


@pytest.fixture(scope="module")
def shared(elasticsearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppClient]:
    """One for tests that change nothing."""
    house = AttachedSource(elasticsearch_url)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("shared"))
        patch.setenv("PHRASECOM_INDEX_PREFIX", house.prefix)
        attach_source(house)
    with house.open_engine() as engine:
        app = make_app_client(engine)
        yield app
        app.close()
    house.close()


def test_the_api_tells_the_fields_and_facets_of_the_source(shared: AppClient) -> None:
    told = shared.get("/v1/indexes/news").json
    assert told["fields"] == {"title": "headline", "text": "body", "date": "published", "url": None}
    assert told["facets"] == [{"field": "meta.desk", "name": "desk"}] and told["source"].startswith("stories-")
    assert "source" not in told["settings"]


def test_an_error_of_elasticsearch_is_told_in_one_line(house: AttachedSource, served: RunningServer) -> None:
    with (
        Elasticsearch(served.url + "/v1") as client,
        pytest.raises(BadRequestError) as refused,
    ):
        client.search(index="news", query={"range": {"published": {"gte": "the day before"}}})
    assert refused.value.body["code"] == "bad-parameter" and "\n" not in refused.value.body["detail"]


def test_a_refresh_keeps_the_source_and_a_source_that_is_gone_is_told(house: AttachedSource, tmp_path: Path) -> None:
    with house.open_engine() as engine:
        refresh_index(engine, "news", processes=1)
    with reading(house, tmp_path) as who:
        assert counted(found(who("root"), COUNTS)) == (12, 12)
        house.client.indices.delete(index=house.index)
        assert found(who("root"), COUNTS, 503)["code"] == "unavailable"
        assert who("root").get("/v1/indexes/news/documents/s1").status_code == 200


def test_under_other_ids_or_on_another_engine_the_attached_documents_are_searched(
    house: AttachedSource, tmp_path: Path
) -> None:
    own = {"query": {"match": {"text": "graph"}}, "size": 20, "why": False}
    folder = tmp_path / "engine"
    attach_source(house, engine=str(folder))
    app = make_app_client(folder)
    assert app.post("/v1/news/_search", own).json["hits"]["total"]["value"] == 12
    assert app.get("/v1/indexes/news").json["fields"]["text"] == "text"
    app.close()
    attach_source(house, "--map", "id=headline")
    with reading(house, tmp_path) as who:
        assert found(who("root"), own)["hits"]["total"]["value"] == 12
