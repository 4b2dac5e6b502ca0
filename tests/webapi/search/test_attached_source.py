"""An attached index is searched in its source, with the source's analyzers and fields and reasons from our index."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import BadRequestError, Elasticsearch

from indexer.engines.attached_source import SourceAccess
from indexer.engines.elasticsearch import query_builder, reader
from indexer.indexing.update import refresh_index
from tests.support.api_keys import AppClient, make_app_client, read_problem
from tests.support.attached_sources import (
    BASE_TEXT,
    MAPPINGS,
    AttachedSource,
    attach_source,
    make_stories,
    make_story,
    serve_callers,
)
from tests.support.group_mappings import GROUP_MAPPINGS, GroupMapping
from tests.support.polling import wait_until
from tests.support.web_servers import WAIT_HEADER, RunningServer, launch_server
from webapi.search.source_search import SourceHit
from worker.jobs.config import WorkConfig


def search_news(who: AppClient, body: dict[str, Any], status: int = 200) -> Any:
    reply = who.post("/v1/news/_search", body)
    assert reply.status_code == status, reply.text
    return reply.json if status == 200 else read_problem(reply.json)


def collect_ids(answer: Any) -> set[str]:
    return {hit["_id"] for hit in answer["hits"]["hits"]}


@pytest.fixture
def running_server(source: AttachedSource, tmp_path: Path) -> Iterator[RunningServer]:
    config = WorkConfig(engine=source.url, engine_options={"prefix": source.prefix})
    server = launch_server(config, tmp_path / "log")
    yield server
    server.stop()


def test_the_official_client_searches_the_source_by_its_own_fields(
    source: AttachedSource, running_server: RunningServer
) -> None:
    body: dict[str, Any] = {
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
    with Elasticsearch(running_server.url + "/v1") as client:
        ours = client.options(headers=WAIT_HEADER).search(index="news", body=body)
    theirs = source.client.search(index=source.index, body=body)
    for answer in (ours, theirs):
        assert [hit["_id"] for hit in answer["hits"]["hits"]] == ["s10", "s8", "s6", "s4", "s2"]
    assert ours["hits"]["total"] == theirs["hits"]["total"] == {"value": 5, "relation": "eq"}
    assert ours["aggregations"] == theirs["aggregations"]
    for mine, other in zip(ours["hits"]["hits"], theirs["hits"]["hits"], strict=True):
        assert {name: mine[name] for name in ("_source", "sort", "highlight", "matched_queries")} == {
            name: other[name] for name in ("_source", "sort", "highlight", "matched_queries")
        }
        assert mine["why"]["state"] == "done" and mine["why"]["lacks"] == []
        assert [(word["word"], word["as"], word["field"]) for word in mine["why"]["matched"]] == [
            ("Graph", "graph", "title")
        ]


def test_hits_carry_reasons_from_the_attached_index(source: AttachedSource, tmp_path: Path) -> None:
    with serve_callers(source, tmp_path) as who:
        answer = search_news(who("root"), {"query": {"multi_match": {"query": "web graph"}}, "size": 12})
        assert len(collect_ids(answer)) == 12
        for hit in answer["hits"]["hits"]:
            assert any("web graph" in entry["phrase"] for entry in hit["why"]["common"])
            comparison = who("root").get(hit["why"]["href"]["common"]).json
            assert comparison["a"]["ids"] == [hit["_id"]]
        bare = search_news(who("root"), {"query": {"match": {"body": "web"}}, "why": False, "_source": ["meta.desk"]})
        assert all("why" not in hit and hit["_source"].keys() == {"meta"} for hit in bare["hits"]["hits"])


def test_new_and_changed_documents_of_the_source_are_marked(source: AttachedSource, tmp_path: Path) -> None:
    source.put_document("late", make_story(1) | {"headline": "A late one"})
    source.put_document("s1", make_story(1) | {"headline": "Written anew"})
    source.put_document("s2", make_story(2) | {"views": 5})
    source.client.delete(index=source.index, id="s4", refresh=True)
    with serve_callers(source, tmp_path) as who:
        answer = search_news(who("root"), {"query": {"match": {"body": "web"}}, "size": 20})
        whys = {hit["_id"]: hit["why"] for hit in answer["hits"]["hits"]}
        assert whys.keys() == {"late", *(f"s{n}" for n in range(1, 13) if n != 4)}
        assert {id for id, why in whys.items() if why["state"] == "done"} == whys.keys() - {"late", "s1"}
        for id, state in (("late", "not-indexed"), ("s1", "changed")):
            assert whys[id].keys() == {"state", "detail", "matched", "lacks"} and whys[id]["state"] == state
            assert "attach" in whys[id]["detail"] and [word["word"] for word in whys[id]["matched"]] == ["web"]
        attach_source(source)
        wait_until(
            lambda: (
                collect_states(search_news(who("root"), {"query": {"match": {"body": "web"}}, "size": 20})) == {"done"}
            )
        )


def collect_states(answer: Any) -> set[str]:
    return {hit["why"]["state"] for hit in answer["hits"]["hits"]}


COUNTS = {"aggs": {"desks": {"terms": {"field": "meta.desk"}}}, "size": 20, "query": {"match": {"body": "web"}}}


def count_hits(answer: Any) -> tuple[int, int]:
    """Return the number of hits by the total and by the facet counts."""
    buckets = answer["aggregations"]["desks"]["buckets"]
    return answer["hits"]["total"]["value"], sum(one["doc_count"] for one in buckets)


def test_hidden_documents_are_neither_shown_nor_counted(source: AttachedSource, tmp_path: Path) -> None:
    with serve_callers(source, tmp_path) as who:
        assert count_hits(search_news(who("staff"), COUNTS)) == (12, 12)
        seen = search_news(who("guest"), COUNTS)
        assert count_hits(seen) == (8, 8)
        assert collect_ids(seen) == {f"s{n}" for n in range(1, 13) if n % 3}
        only = {"query": {"term": {"headline.keyword": "Story 3 on the web graph"}}}
        assert collect_ids(search_news(who("staff"), only)) == {"s3"}
        assert search_news(who("guest"), only)["hits"]["total"]["value"] == 0
        far = search_news(who("guest"), COUNTS | {"from": 6, "size": 20, "why": False})
        assert len(collect_ids(far)) == 2


def test_a_document_missing_in_the_attached_index_is_hidden_from_restricted_callers(
    source: AttachedSource, tmp_path: Path
) -> None:
    source.put_document("late", make_story(1))
    with serve_callers(source, tmp_path) as who:
        assert count_hits(search_news(who("root"), COUNTS)) == (13, 13)
        assert count_hits(search_news(who("staff"), COUNTS)) == (12, 12)
        assert count_hits(search_news(who("guest"), COUNTS)) == (8, 8)


def test_a_right_revoked_in_the_source_applies_at_once(source: AttachedSource, tmp_path: Path) -> None:
    with serve_callers(source, tmp_path) as who:
        assert count_hits(search_news(who("guest"), COUNTS)) == (8, 8)
        source.put_document("s1", make_story(1) | {"groups": ["staff"], "body": f"{BASE_TEXT} zarquon"})
        seen = search_news(who("guest"), COUNTS)
        assert count_hits(seen) == (7, 7) and "s1" not in collect_ids(seen)
        probe = {"query": {"match": {"body": "zarquon"}}, "aggs": COUNTS["aggs"]}
        assert count_hits(search_news(who("guest"), probe)) == (0, 0)
        assert count_hits(search_news(who("staff"), probe)) == (1, 1)


def test_a_right_revoked_in_the_attached_index_applies_at_once(source: AttachedSource, tmp_path: Path) -> None:
    with serve_callers(source, tmp_path) as who:
        assert count_hits(search_news(who("guest"), COUNTS)) == (8, 8)
        new = {"id": "s1", "title": "Story", "text": BASE_TEXT, "acl": ["staff"]}
        job = who("root").post("/v1/indexes/news/documents", {"documents": [new]}).json["id"]
        wait_until(lambda: who("root").get(f"/v1/jobs/{job}").json["state"] == "done")
        seen = search_news(who("guest"), COUNTS)
        assert count_hits(seen) == (7, 7) and "s1" not in collect_ids(seen)
        assert (
            search_news(who("staff"), COUNTS | {"query": {"term": {"views": 99}}})["hits"]["hits"][0]["why"]["state"]
            == "changed"
        )


def test_a_right_granted_in_the_source_applies_once_it_is_attached_again(
    source: AttachedSource, tmp_path: Path
) -> None:
    source.put_document("s3", {name: value for name, value in make_story(3).items() if name != "groups"})
    with serve_callers(source, tmp_path) as who:
        assert count_hits(search_news(who("guest"), COUNTS)) == (8, 8)
        attach_source(source)
        wait_until(lambda: count_hits(search_news(who("guest"), COUNTS)) == (9, 9))


def test_groups_are_not_shown_to_restricted_callers(source: AttachedSource, tmp_path: Path) -> None:
    with serve_callers(source, tmp_path) as who:
        assert any("groups" in hit["_source"] for hit in search_news(who("root"), COUNTS)["hits"]["hits"])
        assert not any("groups" in hit["_source"] for hit in search_news(who("staff"), COUNTS)["hits"]["hits"])
        for body in (
            {"query": {"term": {"groups": "staff"}}},
            {"sort": ["groups"]},
            {"aggs": {"x": {"terms": {"field": "groups"}}}},
            {"highlight": {"fields": {"groups": {}}}},
        ):
            search_news(who("root"), body)
            assert search_news(who("staff"), body, 400)["code"] == "bad-parameter"
        assert "groups" not in who("staff").get("/v1/indexes/news").text


@pytest.fixture
def open_source(
    elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Callable[[GroupMapping], AttachedSource]]:
    """Attaches a source that maps its groups in a given way; every third story is for staff."""
    sources: list[AttachedSource] = []
    monkeypatch.chdir(tmp_path)

    def open_it(groups: GroupMapping) -> AttachedSource:
        stories = {id: write_groups(story, groups) for id, story in make_stories().items()}
        sources.append(AttachedSource(elasticsearch_url, stories, groups))
        monkeypatch.setenv("PHRASECOM_INDEX_PREFIX", sources[-1].prefix)
        attach_source(sources[-1])
        return sources[-1]

    yield open_it
    for source in sources:
        source.close()


def write_groups(story: dict[str, Any], groups: GroupMapping) -> dict[str, Any]:
    """Return the story with its groups where this mapping has them."""
    story = dict(story)
    return story | groups.write_groups(story.pop("groups", []))


TITLES = {"query": {"match_all": {}}, "size": 5, "aggs": {"t": {"terms": {"field": "headline.keyword", "size": 99}}}}


@pytest.mark.parametrize("name", GROUP_MAPPINGS)
def test_a_document_closed_in_the_source_is_hidden_however_the_source_maps_its_groups(
    open_source: Callable[[GroupMapping], AttachedSource], tmp_path: Path, name: str
) -> None:
    groups = GROUP_MAPPINGS[name]
    source = open_source(groups)
    closed = make_story(1) | {"headline": "Zarquon", "groups": ["staff"]}
    source.put_document("s1", write_groups(closed, groups))
    with serve_callers(source, tmp_path) as who:
        assert "Zarquon" in json.dumps(search_news(who("root"), TITLES)["aggregations"])
        reply = who("guest").post("/v1/news/_search", TITLES)
        assert "Zarquon" not in reply.text and "staff" not in reply.text
        assert groups.path.rpartition(".")[2] not in who("guest").get("/v1/indexes/news").text
        if groups.refusal:
            assert (reply.status_code, read_problem(reply.json)["code"]) == (403, "forbidden")
            assert (
                groups.refusal in read_problem(reply.json)["detail"] and "attach" in read_problem(reply.json)["detail"]
            )
            assert source.index not in reply.text
        else:
            assert reply.json["hits"]["total"]["value"] == len(reply.json["aggregations"]["t"]["buckets"]) == 7
            seen_by_staff = search_news(who("staff"), TITLES)["hits"]["total"]["value"]
            assert seen_by_staff == (7 if groups.hides_closed else 12)


@pytest.mark.parametrize("name", ["several names", "object", "too long"])
def test_no_part_of_a_request_may_name_a_field_with_groups(
    open_source: Callable[[GroupMapping], AttachedSource], tmp_path: Path, name: str
) -> None:
    groups = GROUP_MAPPINGS[name]
    with serve_callers(open_source(groups), tmp_path) as who:
        for field in (groups.path, *groups.other_names):
            for body in (
                {"query": {"match": {field: "staff"}}},
                {"query": {"multi_match": {"query": "staff", "fields": ["body", f"{field}^2"], "lenient": True}}},
                {"query": {"bool": {"must_not": [{"term": {field: "staff"}}]}}},
                {"query": {"terms": {field: ["staff"]}}},
                {"query": {"range": {field: {"gte": "a"}}}},
                {"sort": [field]},
                {"aggs": {"x": {"terms": {"field": field}}}},
                {"highlight": {"fields": {field: {}}}},
            ):
                reply = who("staff").post("/v1/news/_search", body)
                if reply.status_code == 200:  # a pattern, of which only the other fields are searched or shown
                    assert "*" in field and ("multi_match" in str(body) or "highlight" in str(body))
                    assert reply.json["hits"]["total"]["value"] == (12 if "highlight" in str(body) else 0)
                else:
                    assert reply.status_code == (403 if field.startswith("_") else 400)
                assert "staff" not in reply.text
            shown = search_news(who("staff"), {"_source": [field, "views"], "why": False})
            assert shown["hits"]["hits"] and "staff" not in json.dumps(shown)
        assert "staff" not in json.dumps(search_news(who("staff"), {"size": 20}))


def test_a_search_in_no_field_is_refused_not_run_in_all(shared: AppClient) -> None:
    refused = shared.post("/v1/news/_search", {"query": {"multi_match": {"query": "staff", "fields": []}}})
    assert refused.status_code == 400 and "fields" in read_problem(refused.json)["detail"]


def test_a_name_that_covers_several_indices_is_refused_to_restricted_callers(
    source: AttachedSource, tmp_path: Path
) -> None:
    other = f"{source.index}-2"
    source.client.indices.create(index=other, mappings=MAPPINGS)
    source.client.indices.update_aliases(
        actions=[{"add": {"index": name, "alias": f"{source.index}-all"}} for name in (source.index, other)]
    )
    attach_source(source, index=f"{source.index}-all")
    with serve_callers(source, tmp_path) as who:
        assert count_hits(search_news(who("root"), COUNTS)) == (12, 12)
        refused = search_news(who("guest"), COUNTS, 403)
        assert refused["code"] == "forbidden" and "several indices" in refused["detail"]


def test_a_mapping_that_changes_after_attaching_counts_at_once(source: AttachedSource, tmp_path: Path) -> None:
    alias, other = f"{source.index}-now", f"{source.index}-2"
    source.client.indices.put_alias(index=source.index, name=alias)
    attach_source(source, index=alias)
    with serve_callers(source, tmp_path) as who:
        assert count_hits(search_news(who("guest"), COUNTS)) == (8, 8)
        source.client.indices.put_mapping(
            index=source.index, properties={"audience": {"type": "alias", "path": "groups"}}
        )
        assert search_news(who("staff"), {"aggs": {"x": {"terms": {"field": "audience"}}}}, 400)
        source.client.indices.create(index=other, mappings={"dynamic": False, "properties": {"body": {"type": "text"}}})
        source.client.index(index=other, id="s1", document=make_story(3), refresh=True)
        moves = [{"remove": {"index": source.index, "alias": alias}}, {"add": {"index": other, "alias": alias}}]
        source.client.indices.update_aliases(actions=moves)
        assert "not mapped" in search_news(who("guest"), {"query": {"match_all": {}}}, 403)["detail"]


def test_a_search_reaches_only_the_index_whose_mapping_was_examined(source: AttachedSource, tmp_path: Path) -> None:
    with serve_callers(source, tmp_path) as who, source.open_engine() as engine:
        attached = engine.attached_source(engine.open_reader("news").info)
        assert attached is not None and search_news(who("root"), COUNTS)
        guard = attached.fetch_guard()
        for index, count in ((guard.index, 1), ("another", 0)):
            access = SourceAccess(frozenset(), ["s1"], replace(guard, index=index))
            assert attached.search({"size": 1}, access)["hits"]["total"]["value"] == count


def test_the_largest_score_is_that_of_a_shown_hit(
    source: AttachedSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A document whose rights changed between the search and the check of its hits leaves no trace."""
    monkeypatch.setattr(SourceHit, "is_readable", lambda hit, caller: hit.hit["_id"] != "s1")
    source.put_document("s1", make_story(1) | {"body": "web " * 9})
    with serve_callers(source, tmp_path) as who:
        found = search_news(who("guest"), COUNTS | {"why": False})["hits"]
        assert "s1" not in {hit["_id"] for hit in found["hits"]}
        assert found["max_score"] == max(hit["_score"] for hit in found["hits"])


