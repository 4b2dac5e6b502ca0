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
from worker.access import Caller, make_access_key
from worker.explain.side import Side
from worker.jobs.config import WorkConfig
from worker.jobs.job import NewJob
from worker.jobs.payloads import ComparisonRequest
from worker.service.container import ServiceContainer
from worker.service.gateway import JobGateway
from worker.service.ingest import make_ingest_job, write_documents

ROOT = Caller("root")
STAFF = Caller("anna", frozenset({"staff"}))
GUEST = Caller("gus", frozenset({"guests"}))


@pytest.fixture(params=["valkey", "inline"])
def desk(request: pytest.FixtureRequest, config: WorkConfig, corpus: Path, tmp_path: Path) -> Iterator[JobGateway]:
    """Its jobs are run by hand; its index is its own."""
    shutil.copytree(corpus, tmp_path / "engine")
    config = replace(config, engine=str(tmp_path / "engine"))
    if request.param == "inline":
        config = replace(config, redis_url="")
    desk = JobGateway(ServiceContainer(config))
    yield desk
    desk.close()


def pair(a: str, b: str, caller: Caller) -> ComparisonRequest:
    return ComparisonRequest("papers", Side.from_id(a), Side.from_id(b), groups=caller.groups)


def done(desk: JobGateway, asked: ComparisonRequest, caller: Caller) -> str:
    ticket = desk.submit_comparison(asked, caller)
    desk.container.run_inline(ticket.id)
    assert desk.wait(ticket, caller, 120).answer is not None
    desk.answers.forget(ticket.id)
    return ticket.id


def test_a_document_one_may_not_read_does_not_exist(desk: JobGateway) -> None:
    with pytest.raises(UnknownDocument):
        desk.submit_comparison(pair("d1", "d9", GUEST), GUEST)
    assert desk.submit_comparison(pair("d1", "d9", STAFF), STAFF).created


def test_rights_are_part_of_the_key(desk: JobGateway) -> None:
    keys = {desk.compute_answer_id(pair("d1", "d2", caller)) for caller in (ROOT, STAFF, GUEST)}
    assert len(keys) == 3
    again = Caller("bert", frozenset({"staff"}))
    assert desk.compute_answer_id(pair("d1", "d2", again)) == desk.compute_answer_id(pair("d1", "d2", STAFF))


def test_an_answer_is_404_to_whoever_may_not_read_a_document_it_names(desk: JobGateway) -> None:
    id = done(desk, pair("d1", "d9", STAFF), STAFF)
    assert desk.get(id, STAFF).answer is not None
    assert desk.get(id, ROOT).answer is not None
    for _ in range(2):  # from the store, and from the process
        with pytest.raises(UnknownJob):
            desk.get(id, GUEST)


def test_an_open_job_is_seen_by_its_own_rights_only(desk: JobGateway) -> None:
    id = desk.compute_answer_id(pair("d1", "d2", STAFF))
    desk.container.store.submit(
        NewJob(
            id,
            "comparison",
            pair("d1", "d2", STAFF).to_json(),
            "anna",
            access_key=make_access_key("papers", STAFF.groups),
        )
    )
    assert desk.get(id, STAFF).job.state == "queued"
    with pytest.raises(UnknownJob):
        desk.get(id, GUEST)


def test_a_document_closed_later_closes_the_answers_that_name_it(desk: JobGateway) -> None:
    id = done(desk, pair("d1", "d2", GUEST), GUEST)
    assert desk.get(id, GUEST).answer is not None
    write_documents(desk.container, "papers", [Document("d2", "Now secret", "The web graph.", acl=("staff",))])
    with pytest.raises(UnknownJob):
        desk.get(id, GUEST)


def test_a_known_question_costs_the_engine_nothing(desk: JobGateway) -> None:
    asked = pair("d1", "d2", ROOT)
    id = done(desk, asked, ROOT)
    before = desk.container.engine.request_count
    for _ in range(5):
        assert desk.submit_comparison(asked, ROOT).id == id
        assert desk.get(id, ROOT).answer is not None
    assert desk.container.engine.request_count == before


def test_a_write_changes_the_keys_of_its_document_and_no_other(desk: JobGateway) -> None:
    touched, other = desk.compute_answer_id(pair("d1", "d2", ROOT)), desk.compute_answer_id(pair("d3", "d4", ROOT))
    write_documents(desk.container, "papers", [Document("d2", "Changed", "The web graph.")])
    assert desk.compute_answer_id(pair("d1", "d2", ROOT)) != touched
    assert desk.compute_answer_id(pair("d3", "d4", ROOT)) == other


