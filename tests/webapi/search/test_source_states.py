"""Explanations and comparisons of an attached index say how the source's documents differ from the attached ones."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from indexer.cli.main import run
from indexer.engines.attachment import Attachment
from indexer.engines.elasticsearch.attached_source import ElasticsearchSource
from indexer.errors import BadSetting, EngineUnavailable
from indexer.indexing.build import build_index
from indexer.indexing.update import refresh_index
from tests.support.api_keys import AppClient, make_app_client
from tests.support.attached_sources import (
    MAPPINGS,
    AttachedSource,
    attach_source,
    make_stories,
    make_story,
    serve_callers,
)
from tests.support.polling import wait_until

PAGE = {"index": "news", "query": "web graph"}
PAIR = {"index": "news", "a": {"id": "s1"}, "b": {"id": "s2"}}


def explain(who: AppClient, hits: list[str], **changes: Any) -> Any:
    reply = who.post("/v1/explanations", PAGE | {"hits": hits} | changes)
    assert reply.status_code == 200, reply.text
    return reply.json


def collect_states(answer: Any) -> dict[str, str]:
    assert all(entry["detail"] for entry in answer["sources"].values())
    return {id: entry["state"] for id, entry in answer["sources"].items()}


def change_source(source: AttachedSource) -> None:
    """Change s1, rewrite s2 and s3 without a change that is attached, delete s4 and add a document."""
    source.put_document("s1", make_story(1) | {"headline": "Written anew"})
    source.put_document("s2", make_story(2) | {"views": 5})
    source.put_document("s3", make_story(3))
    source.client.delete(index=source.index, id="s4", refresh=True)
    source.put_document("late", make_story(1) | {"headline": "A late one"})


def test_a_page_tells_which_documents_the_source_has_otherwise(source: AttachedSource, tmp_path: Path) -> None:
    hits = ["s1", "s2", "s3", "s4", "s5", "late", "nowhere"]
    with serve_callers(source, tmp_path) as who:
        assert explain(who("root"), hits[:5])["sources"] == {}
        change_source(source)
        page = explain(who("root"), hits, unknown="skip")
        assert collect_states(page) == {"s1": "changed", "s4": "deleted", "late": "not-indexed"}
        assert [entry["hit"] for entry in page["explanations"]] == ["s1", "s2", "s3", "s4", "s5"]
        followed = who("root").get(f"/v1/explanations/{page['id']}").json
        assert collect_states(followed) == {"s1": "changed", "s4": "deleted"}
        part = who("root").get(page["explanations"][3]["href"]["common"]).json
        assert collect_states(part) == {"s4": "deleted"}
        against = explain(who("root"), ["s5"], against="document", document="s1")
        assert collect_states(against) == {"s1": "changed"}


def test_a_page_that_is_not_done_tells_the_states_too(source: AttachedSource, tmp_path: Path) -> None:
    change_source(source)
    with serve_callers(source, tmp_path) as who:
        body = PAGE | {"hits": ["s1", "s5"]}
        reply = who("root").post("/v1/explanations", body, headers={"Prefer": "respond-async"})
        assert reply.status_code == 202 and collect_states(reply.json) == {"s1": "changed"}


def test_a_cached_comparison_stays_cached_and_its_etag_follows_the_source(
    source: AttachedSource, tmp_path: Path
) -> None:
    with serve_callers(source, tmp_path) as who:
        first = who("root").post("/v1/comparisons", PAIR)
        assert first.json["sources"] == {}
        source.put_document("s1", make_story(1) | {"headline": "Written anew"})
        second = who("root").post("/v1/comparisons", PAIR)
        assert second.headers["X-Cache"] == "local" and collect_states(second.json) == {"s1": "changed"}
        assert {**second.json, "sources": {}} == first.json
        path = second.headers["Content-Location"]
        old, new = first.headers["ETag"], second.headers["ETag"]
        assert old != new
        assert who("root").get(path, headers={"If-None-Match": new}).status_code == 304
        changed = who("root").get(path, headers={"If-None-Match": old})
        assert changed.status_code == 200 and changed.headers["ETag"] == new and changed.data == second.data
        source.put_document("s1", make_story(1))
        assert who("root").get(path, headers={"If-None-Match": old}).status_code == 304


def test_one_request_asks_for_a_page_and_a_rewritten_document_is_read_once(source: AttachedSource) -> None:
    with source.open_engine() as engine:
        reader = engine.open_reader("news")
        attached_source = engine.attached_source(reader.info)
        assert attached_source is not None
        attached = dict(reader.scan_versions())
        attached_source.find_states(attached, None)

        def count_requests() -> int:
            before = engine.request_count
            attached_source.find_states(attached, None)
            return engine.request_count - before

        assert count_requests() == 1
        source.put_documents(make_stories())
        assert [count_requests(), count_requests()] == [2, 1]


def test_an_index_of_its_own_is_not_asked_for(source: AttachedSource, tmp_path: Path) -> None:
    with source.open_engine() as engine, pytest.MonkeyPatch.context() as patch:
        patch.setattr("indexer.engines.attachment.Attachment.from_info", lambda info: None)
        refresh_index(engine, "news")
    with serve_callers(source, tmp_path) as who:
        assert "sources" not in explain(who("root"), ["s1"])
        assert "sources" not in who("root").post("/v1/comparisons", PAIR).json


def test_an_answer_comes_without_the_source_and_says_so(source: AttachedSource, tmp_path: Path) -> None:
    with serve_callers(source, tmp_path) as who:
        explain(who("root"), ["s1"])
        source.client.indices.delete(index=source.index)
        for page in (explain(who("root"), ["s1"]), explain(who("staff"), ["s1"])):
            assert page["explanations"][0]["state"] == "done"
            assert collect_states(page) == {"s1": "unknown"} and "source" in page["sources"]["s1"]["detail"]
        source.client.indices.create(index=source.index, mappings=MAPPINGS)


def test_a_source_that_does_not_answer_in_time_is_unknown(
    source: AttachedSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> Any:
        raise EngineUnavailable("Elasticsearch at http://secret:9200 does not answer")

    with serve_callers(source, tmp_path) as who:
        monkeypatch.setattr(ElasticsearchSource, "search", fail)
        reply = who("root").post("/v1/comparisons", PAIR)
        assert collect_states(reply.json) == {"s1": "unknown", "s2": "unknown"} and "secret" not in reply.text


def test_an_index_recreated_with_equal_sequence_numbers_is_noticed(source: AttachedSource, tmp_path: Path) -> None:
    source.client.indices.delete(index=source.index)
    source.client.indices.create(index=source.index, mappings=MAPPINGS)
    source.put_documents(make_stories() | {"s1": make_story(1) | {"headline": "Written anew"}})
    with serve_callers(source, tmp_path) as who:
        assert collect_states(explain(who("root"), ["s1", "s2"])) == {"s1": "changed"}


def test_documents_of_several_indices_and_routed_ones_are_found(source: AttachedSource, tmp_path: Path) -> None:
    other, alias = f"{source.index}-2", f"{source.index}-all"
    source.client.indices.create(index=other, mappings=MAPPINGS, settings={"number_of_shards": 3})
    for number in range(20, 26):
        story = make_story(1) | {"headline": f"Routed {number}"}
        source.client.index(index=other, id=f"r{number}", routing=f"x{number}", document=story, refresh=True)
    actions = [{"add": {"index": name, "alias": alias}} for name in (source.index, other)]
    source.client.indices.update_aliases(actions=actions)
    attach_source(source, index=alias)
    with serve_callers(source, tmp_path) as who:
        hits = ["s1", *(f"r{number}" for number in range(20, 26))]
        assert collect_states(explain(who("root"), hits)) == {}
        source.client.delete(index=other, id="r21", routing="x21", refresh=True)
        assert collect_states(explain(who("root"), hits)) == {"r21": "deleted"}
        # _search refuses such a name to callers with limited groups: their rights cannot be checked in it
        assert collect_states(explain(who("guest"), ["s1"])) == {"s1": "unknown"}


@pytest.mark.parametrize("denied", ["when attached", "afterwards"])
def test_a_key_that_may_not_read_settings_gets_states_by_content(
    source: AttachedSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, denied: str
) -> None:
    def make_denying(method: Callable[..., Any]) -> Callable[..., Any]:
        def call_unless_denied(*arguments: Any, **options: Any) -> Any:
            if options["index"] == source.index:
                raise BadSetting("Elasticsearch denies access (403)")
            return method(*arguments, **options)

        return call_unless_denied

    kind = type(source.client.indices)
    with monkeypatch.context() as patch:
        for name in ("get_settings", "stats"):
            patch.setattr(kind, name, make_denying(getattr(kind, name)))
        if denied == "when attached":
            attach_source(source)
            patch.undo()
            assert math.isnan(read_metrics(source)["phrasecom_source_writes"])
        change_source(source)
        with serve_callers(source, tmp_path) as who:
            states = collect_states(explain(who("root"), ["s1", "s2", "s3", "s4", "s5"]))
            assert states == {"s1": "changed", "s4": "deleted"}


def test_restricted_callers_learn_nothing_of_what_they_may_not_read(source: AttachedSource, tmp_path: Path) -> None:
    change_source(source)
    source.put_document("s3", make_story(3) | {"headline": "Only for staff, and changed"})
    source.put_document("s5", make_story(5) | {"groups": ["staff"]})
    hits = ["s1", "s3", "s5", "s7", "late"]
    with serve_callers(source, tmp_path) as who:
        seen = explain(who("guest"), hits, unknown="skip")
        assert [entry["hit"] for entry in seen["explanations"]] == ["s1", "s5", "s7"]
        # s5 was closed in the source: for a guest it is as if it were deleted
        assert collect_states(seen) == {"s1": "changed", "s5": "deleted"}
        staff = collect_states(explain(who("staff"), hits, unknown="skip"))
        assert staff == {"s1": "changed", "s3": "changed", "s5": "changed"}
        whole = collect_states(explain(who("root"), hits, unknown="skip"))
        assert whole == staff | {"late": "not-indexed"}


def test_what_was_attached_before_revisions_were_kept_is_unknown_until_attached_again(
    source: AttachedSource, tmp_path: Path
) -> None:
    forget_revisions(source)
    with serve_callers(source, tmp_path) as who:
        page = explain(who("root"), ["s1"])
        assert collect_states(page) == {"s1": "unknown"} and "attached again" in page["sources"]["s1"]["detail"]
    attach_source(source)
    with serve_callers(source, tmp_path) as who:
        assert collect_states(explain(who("root"), ["s1"])) == {}


def test_a_refresh_keeps_the_revisions(source: AttachedSource, tmp_path: Path) -> None:
    source.put_document("s1", make_story(1) | {"headline": "Written anew"})
    with source.open_engine() as engine:
        refresh_index(engine, "news")
        assert all(version.revision for _, version in engine.open_reader("news").scan_versions())
    with serve_callers(source, tmp_path) as who:
        assert collect_states(explain(who("root"), ["s1", "s2"])) == {"s1": "changed"}


def test_a_document_written_through_the_service_is_compared_by_its_content(
    source: AttachedSource, tmp_path: Path
) -> None:
    with serve_callers(source, tmp_path) as who:
        new = {"id": "s1", "title": "Our own", "text": "The web graph is crawled."}
        same = {"id": "s2", "title": make_story(2)["headline"], "text": make_story(2)["body"], "date": "2011-03-02"}
        job = who("root").post("/v1/indexes/news/documents", {"documents": [new, same]}).json["id"]
        wait_until(lambda: who("root").get(f"/v1/jobs/{job}").json["state"] == "done")
        assert collect_states(explain(who("root"), ["s1", "s2"])) == {"s1": "changed"}


def read_metrics(source: AttachedSource) -> dict[str, float]:
    """Return the metrics of the source by name."""
    with source.open_engine() as engine:
        app = make_app_client(engine)
        families = list(text_string_to_metric_families(app.get("/metrics").text))
        app.close()
    samples = [sample for family in families for sample in family.samples if sample.labels == {"index": "news"}]
    return {sample.name: sample.value for sample in samples if "source" in sample.name}


def run_doctor_on_source(source: AttachedSource, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """Return what the doctor finds about the source."""
    capsys.readouterr()
    run(["doctor", "--json", "--engine", source.url])
    findings = json.loads(capsys.readouterr().out)["findings"]
    return next(finding for finding in findings if finding["what"] == "source of news")


def test_metrics_and_doctor_tell_how_far_an_index_is_behind_its_source(
    source: AttachedSource, capsys: pytest.CaptureFixture[str]
) -> None:
    assert read_metrics(source) == {"phrasecom_source_documents": 12, "phrasecom_source_writes": 0}
    assert run_doctor_on_source(source, capsys)["state"] == "ok"
    change_source(source)
    source.put_document("later", make_story(2))
    assert read_metrics(source) == {"phrasecom_source_documents": 13, "phrasecom_source_writes": 6}
    finding = run_doctor_on_source(source, capsys)
    assert finding["state"] == "note" and "phrasecom attach" in finding["fix"]
    assert "2 documents not indexed, 1 changed, 1 deleted" in finding["detail"]
    attach_source(source)
    assert read_metrics(source) == {"phrasecom_source_documents": 13, "phrasecom_source_writes": 0}
    assert run_doctor_on_source(source, capsys)["state"] == "ok"


def test_metrics_and_doctor_tell_that_the_lag_is_unknown(
    source: AttachedSource, capsys: pytest.CaptureFixture[str]
) -> None:
    forget_revisions(source)
    metrics = read_metrics(source)
    assert metrics["phrasecom_source_documents"] == 12 and math.isnan(metrics["phrasecom_source_writes"])
    finding = run_doctor_on_source(source, capsys)
    assert finding["state"] == "note" and "unknown until it is attached again" in finding["detail"]


def test_every_write_to_a_recreated_source_counts(source: AttachedSource, capsys: pytest.CaptureFixture[str]) -> None:
    source.client.indices.delete(index=source.index)
    source.client.indices.create(index=source.index, mappings=MAPPINGS)
    source.put_documents(make_stories())
    assert read_metrics(source)["phrasecom_source_writes"] == 12
    assert run_doctor_on_source(source, capsys)["state"] == "ok"  # the content is the same


def forget_revisions(source: AttachedSource) -> None:
    """Build the index as a version without revisions did."""
    with source.open_engine() as engine:
        reader = engine.open_reader("news")
        now = Attachment.from_info(reader.info)
        assert now is not None and now.has_revisions and now.checkpoints
        documents = [replace(analysed.document, revision=None) for analysed in reader.scan()]
        build_index(documents, engine, "news", attachment=Attachment(now.index, now.cluster, now.fields))