def test_readable_ids_are_sent_in_several_clauses(
    source: AttachedSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_builder, "MAX_IDS_PER_CLAUSE", 3)
    monkeypatch.setattr(reader, "ID_BATCH", 5)
    source.client.indices.put_settings(index=source.index, settings={"index.max_result_window": 25})
    with serve_callers(source, tmp_path) as who:
        assert count_hits(search_news(who("guest"), COUNTS)) == (8, 8)
        assert count_hits(search_news(who("staff"), COUNTS)) == (12, 12)


def test_a_caller_who_may_read_nothing_finds_nothing(source: AttachedSource, tmp_path: Path) -> None:
    for number in range(1, 13):
        source.put_document(f"s{number}", make_story(number) | {"groups": ["staff"]})
    attach_source(source)
    with serve_callers(source, tmp_path) as who:
        assert count_hits(search_news(who("guest"), COUNTS)) == (0, 0)
        assert count_hits(search_news(who("staff"), COUNTS)) == (12, 12)


def test_too_many_readable_documents_for_one_search_are_refused(source: AttachedSource, tmp_path: Path) -> None:
    with serve_callers(source, tmp_path, max_source_ids=8) as who:
        assert count_hits(search_news(who("guest"), COUNTS)) == (8, 8)
        refused = search_news(who("staff"), COUNTS, 413)
        assert refused["code"] == "too-large" and "max_source_ids" in refused["detail"]