def test_while_a_write_is_under_way_questions_read_the_engine(desk: JobGateway) -> None:
    before = desk.compute_answer_id(pair("d1", "d2", ROOT))
    versions = desk.container.versions
    versions.before_write("papers", versions.get_epoch("papers"), ["d2"])
    asked = desk.container.engine.request_count
    assert desk.compute_answer_id(pair("d1", "d2", ROOT)) == before
    assert desk.compute_answer_id(pair("d1", "d2", ROOT)) == before
    assert desk.container.engine.request_count == asked + 2


def test_a_new_epoch_changes_every_key(desk: JobGateway) -> None:
    before = desk.compute_answer_id(pair("d1", "d2", ROOT))
    desk.container.versions.set_epoch("papers", "another")
    assert desk.compute_answer_id(pair("d1", "d2", ROOT)) != before


def test_a_new_epoch_built_by_another_program_is_noticed(desk: JobGateway) -> None:
    asked = pair("d1", "d2", ROOT)
    before = desk.compute_answer_id(asked)
    with open_engine(desk.container.config.engine) as other:
        build_index(documents()[:10], other, "papers", processes=1)
    until(lambda: desk.compute_answer_id(asked) != before)
    assert desk.compute_answer_id(asked) == desk.compute_answer_id(asked)
    with pytest.raises(UnknownDocument):
        desk.compute_answer_id(pair("d1", "d12", ROOT))


def test_a_worker_that_reads_a_new_epoch_tells_everybody(desk: JobGateway) -> None:
    asked = pair("d1", "d2", ROOT)
    before = desk.compute_answer_id(asked)
    desk.container.versions.set_epoch("papers", "one that is over")
    done(desk, asked, ROOT)
    assert desk.compute_answer_id(asked) == before


def test_a_search_side_has_a_new_key_when_what_it_finds_changes(desk: JobGateway) -> None:
    asked = ComparisonRequest(
        "papers", Side.from_id("d1"), Side.from_json({"search": "web date:2011-03-02..2011-03-04"})
    )
    before = desk.compute_answer_id(asked)
    assert desk.compute_answer_id(asked) == before
    write_documents(desk.container, "papers", [Document("new", "", "The web graph.", date="2011-03-03")])
    assert desk.compute_answer_id(asked) != before


def test_bytes_are_understood_once_until_the_index_changes(desk: JobGateway) -> None:
    body = b'{"some": "question"}'

    def recalled() -> bool:
        desk.remember_id(ROOT, body, "papers", "x")
        return desk.recall_id(ROOT, body) == "x"

    until(recalled)  # once the news are listened to
    assert desk.recall_id(STAFF, body) is None
    versions = desk.container.versions
    versions.after_write("papers", versions.get_epoch("papers"), {})
    until(lambda: desk.recall_id(ROOT, body) is None)


def test_what_does_not_exist_is_told(desk: JobGateway) -> None:
    with pytest.raises(UnknownIndex):
        desk.compute_answer_id(ComparisonRequest("nope", Side.from_id("d1"), Side.from_id("d2")))
    with pytest.raises(UnknownJob):
        desk.get("nope", ROOT)
    with pytest.raises(UnknownJob):
        desk.get("nope.1", ROOT)


@pytest.mark.parametrize("desk", ["inline"], indirect=True)
def test_an_error_that_may_pass_is_tried_again_inline_too(desk: JobGateway) -> None:
    asked = ComparisonRequest("papers", Side.from_id("d1"), Side("query", words=tagged("fail=EngineUnavailable")))
    ticket = desk.submit_comparison(asked, ROOT)
    until(lambda: desk.get(ticket.id, ROOT).job.state == "failed")
    assert computed("fail=EngineUnavailable") == 3


@pytest.mark.parametrize("desk", ["inline"], indirect=True)
def test_documents_wait_for_a_rebuild_however_long_it_takes(desk: JobGateway) -> None:
    service, store = desk.container, desk.container.store
    service.engine._lock_timeout = 0.01  # type: ignore[attr-defined]
    with service.engine.start_build("papers"):
        new = make_ingest_job(service, "papers", [Document("late", "", "The web graph.")], ROOT)
        store.submit(new)
        for _ in range(store.limits.max_attempts + 1):
            service.run_inline(new.id)
            job = store.get(new.id)
            assert job is not None and job.state == "queued" and job.failure is None
            until(lambda: bool(store.reap()))
    service.run_inline(new.id)
    assert desk.get(new.id, ROOT).answer is not None
    assert "late" in service.catalog.fetch_documents("papers", ["late"])
