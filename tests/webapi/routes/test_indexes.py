"""Indexes, documents in and out, suggestions, feedback."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from indexer.readers.registry import read_documents
from indexer.readers.rejects import Rejects
from tests.support.api_keys import make_app_client
from tests.support.damaged_files import get_epoch_folder
from tests.support.polling import wait_until
from tests.support.web_servers import StartServer
from tests.support.workers import StartWorker
from webapi.client import ApiError, Client
from worker.jobs.config import WorkConfig

ODD_IDS = ["a/b", "/leading", "a//b", "dots/../up", "ü ? # % &", "a" * 400, "日本"]


def test_indexes_are_listed_and_described(real: Client) -> None:
    (papers,) = [one for one in real.list_indexes() if one["name"] == "papers"]
    whole = real.get_index("papers")
    assert whole["fields"] == {name: name for name in ("title", "text", "date", "url")} | {"vector": None}
    assert whole["facets"] == [{"field": "source", "name": "source"}] and whole["source"] is None
    assert papers == {name: value for name, value in whole.items() if name not in ("fields", "facets")}
    assert papers["documents"] >= 12 and papers["phrases"] > 0 and papers["epoch"]
    with pytest.raises(ApiError, match="unknown-index"):
        real.get_index("nope")


def test_a_damaged_index_is_reported_beside_the_others(engine_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(engine_folder, tmp_path / "engine")
    shutil.copytree(folder / "papers", folder / "broken")
    (get_epoch_folder(folder, "broken") / "info.json").write_bytes(b"{")
    app = make_app_client(folder)
    listed = app.get("/v1/indexes")
    assert listed.status_code == 200 and listed.json is not None
    assert [one["name"] for one in listed.json["indexes"]] == ["papers"]
    (broken,) = listed.json["unreadable"]
    assert (broken["name"], broken["code"]) == ("broken", "corrupt-index") and str(tmp_path) not in listed.text
    app.close()


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


RULES: list[tuple[dict[str, object], str]] = [
    ({"id": "a\0b"}, "the id must not contain control characters or line breaks"),
    ({"id": "a\nb"}, "the id must not contain control characters or line breaks"),
    ({"id": "a\u2028b"}, "the id must not contain control characters or line breaks"),
    ({"id": "  "}, "the id must not be blank"),
    ({"id": "x", "date": "2024-02-31"}, "there is no date '2024-02-31'; write it as"),
    ({"id": "x", "date": "2024-02-01T25:00:00"}, "there is no date"),
    ({"id": "x", "text": "a\0b"}, "it contains NUL bytes; remove them"),
    ({"id": "x", "acl": ["g" * 513]}, "a group in acl is longer than 512 bytes"),
    ({"id": "x", "extra": {"deep": [1234567890123456789012345]}}, "extra contains a value that JSON cannot store"),
]
"""Documents that fit the schema and cannot be stored, and what is said about each."""


@pytest.mark.parametrize(("document", "message"), RULES, ids=lambda value: ascii(value)[:40])
def test_a_document_that_cannot_be_stored_is_refused_with_its_position(
    real: Client, document: dict[str, object], message: str
) -> None:
    body = {"documents": [{"id": "fine", "text": "The web graph."}, document]}
    reply = real.request("POST", "/v1/indexes/papers/documents", body)
    assert (reply.status, reply.json()["code"]) == (400, "invalid-request")
    (misfit,) = reply.json()["errors"]
    assert misfit["at"] == "/documents/1" and misfit["detail"].startswith(message)
    assert real.request("GET", "/v1/indexes/papers/documents/fine").status == 404, "none of them is added"


def test_a_malformed_date_is_refused_in_words(real: Client) -> None:
    body = {"documents": [{"id": "x", "date": "11.3.2011"}]}
    (misfit,) = real.request("POST", "/v1/indexes/papers/documents", body).json()["errors"]
    assert misfit == {
        "at": "/documents/0/date",
        "detail": "must be a date; write it as 2011-03-11 or 2011-03-11T09:00:00",
    }


@pytest.mark.parametrize("value", ["NaN", "1e999"])
def test_a_number_that_json_does_not_have_is_refused(real: Client, value: str) -> None:
    body = f'{{"documents": [{{"id": "x", "extra": {{"n": {value}}}}}]}}'.encode()
    reply = real.request("POST", "/v1/indexes/papers/documents", body)
    assert (reply.status, reply.json()["code"]) == (400, "invalid-request")


def test_a_document_may_be_larger_than_other_requests(real: Client) -> None:
    assert real.request("POST", "/v1/comparisons", b"x" * 3_000_000).status == 413
    real.close()
    text = "The web graph. " + "x" * 3_000_000
    assert real.add_documents("papers", [{"id": "large", "text": text}])["written"] == 1
    assert real.get_document("papers", "large")["text"] == text


def test_a_title_longer_than_answers_can_repeat_is_refused(real: Client) -> None:
    body = {"documents": [{"id": "x", "title": "t" * 9_800_000}]}
    reply = real.request("POST", "/v1/indexes/papers/documents", body)
    assert (reply.status, reply.json()["code"]) == (413, "too-large")
    assert reply.json()["detail"].startswith("/documents/0: the title has 9,800,000 bytes, more than 32,768;")


@pytest.mark.parametrize(("document", "message"), RULES, ids=lambda value: ascii(value)[:40])
def test_files_follow_the_same_rules(tmp_path: Path, document: dict[str, object], message: str) -> None:
    path = tmp_path / "a.jsonl"
    record = {"text": "The web graph."} | document
    path.write_text(json.dumps(record | record.pop("extra", {})))  # type: ignore[operator]
    rejects = Rejects()
    kept = list(read_documents([str(path)], rejects))
    if str(document["id"]).strip():
        assert not kept and rejects.count == 1
    else:
        assert [one.id for one in kept] == ["a-1"], "a record without an id is named after its line"


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