@pytest.mark.parametrize(
    "body",
    [
        {"query": {"script_score": {"query": {"match_all": {}}, "script": {"source": "1"}}}},
        {"query": {"match": {"nowhere": "x"}}},
        {"query": {"match": {"bo*": "x"}}},
        {"query": {"multi_match": {"query": "x", "fields": ["body^x"]}}},
        {"query": {"terms": {"meta.desk": {"index": "other", "id": "1", "path": "x"}}}},
        {"query": {"term": {"meta.desk": {"value": ["x"]}}}},
        {"query": {"query_string": {"query": "groups:*"}}},
        {"size": 101},
        {"from": 9950, "size": 100},
        {"sort": [{"_script": {}}]},
        {"sort": ["nowhere"]},
        {"script_fields": {}},
        {"runtime_mappings": {}},
        {"aggs": {"x": {"terms": {"field": "meta.desk", "script": "1"}}}},
        {"aggs": {"x": {"terms": {"field": "body"}}}},
        {"aggs": {"x": {"date_histogram": {"field": "published"}}}},
        {"highlight": {"fields": {"body": {"type": "fvh"}}}},
        {"pit": {"id": "x"}},
        {"why": 1},
    ],
)
def test_unsupported_parts_of_a_body_are_refused(shared: AppClient, body: dict[str, Any]) -> None:
    reply = shared.post("/v1/news/_search", body)
    assert reply.status_code in (400, 403, 413), reply.text
    assert "\n" not in read_problem(reply.json)["detail"]


