"""Indexes, documents in and out, suggestions, feedback."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.polling import wait_until
from tests.support.web_servers import StartServer
from tests.support.workers import StartWorker
from webapi.client import ApiError, Client
from worker.jobs.config import WorkConfig

ODD_IDS = ["a/b", "/leading", "a//b", "dots/../up", "ü ? # % &", "a" * 400, "日本"]


def test_indexes_are_listed_and_described(real: Client) -> None:
    (papers,) = [one for one in real.list_indexes() if one["name"] == "papers"]
    whole = real.get_index("papers")
    assert whole["fields"] == {name: name for name in ("title", "text", "date", "url")}
    assert whole["facets"] == [{"field": "source", "name": "source"}] and whole["source"] is None
    assert papers == {name: value for name, value in whole.items() if name not in ("fields", "facets")}
    assert papers["documents"] >= 12 and papers["phrases"] > 0 and papers["epoch"]
    with pytest.raises(ApiError, match="unknown-index"):
        real.get_index("nope")


def test_a_document_is_shown_with_its_salient_phrases(real: Client) -> None:
    found = real.get_document("papers", "d1")
    assert found["title"].startswith("Web graphs") and found["facets"] == {"source": ["BBC"]}
    assert {"phrase", "display", "salience", "count"} == set(found["salient"][0])
    with pytest.raises(ApiError, match="unknown-document"):
        real.get_document("papers", "nope")
    reply = real.request("GET", "/v1/indexes/papers/documents/d1")
    same = real.request("GET", "/v1/indexes/papers/documents/d1", headers={"If-None-Match": reply.headers["etag"]})
    assert same.status == 304


def test_added_documents_can_be_read_whatever_their_id(real: Client) -> None:
    added = real.add_documents("papers", [{"id": id, "title": f"On {id}", "text": "The web graph."} for id in ODD_IDS])
    assert (added["state"], added["written"]) == ("done", len(ODD_IDS))
    for id in ODD_IDS:
        assert real.get_document("papers", id)["id"] == id


def test_a_changed_document_gets_a_new_answer_and_others_keep_theirs(real: Client) -> None:
    def id_of(a: str, b: str) -> str:
        return str(real.compare("papers", a, b)["id"])

    text = {"id": "changing", "title": "A title", "text": "A random walk on the web graph."}
    real.add_documents("papers", [text])
    touched, other = id_of("changing", "d11"), id_of("d1", "d2")
    real.add_documents("papers", [text | {"title": "Another title"}])
    assert id_of("changing", "d11") != touched
    assert id_of("d1", "d2") == other


def test_documents_are_added_by_workers_in_pieces(
    start_server: StartServer, start_worker: StartWorker, work_config: WorkConfig, engine_folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(engine_folder, tmp_path / "engine")
    small = replace(work_config, engine=str(tmp_path / "engine"), chunk_size=2)
    start_worker(changed=small)
    with start_server(small).make_client() as client:
        body = {"documents": [{"id": f"new{n}", "text": "The web graph."} for n in range(7)]}
        reply = client.request("POST", "/v1/indexes/papers/documents", body)
        assert reply.status == 202 and reply.headers["location"].startswith("/v1/jobs/")
        wait_until(lambda: client.request("GET", reply.headers["location"]).status == 200)
        assert client.call("GET", reply.headers["location"])["written"] == 7
        assert client.get_document("papers", "new6")["text"] == "The web graph."
        assert client.get_index("papers")["documents"] == 19


@pytest.mark.parametrize(
    "body",
    [
        {"documents": []},
        {"documents": [{"title": "no id"}]},
        {"documents": [{"id": ""}]},
        {"documents": [{"id": "x", "surprise": 1}]},
        {"documents": [{"id": "x", "date": "yesterday"}]},
        {"documents": [{"id": "x", "facets": {"source": "BBC"}}]},
        {"documents": {"id": "x"}},
    ],
)
def test_documents_that_do_not_fit_are_refused_as_a_whole(real: Client, body: object) -> None:
    reply = real.request("POST", "/v1/indexes/papers/documents", body)
    assert (reply.status, reply.json()["code"]) == (400, "invalid-request")
    assert reply.json()["errors"][0]["at"].startswith("/documents")


def test_documents_for_an_unknown_index_are_refused_at_once(real: Client) -> None:
    with pytest.raises(ApiError, match="unknown-index"):
        real.add_documents("nope", [{"id": "x"}])


def test_suggestions_continue_what_is_typed(real: Client) -> None:
    displays = [one["phrase"] for one in real.suggest("papers", "web g")]
    assert "web graph" in displays
    assert "web graph" in [one["phrase"] for one in real.suggest("papers", "Graph")]
    assert real.suggest("papers", "zzz") == []
    for path in ("suggest", "suggest?q=", "suggest?q=x&size=0", "suggest?q=x&size=abc"):
        assert real.request("GET", f"/v1/indexes/papers/{path}").json()["code"] == "bad-parameter"


def test_feedback_is_taken_for_phrases_that_were_shown(real: Client) -> None:
    answer = real.compare("papers", "d1", "d2")
    phrase = answer["common"][0]["phrase"]
    assert real.send_feedback(answer["id"], [{"phrase": phrase, "useful": True, "list": "common"}])["recorded"] == 1
    with pytest.raises(ApiError, match="bad-parameter"):
        real.send_feedback(answer["id"], [{"phrase": "never shown", "useful": True}])
    with pytest.raises(ApiError, match="unknown-job"):
        real.send_feedback("nope", [{"phrase": phrase, "useful": True}])
