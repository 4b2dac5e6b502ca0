"""Cache, rights and the mirror, as callers with different rights see them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from indexer.documents import Document
from indexer.engines import open_engine
from indexer.errors import UnknownDocument, UnknownIndex, UnknownJob
from indexer.indexing.build import build_index
from tests.worker.jobs.conftest import computed, documents, tagged, until
from worker.access import Caller, eyes_of
from worker.explain.side import Side
from worker.jobs.config import WorkConfig
from worker.jobs.job import NewJob
from worker.jobs.payloads import Asked
from worker.service.container import Service
from worker.service.gateway import Desk
from worker.service.ingest import add, hand_in

ROOT = Caller("root")
STAFF = Caller("anna", frozenset({"staff"}))
GUEST = Caller("gus", frozenset({"guests"}))


@pytest.fixture(params=["valkey", "inline"])
def desk(request: pytest.FixtureRequest, config: WorkConfig, corpus: Path, tmp_path: Path) -> Iterator[Desk]:
    """Its jobs are run by hand; its index is its own."""
    shutil.copytree(corpus, tmp_path / "engine")
    config = replace(config, engine=str(tmp_path / "engine"))
    if request.param == "inline":
        config = replace(config, redis_url="")
    desk = Desk(Service(config))
    yield desk
    desk.close()


def pair(a: str, b: str, caller: Caller) -> Asked:
    return Asked("papers", Side.document(a), Side.document(b), groups=caller.groups)


def done(desk: Desk, asked: Asked, caller: Caller) -> str:
    ticket = desk.ask(asked, caller)
    desk.service.run_here(ticket.id)
    assert desk.wait(ticket, caller, 120).kept is not None
    desk.local.forget(ticket.id)
    return ticket.id


def test_a_document_one_may_not_read_does_not_exist(desk: Desk) -> None:
    with pytest.raises(UnknownDocument):
        desk.ask(pair("d1", "d9", GUEST), GUEST)
    assert desk.ask(pair("d1", "d9", STAFF), STAFF).new


def test_rights_are_part_of_the_key(desk: Desk) -> None:
    keys = {desk.key(pair("d1", "d2", caller)) for caller in (ROOT, STAFF, GUEST)}
    assert len(keys) == 3
    again = Caller("bert", frozenset({"staff"}))
    assert desk.key(pair("d1", "d2", again)) == desk.key(pair("d1", "d2", STAFF))


def test_an_answer_is_404_to_whoever_may_not_read_a_document_it_names(desk: Desk) -> None:
    id = done(desk, pair("d1", "d9", STAFF), STAFF)
    assert desk.look(id, STAFF).kept is not None
    assert desk.look(id, ROOT).kept is not None
    for _ in range(2):  # from the store, and from the process
        with pytest.raises(UnknownJob):
            desk.look(id, GUEST)


def test_an_open_job_is_seen_by_its_own_rights_only(desk: Desk) -> None:
    id = desk.key(pair("d1", "d2", STAFF))
    desk.service.store.submit(
        NewJob(id, "comparison", pair("d1", "d2", STAFF).to_json(), "anna", rights=eyes_of("papers", STAFF.groups))
    )
    assert desk.look(id, STAFF).job.state == "queued"
    with pytest.raises(UnknownJob):
        desk.look(id, GUEST)


def test_a_document_closed_later_closes_the_answers_that_name_it(desk: Desk) -> None:
    id = done(desk, pair("d1", "d2", GUEST), GUEST)
    assert desk.look(id, GUEST).kept is not None
    add(desk.service, "papers", [Document("d2", "Now secret", "The web graph.", acl=("staff",))])
    with pytest.raises(UnknownJob):
        desk.look(id, GUEST)


def test_a_known_question_costs_the_engine_nothing(desk: Desk) -> None:
    asked = pair("d1", "d2", ROOT)
    id = done(desk, asked, ROOT)
    before = desk.service.engine.requests
    for _ in range(5):
        assert desk.ask(asked, ROOT).id == id
        assert desk.look(id, ROOT).kept is not None
    assert desk.service.engine.requests == before


def test_a_write_changes_the_keys_of_its_document_and_no_other(desk: Desk) -> None:
    touched, other = desk.key(pair("d1", "d2", ROOT)), desk.key(pair("d3", "d4", ROOT))
    add(desk.service, "papers", [Document("d2", "Changed", "The web graph.")])
    assert desk.key(pair("d1", "d2", ROOT)) != touched
    assert desk.key(pair("d3", "d4", ROOT)) == other


def test_while_a_write_is_under_way_questions_read_the_engine(desk: Desk) -> None:
    before = desk.key(pair("d1", "d2", ROOT))
    desk.service.mirror.writing("papers", ["d2"])
    asked = desk.service.engine.requests
    assert desk.key(pair("d1", "d2", ROOT)) == before
    assert desk.key(pair("d1", "d2", ROOT)) == before
    assert desk.service.engine.requests == asked + 2


def test_a_new_epoch_changes_every_key(desk: Desk) -> None:
    before = desk.key(pair("d1", "d2", ROOT))
    desk.service.mirror.new_epoch("papers", "another")
    assert desk.key(pair("d1", "d2", ROOT)) != before


def test_a_new_epoch_built_by_another_program_is_noticed(desk: Desk) -> None:
    asked = pair("d1", "d2", ROOT)
    before = desk.key(asked)
    with open_engine(desk.service.config.engine) as other:
        build_index(documents()[:10], other, "papers", processes=1)
    until(lambda: desk.key(asked) != before)
    assert desk.key(asked) == desk.key(asked)
    with pytest.raises(UnknownDocument):
        desk.key(pair("d1", "d12", ROOT))


def test_a_worker_that_reads_a_new_epoch_tells_everybody(desk: Desk) -> None:
    asked = pair("d1", "d2", ROOT)
    before = desk.key(asked)
    desk.service.mirror.new_epoch("papers", "one that is over")
    done(desk, asked, ROOT)
    assert desk.key(asked) == before


def test_a_search_side_has_a_new_key_when_what_it_finds_changes(desk: Desk) -> None:
    asked = Asked("papers", Side.document("d1"), Side.from_json({"search": "web date:2011-03-02..2011-03-04"}))
    before = desk.key(asked)
    assert desk.key(asked) == before
    add(desk.service, "papers", [Document("new", "", "The web graph.", date="2011-03-03")])
    assert desk.key(asked) != before


def test_bytes_are_understood_once_until_the_index_changes(desk: Desk) -> None:
    body = b'{"some": "question"}'

    def recalled() -> bool:
        desk.remember(ROOT, body, "papers", "x")
        return desk.recall(ROOT, body) == "x"

    until(recalled)  # once the news are listened to
    assert desk.recall(STAFF, body) is None
    desk.service.mirror.wrote("papers", {})
    until(lambda: desk.recall(ROOT, body) is None)


def test_what_does_not_exist_is_told(desk: Desk) -> None:
    with pytest.raises(UnknownIndex):
        desk.key(Asked("nope", Side.document("d1"), Side.document("d2")))
    with pytest.raises(UnknownJob):
        desk.look("nope", ROOT)
    with pytest.raises(UnknownJob):
        desk.look("nope.1", ROOT)


@pytest.mark.parametrize("desk", ["inline"], indirect=True)
def test_an_error_that_may_pass_is_tried_again_inline_too(desk: Desk) -> None:
    asked = Asked("papers", Side.document("d1"), Side("query", words=tagged("fail=EngineUnavailable")))
    ticket = desk.ask(asked, ROOT)
    until(lambda: desk.look(ticket.id, ROOT).job.state == "failed")
    assert computed("fail=EngineUnavailable") == 3


@pytest.mark.parametrize("desk", ["inline"], indirect=True)
def test_documents_wait_for_a_rebuild_however_long_it_takes(desk: Desk) -> None:
    service, store = desk.service, desk.service.store
    service.engine._lock_timeout = 0.01  # type: ignore[attr-defined]
    with service.engine.build("papers"):
        new = hand_in(service, "papers", [Document("late", "", "The web graph.")], ROOT)
        store.submit(new)
        for _ in range(store.limits.max_tries + 1):
            service.run_here(new.id)
            job = store.get(new.id)
            assert job is not None and job.state == "queued" and job.failure is None
            until(lambda: bool(store.reap()))
    service.run_here(new.id)
    assert desk.look(new.id, ROOT).kept is not None
    assert "late" in service.library.fetch("papers", ["late"])