@pytest.fixture(scope="module")
def shared(elasticsearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppClient]:
    """A caller with limited groups, for tests that change nothing."""
    source = AttachedSource(elasticsearch_url)
    folder = tmp_path_factory.mktemp("shared")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("PHRASECOM_INDEX_PREFIX", source.prefix)
        attach_source(source)
    with serve_callers(source, folder) as who:
        yield who("staff")
    source.close()


def test_the_api_describes_the_fields_and_facets_of_the_source(shared: AppClient) -> None:
    description = shared.get("/v1/indexes/news").json
    names = {"title": "headline", "text": "body", "date": "published"}
    assert description["fields"] == names | {"url": None, "vector": None}
    assert description["facets"] == [{"field": "meta.desk", "name": "desk"}] and description["source"].startswith(
        "stories-"
    )
    assert "source" not in description["settings"]


@pytest.mark.parametrize(
    "body",
    [
        {"query": {"range": {"published": {"gte": "the day before"}}}},
        {"query": {"term": {"views": "many"}}},
        {"sort": ["body"]},
        {"sort": ["headline"]},
        {"aggs": {"x": {"terms": {"field": "body"}}}},
        {"aggs": {"x": {"date_histogram": {"field": "published", "fixed_interval": "a while"}}}},
        {"aggs": {"x": {"date_histogram": {"field": "published", "fixed_interval": "1ms"}}}},
        {"aggs": {"x": {"date_histogram": {"field": "meta.desk", "fixed_interval": "1d"}}}},
    ],
)
def test_what_elasticsearch_refuses_is_reported_in_our_words(shared: AppClient, body: dict[str, Any]) -> None:
    reply = shared.post("/v1/news/_search", body)
    assert (reply.status_code, read_problem(reply.json)["code"]) == (400, "bad-parameter")
    detail = read_problem(reply.json)["detail"]
    assert not any(word in detail for word in ("stories-", "side-", "_exception", "Error", "shard", "\n", "[", "Set "))
    assert "; " in detail, "the fix"


