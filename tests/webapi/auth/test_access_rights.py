"""Callers see what their groups may read: at every address, from the cache too, and only while they may read it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from indexer.documents import Document
from indexer.engines import open_engine
from indexer.errors import StoreUnavailable
from indexer.indexing.build import build_index
from indexer.readers.jsonl import format_json_line
from tests.support.api_keys import AppClient, IssuedKeys, make_app_client
from tests.support.gateways import write_documents
from tests.support.paths import ROOT
from tests.support.polling import wait_until
from tests.support.web_servers import StartServer
from tests.support.workers import StartWorker
from webapi.client import Client
from webapi.context import EXTENSION
from worker.access import Caller, make_access_key, make_groups_key
from worker.jobs.config import WorkConfig
from worker.jobs.job import NewJob, StoredAnswer
from worker.jobs.payloads import PageRequest
from worker.json_bytes import dumps
from worker.service.gateway import JobGateway
from worker.service.job_handlers import HitPart

OPEN_TEXT = "The web graph is crawled. Link analysis ranks the pages of the web graph. A random walk stays on it. "
STAFF_TEXT = "Project zarquon pays for the web graph. The zarquon ledger is kept. WEB-GRAPH. WEB-GRAPH. WEB-GRAPH. "
BRIDGE_TEXT = "Link analysis needs the page rank of topic models. The page rank is a random walk. "


def make_documents() -> list[Document]:
    """Return o1-o8, open to all; s1-s8, for staff; x1, with page rank but no link analysis; b1-b4, with both."""
    documents = [Document(f"o{n}", f"Open paper {n}", OPEN_TEXT * 2, facets={"source": ["open"]}) for n in range(1, 9)]
    documents += [
        Document(
            f"s{n}",
            f"Zarquon report {n}",
            STAFF_TEXT * 3,
            facets={"source": ["zarquon"]},
            acl=("staff",),
            date="2011-03-11",
        )
        for n in range(1, 9)
    ]
    documents += [Document(f"b{n}", f"Bridge {n}", BRIDGE_TEXT * 3, acl=("guests", "staff")) for n in (1, 2, 3, 4)]
    documents += [Document("x1", "Ranks", "The page rank of topic models is known. The page rank is high. " * 3)]
    return documents


@pytest.fixture(scope="module")
def built_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("access") / "engine"
    with open_engine(str(folder)) as engine:
        build_index(make_documents(), engine, "papers", processes=1)
    return folder


@pytest.fixture
def folder(built_folder: Path, tmp_path: Path) -> Path:
    shutil.copytree(built_folder, tmp_path / "engine")
    return tmp_path / "engine"


@pytest.fixture
def keys(tmp_path: Path) -> IssuedKeys:
    keys = IssuedKeys(tmp_path / "keys.toml")
    everything = ("read", "compare", "ingest")
    for name, groups in {"root": ("*",), "staff": ("staff",), "guest": ("guests",), "public": ()}.items():
        keys.issue(name, everything, groups=groups)
    return keys


@pytest.fixture
def app(folder: Path, keys: IssuedKeys) -> Iterator[AppClient]:
    app = make_app_client(folder, keys)
    yield app
    app.close()


@pytest.fixture
def staff(app: AppClient, keys: IssuedKeys) -> AppClient:
    return app.with_key(keys.secrets["staff"])


@pytest.fixture
def guest(app: AppClient, keys: IssuedKeys) -> AppClient:
    return app.with_key(keys.secrets["guest"])


@pytest.fixture
def public(app: AppClient, keys: IssuedKeys) -> AppClient:
    return app.with_key(keys.secrets["public"])


def test_only_a_caller_who_may_read_everything_sees_the_acl_of_a_document(
    app: AppClient, keys: IssuedKeys, staff: AppClient
) -> None:
    path = "/v1/indexes/papers/documents/b1"
    whole, restricted = app.with_key(keys.secrets["root"]).get(path).json, staff.get(path).json
    assert whole is not None and restricted is not None
    assert whole["acl"] == ["guests", "staff"] and "acl" not in restricted


def test_a_hidden_document_is_like_one_that_is_not_there(staff: AppClient, public: AppClient) -> None:
    assert staff.get("/v1/indexes/papers/documents/s1").status_code == 200
    assert staff.compare("o1", "s1").status_code == 200
    for probe in (
        lambda id: public.get(f"/v1/indexes/papers/documents/{id}"),
        lambda id: public.compare("o1", id),
        lambda id: public.compare("o1", {"ids": ["o2", id]}),
        lambda id: public.post("/v1/explanations", {"index": "papers", "query": "web", "hits": ["o1", id]}),
        lambda id: public.post("/v1/explanations", {"index": "papers", "document": id, "hits": ["o1"]}),
        lambda id: public.post(
            "/v1/explanations", {"index": "papers", "query": "web", "hits": [id], "unknown": "skip"}
        ),
    ):
        hidden, missing = probe("s1"), probe("qq")
        assert hidden.status_code == missing.status_code == 404
        assert hidden.text.replace("s1", "qq") == missing.text


def test_searches_and_counts_leave_hidden_documents_out(staff: AppClient, public: AppClient) -> None:
    body = {"query": {"match": {"text": "web"}}, "size": 50, "aggs": {"source": {"terms": {"field": "source"}}}}
    seen = {who: who.post("/v1/papers/_search", body | {"why": False}).json for who in (staff, public)}
    assert seen[staff]["hits"]["total"]["value"] == 16 and seen[public]["hits"]["total"]["value"] == 8
    buckets = {who: [one["key"] for one in seen[who]["aggregations"]["source"]["buckets"]] for who in seen}
    assert sorted(buckets[staff]) == ["open", "zarquon"] and buckets[public] == ["open"]
    assert not public.post("/v1/papers/_search", {"query": {"match": {"text": "zarquon"}}}).json["hits"]["hits"]


def test_phrases_are_suggested_from_readable_documents_only(staff: AppClient, public: AppClient) -> None:
    def phrases(who: AppClient, typed: str) -> list[str]:
        return [one["phrase"] for one in who.get(f"/v1/indexes/papers/suggest?q={typed}").json["suggestions"]]

    assert any("zarquon" in phrase for phrase in phrases(staff, "zarq"))
    assert phrases(public, "zarq") == phrases(public, "zarquon") == phrases(public, "ledger") == []
    assert "web graph" in phrases(public, "we") and "web graph" in phrases(public, "web gra")


def test_a_spelling_of_hidden_documents_is_not_shown(root: AppClient, public: AppClient, app: AppClient) -> None:
    """Most of the corpus writes WEB-GRAPH, in documents for staff."""
    model = app.flask_app.extensions[EXTENSION].catalog.open_reader("papers").model
    assert model.display_forms[model.phrase_ids["web graph"]] == "WEB-GRAPH"
    replies = {who: who.get("/v1/indexes/papers/suggest?q=web").text for who in (root, public)}
    assert "WEB-GRAPH" in replies[root] and "WEB-GRAPH" not in replies[public] and "web graph" in replies[public]
    search = public.post("/v1/papers/_search", {"query": {"match": {"text": "web"}}}, {"Prefer": "wait=0"})
    for reply in (
        public.compare("o1", "o2", options={"candidates": True, "graph": True, "cap": 0}),
        public.compare("o1", {"query": "web graph"}),
        public.compare("o1", {"text": "A web graph is a graph."}),
        public.get("/v1/indexes/papers/documents/o1"),
        public.post("/v1/explanations", {"index": "papers", "query": "web graph", "hits": ["o1", "o2"]}),
        search,
    ):
        assert reply.status_code == 200 and "web graph" in reply.text
        assert "WEB-GRAPH" not in reply.text and "arquon" not in reply.text


def test_a_stored_answer_opens_only_for_callers_who_may_read_all_its_documents(
    staff: AppClient, guest: AppClient
) -> None:
    comparison = staff.compare("o1", "s1").json["id"]
    page = staff.post("/v1/explanations", {"index": "papers", "query": "web", "hits": ["o1", "s1"]}).json["id"]
    for path in (f"/v1/comparisons/{comparison}", f"/v1/explanations/{page}", f"/v1/comparisons/{page}.0"):
        assert staff.get(path).status_code == 200
        assert guest.get(path).status_code == guest.send("DELETE", path).status_code == 404
        assert guest.get(path, {"If-None-Match": "*"}).status_code == 404
    assert guest.get(f"/v1/jobs/{comparison}").status_code == 404
    feedback = {"phrases": [{"phrase": "web graph", "useful": True}]}
    assert guest.post(f"/v1/comparisons/{comparison}/feedback", feedback).status_code == 404
    assert staff.post(f"/v1/comparisons/{comparison}/feedback", feedback).status_code in (201, 400)


def test_an_answer_computed_for_more_groups_does_not_open_by_its_id(
    root: AppClient, staff: AppClient, guest: AppClient, public: AppClient
) -> None:
    """It names open documents only, but uses the spelling of the whole corpus."""
    everybody = {"everything": root, "staff": staff, "guests": guest, "nothing": public}
    opened = {}
    for name, caller in everybody.items():
        path = f"/v1/comparisons/{caller.compare('o1', 'o2').json['id']}"
        opened[name] = {other for other, one in everybody.items() if one.get(path).status_code == 200}
        assert "WEB-GRAPH" not in public.get(path).text
    assert opened == {
        "everything": {"everything"},
        "staff": {"everything", "staff"},
        "guests": {"everything", "guests"},
        "nothing": set(everybody),
    }


def test_an_answer_is_recomputed_when_a_document_in_it_becomes_unreadable(root: AppClient, guest: AppClient) -> None:
    """Neither side changes: a document that connects them does."""
    options = {"graph": True, "cap": 0}
    first = guest.compare("o1", "x1", options=options)
    assert '"b1"' in first.text and '"b2"' in first.text
    assert guest.compare("o1", "x1", options=options).json["id"] == first.json["id"]
    restrict(root, "b1")
    assert guest.get(f"/v1/comparisons/{first.json['id']}").status_code == 404
    second = guest.compare("o1", "x1", options=options)
    assert second.status_code == 200 and second.json["id"] != first.json["id"]
    assert '"b1"' not in second.text and '"b2"' in second.text
    assert guest.compare("o1", "x1", options=options).json["id"] == second.json["id"], "and cached as well"
    restrict(root, "b2")
    third = guest.compare("o1", "x1", options=options)
    assert '"b2"' not in third.text and '"b3"' in third.text
    opened = guest.get(f"/v1/comparisons/{second.json['id']}")
    assert opened.status_code == 404


def test_a_phrase_of_the_callers_own_text_is_shown_only_while_they_may_read_it_somewhere(
    app: AppClient, staff: AppClient
) -> None:
    sides = {"text": "The zarquon ledger is kept."}, {"text": "A web graph needs a zarquon ledger."}
    page = {"index": "papers", "query": "zarquon ledger", "hits": ["o1", "o2"]}

    def find_phrases_of_index(answer: Any) -> list[str]:
        candidates = answer["candidates"]
        return [one["phrase"] for side in candidates.values() for one in side if "zarquon" in one["phrase"]]

    options = {"candidates": True, "cap": 0}
    first, first_page = staff.compare(*sides, options=options), staff.post("/v1/explanations", page)
    assert find_phrases_of_index(first.json)
    closed = [replace(document, acl=("board",)) for document in make_documents() if document.id.startswith("s")]
    write_documents(app.flask_app.extensions[EXTENSION].gateway, *closed)
    assert staff.get(f"/v1/comparisons/{first.json['id']}").status_code == 404
    assert staff.get(f"/v1/explanations/{first_page.json['id']}").status_code == 404
    again, again_page = staff.compare(*sides, options=options), staff.post("/v1/explanations", page)
    assert again.status_code == again_page.status_code == 200
    assert not find_phrases_of_index(again.json) and '"phrase":"zarquon' not in again_page.text
    entries = [entry for name in ("common", "distinct_a", "distinct_b") for entry in again.json[name]]
    assert not [entry for entry in entries if "zarquon" in json.dumps([entry["phrase"], entry.get("also", ())])]
    assert again_page.json["id"] != first_page.json["id"]


@pytest.mark.parametrize("side", [{"text": "A web graph is a graph."}, {"query": "web graph"}])
def test_limited_callers_get_the_graph_of_a_text_and_of_a_query(public: AppClient, side: dict[str, str]) -> None:
    answer = public.compare("o1", side, options={"graph": True})
    assert answer.status_code == 200 and answer.json["graph"]["nodes"]
    assert public.get(f"/v1/comparisons/{answer.json['id']}").status_code == 200


def test_suggestions_count_readable_documents_only(root: AppClient, public: AppClient) -> None:
    def count(who: AppClient) -> dict[str, int]:
        suggestions = who.get("/v1/indexes/papers/suggest?q=web").json["suggestions"]
        return {one["phrase"]: one["documents"] for one in suggestions}

    assert count(root)["web graph"] == 16 and count(public)["web graph"] == 8


def test_a_page_is_recomputed_when_a_document_in_it_becomes_unreadable(
    app: AppClient, root: AppClient, guest: AppClient
) -> None:
    body = {"index": "papers", "document": "x1", "hits": ["o1", "o2"]}
    first = guest.post("/v1/explanations", body)
    gateway: JobGateway = app.flask_app.extensions[EXTENSION].gateway
    acls = {"o1": (), "o2": (), "x1": (), "b4": ("guests", "staff")}  # as if b4 connected two of them
    again = NewJob(
        first.json["id"], "explanation", "", "x", access_key=make_access_key("papers", frozenset({"guests"}))
    )
    gateway.container.store.put_answer(again, StoredAnswer(first.data, acls, "papers"))
    gateway.answers.forget(first.json["id"])
    assert guest.post("/v1/explanations", body).json["id"] == first.json["id"]
    restrict(root, "b4")
    assert guest.get(f"/v1/explanations/{first.json['id']}").status_code == 404
    second = guest.post("/v1/explanations", body)
    assert second.status_code == 200 and second.json["id"] != first.json["id"]
    assert guest.get(f"/v1/comparisons/{second.json['id']}.0").status_code == 200


@pytest.fixture
def root(app: AppClient, keys: IssuedKeys) -> AppClient:
    return app.with_key(keys.secrets["root"])


def restrict(root: AppClient, id: str) -> None:
    """Make a document readable for staff only."""
    old = next(document for document in make_documents() if document.id == id)
    body = {"id": id, "title": old.title, "text": old.text, "acl": ["staff"]}
    job = root.post("/v1/indexes/papers/documents", {"documents": [body]}).json["id"]
    wait_until(lambda: root.get(f"/v1/jobs/{job}").json["state"] == "done")


def test_finished_parts_of_a_running_page_are_checked_too(app: AppClient, guest: AppClient) -> None:
    """A part computed before one of its documents was restricted."""
    gateway: JobGateway = app.flask_app.extensions[EXTENSION].gateway
    caller = Caller("key:guest", frozenset({"guests"}))
    page_request = PageRequest("papers", ("o1", "b1"), "document", None, "o2", caller.groups)
    store = gateway.container.store
    store.submit(
        NewJob("popen", "explanation", page_request.to_json(), "x", access_key=make_access_key("papers", caller.groups))
    )
    claim = store.start("popen", "me")
    assert claim is not None
    for hit in page_request.hits:
        store.put_part(claim, hit, dumps(asdict(HitPart("papers", [hit, "o2"], {"common": [], "distinct": []}))))
    assert set(gateway.get_ready_reasons("popen", caller)) == {"o1", "b1"}
    write_documents(gateway, replace(next(d for d in make_documents() if d.id == "b1"), acl=("staff",)))
    assert set(gateway.get_ready_reasons("popen", caller)) == {"o1"}
    page = guest.get("/v1/explanations/popen").json
    assert [one["state"] for one in page["explanations"]] == ["done", "running"]
    assert guest.get("/v1/comparisons/popen.0").status_code == 200
    assert guest.get("/v1/comparisons/popen.1").status_code == 404
    store.finish(claim, StoredAnswer(b"{}", {}, "papers"))


def test_a_right_revoked_by_another_program_is_gone_within_five_seconds(
    start_server: StartServer,
    start_worker: StartWorker,
    work_config: WorkConfig,
    folder: Path,
    keys: IssuedKeys,
    tmp_path: Path,
) -> None:
    ours = replace(work_config, engine=str(folder), comparer="worker.comparer:Comparer")
    start_worker(changed=ours)
    served = [start_server(ours, keys_file=str(keys.path)) for _ in range(2)]
    clients = [Client(one.url, keys.secrets["guest"], 180) for one in served]
    answers = [client.compare("papers", "o1", "b1") for client in clients]
    for client in clients:  # cached in every process
        assert client.request("GET", f"/v1/comparisons/{answers[0]['id']}").status == 200
    changed = tmp_path / "closed.jsonl"
    changed.write_bytes(format_json_line(replace(next(d for d in make_documents() if d.id == "b1"), acl=("staff",))))
    command = [sys.executable, "-m", "indexer", "add", str(changed), "--index", "papers", "--engine", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=600)
    time.sleep(5)  # the promise itself
    question = {"index": "papers", "a": {"id": "o1"}, "b": {"id": "b1"}}
    for client in clients:
        assert client.request("GET", f"/v1/comparisons/{answers[0]['id']}").status == 404
        assert client.request("POST", "/v1/comparisons", question).status == 404
        assert client.request("GET", "/v1/indexes/papers/documents/b1").status == 404
        client.key = keys.secrets["staff"]
        assert client.compare("papers", "o1", "b1")["b"]["ids"] == ["b1"]
        client.close()


def test_without_the_store_restricted_callers_get_nothing(app: AppClient, guest: AppClient) -> None:
    """Without the store, access to cached answers cannot be checked."""
    id = guest.compare("o1", "b1").json["id"]
    gateway: JobGateway = app.flask_app.extensions[EXTENSION].gateway

    def raise_unavailable(names: object) -> list[bytes | None]:
        raise StoreUnavailable("away")

    gateway.container.key_values.get = raise_unavailable  # type: ignore[method-assign,assignment]
    assert guest.get(f"/v1/comparisons/{id}").status_code == 503
    assert guest.compare("o1", "b1").status_code == 503


def test_different_groups_never_share_a_key() -> None:
    groups = [None, frozenset(), frozenset({"*"}), frozenset({"a,b"}), frozenset({"a", "b"}), frozenset({"null"})]
    assert len({make_groups_key(one) for one in groups}) == len(groups)