def test_an_error_of_elasticsearch_reaches_the_official_client(
    source: AttachedSource, running_server: RunningServer
) -> None:
    with (
        Elasticsearch(running_server.url + "/v1") as client,
        pytest.raises(BadRequestError) as refused,
    ):
        client.search(index="news", query={"range": {"published": {"gte": "the day before"}}})
    assert read_problem(refused.value.body)["code"] == "bad-parameter" and "\n" not in refused.value.message


def test_a_refresh_keeps_the_source_and_a_deleted_source_is_reported(source: AttachedSource, tmp_path: Path) -> None:
    with source.open_engine() as engine:
        refresh_index(engine, "news", processes=1)
    with serve_callers(source, tmp_path) as who:
        assert count_hits(search_news(who("root"), COUNTS)) == (12, 12)
        source.client.indices.delete(index=source.index)
        assert search_news(who("root"), COUNTS, 503)["code"] == "unavailable"
        assert who("root").get("/v1/indexes/news/documents/s1").status_code == 200


def test_with_other_ids_or_another_engine_the_attached_index_itself_is_searched(
    source: AttachedSource, tmp_path: Path
) -> None:
    own = {"query": {"match": {"text": "graph"}}, "size": 20, "why": False}
    folder = tmp_path / "engine"
    attach_source(source, engine=str(folder))
    app = make_app_client(folder)
    assert app.post("/v1/news/_search", own).json["hits"]["total"]["value"] == 12
    assert app.get("/v1/indexes/news").json["fields"]["text"] == "text"
    app.close()
    attach_source(source, "--map", "id=headline")
    with serve_callers(source, tmp_path) as who:
        assert search_news(who("root"), own)["hits"]["total"]["value"] == 12
