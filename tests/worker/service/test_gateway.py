"""The gateway's caches and access rights, for callers with different groups."""

from __future__ import annotations

from dataclasses import replace

import pytest

from indexer.documents import Document
from indexer.engines import open_engine
from indexer.errors import UnknownDocument, UnknownIndex, UnknownJob
from indexer.indexing.build import build_index
from tests.support.corpora.web_papers import make_web_papers
from tests.support.fake_comparer import count_computations, tag_query
from tests.support.gateways import GUEST, STAFF, UNRESTRICTED, make_pair_request, wait_until_remembered, write_documents
from tests.support.polling import wait_until
from worker.access import Caller, make_access_key
from worker.explain.side import Side
from worker.jobs.job import NewJob
from worker.jobs.payloads import ComparisonRequest, PageRequest
from worker.service.gateway import JobGateway
from worker.service.ingest import make_ingest_job


def submit_and_run(gateway: JobGateway, request: ComparisonRequest, caller: Caller) -> str:
    submission = gateway.submit_comparison(request, caller)
    gateway.container.run_inline(submission.id)
    assert gateway.wait(submission, caller, 120).answer is not None
    gateway.answers.forget(submission.id)
    return submission.id


def test_an_unreadable_document_is_unknown(gateway: JobGateway) -> None:
    with pytest.raises(UnknownDocument):
        gateway.submit_comparison(make_pair_request("d1", "d9", GUEST), GUEST)
    assert gateway.submit_comparison(make_pair_request("d1", "d9", STAFF), STAFF).created


def test_answer_ids_depend_on_the_groups_of_the_caller(gateway: JobGateway) -> None:
    keys = {gateway.compute_answer_id(make_pair_request("d1", "d2", caller)) for caller in (UNRESTRICTED, STAFF, GUEST)}
    assert len(keys) == 3
    again = Caller("bert", frozenset({"staff"}))
    assert gateway.compute_answer_id(make_pair_request("d1", "d2", again)) == gateway.compute_answer_id(
        make_pair_request("d1", "d2", STAFF)
    )


def test_an_answer_that_names_an_unreadable_document_is_unknown(gateway: JobGateway) -> None:
    id = submit_and_run(gateway, make_pair_request("d1", "d9", STAFF), STAFF)
    assert gateway.get(id, STAFF).answer is not None
    assert gateway.get(id, UNRESTRICTED).answer is not None
    for _ in range(2):  # from the store, and from the process
        with pytest.raises(UnknownJob):
            gateway.get(id, GUEST)


def test_an_open_job_is_visible_only_with_its_access_key(gateway: JobGateway) -> None:
    id = gateway.compute_answer_id(make_pair_request("d1", "d2", STAFF))
    gateway.container.store.submit(
        NewJob(
            id,
            "comparison",
            make_pair_request("d1", "d2", STAFF).to_json(),
            "anna",
            access_key=make_access_key("papers", STAFF.groups),
        )
    )
    assert gateway.get(id, STAFF).job.state == "queued"
    with pytest.raises(UnknownJob):
        gateway.get(id, GUEST)


def test_a_document_restricted_later_hides_the_answers_that_name_it(gateway: JobGateway) -> None:
    id = submit_and_run(gateway, make_pair_request("d1", "d2", GUEST), GUEST)
    assert gateway.get(id, GUEST).answer is not None
    write_documents(gateway, Document("d2", "Now secret", "The web graph.", acl=("staff",)))
    with pytest.raises(UnknownJob):
        gateway.get(id, GUEST)


def test_a_cached_answer_costs_no_engine_request(gateway: JobGateway) -> None:
    request = make_pair_request("d1", "d2")
    id = submit_and_run(gateway, request, UNRESTRICTED)
    before = gateway.container.engine.request_count
    for _ in range(5):
        assert gateway.submit_comparison(request, UNRESTRICTED).id == id
        assert gateway.get(id, UNRESTRICTED).answer is not None
    assert gateway.container.engine.request_count == before


def test_an_answer_in_the_memory_of_this_process_is_not_submitted_again(
    gateway: JobGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = PageRequest("papers", ("d1", "d2"), "query", tag_query("web graphs"))
    submission = gateway.submit_page(request, UNRESTRICTED)
    gateway.container.run_inline(submission.id)
    assert gateway.wait(submission, UNRESTRICTED, 120).answer is not None
    monkeypatch.delattr(type(gateway.container.store), "submit")
    monkeypatch.delattr(type(gateway.container.store), "get")
    again = gateway.submit_page(request, UNRESTRICTED)
    assert (again.id, again.created) == (submission.id, False)
    assert gateway.wait(again, UNRESTRICTED, 0).cache_status == "local"


def test_documents_that_a_search_has_read_are_not_read_again_except_for_rights_and_during_a_write(
    gateway: JobGateway,
) -> None:
    versions, engine = gateway.container.versions, gateway.container.engine
    epoch, ids = versions.get_epoch("papers"), ["d1", "d2"]
    found = list(gateway.catalog.fetch_documents("papers", ids).values())
    outdated = [replace(document, version="outdated") for document in found]
    before = engine.request_count
    current = versions.get_readable_versions("papers", epoch, ids, read_now=found)
    assert current == {document.document.id: document.version for document in found}
    assert versions.get_readable_versions("papers", epoch, ids, read_now=outdated) == current, "known already"
    assert engine.request_count == before
    assert versions.get_readable_versions("papers", epoch, ids, STAFF.groups, outdated) == current
    assert engine.request_count == before + 1
    versions.before_write("papers", epoch, ids)
    assert versions.get_readable_versions("papers", epoch, ids, read_now=outdated) == current
    assert engine.request_count == before + 2


def test_a_write_changes_only_the_answer_ids_of_its_document(gateway: JobGateway) -> None:
    touched = gateway.compute_answer_id(make_pair_request("d1", "d2"))
    other = gateway.compute_answer_id(make_pair_request("d3", "d4"))
    write_documents(gateway, Document("d2", "Changed", "The web graph."))
    assert gateway.compute_answer_id(make_pair_request("d1", "d2")) != touched
    assert gateway.compute_answer_id(make_pair_request("d3", "d4")) == other


def test_versions_are_read_from_the_engine_during_a_write(gateway: JobGateway) -> None:
    before = gateway.compute_answer_id(make_pair_request("d1", "d2"))
    versions = gateway.container.versions
    versions.before_write("papers", versions.get_epoch("papers"), ["d2"])
    before_count = gateway.container.engine.request_count
    assert gateway.compute_answer_id(make_pair_request("d1", "d2")) == before
    assert gateway.compute_answer_id(make_pair_request("d1", "d2")) == before
    assert gateway.container.engine.request_count == before_count + 2


def test_a_new_epoch_changes_every_answer_id(gateway: JobGateway) -> None:
    before = gateway.compute_answer_id(make_pair_request("d1", "d2"))
    gateway.container.versions.set_epoch("papers", "another")
    assert gateway.compute_answer_id(make_pair_request("d1", "d2")) != before


def test_a_new_epoch_built_by_another_program_is_noticed(gateway: JobGateway) -> None:
    request = make_pair_request("d1", "d2")
    before = gateway.compute_answer_id(request)
    with open_engine(gateway.container.config.engine) as other:
        build_index(make_web_papers()[:10], other, "papers", processes=1)
    wait_until(lambda: gateway.compute_answer_id(request) != before)
    assert gateway.compute_answer_id(request) == gateway.compute_answer_id(request)
    with pytest.raises(UnknownDocument):
        gateway.compute_answer_id(make_pair_request("d1", "d12"))


def test_a_worker_that_reads_a_new_epoch_updates_the_version_cache(gateway: JobGateway) -> None:
    request = make_pair_request("d1", "d2")
    before = gateway.compute_answer_id(request)
    gateway.container.versions.set_epoch("papers", "one that is over")
    submit_and_run(gateway, request, UNRESTRICTED)
    assert gateway.compute_answer_id(request) == before


def test_a_search_side_has_a_new_answer_id_when_its_results_change(gateway: JobGateway) -> None:
    request = ComparisonRequest(
        "papers", Side.from_id("d1"), Side.from_json({"search": "web date:2011-03-02..2011-03-04"})
    )
    before = gateway.compute_answer_id(request)
    assert gateway.compute_answer_id(request) == before
    write_documents(gateway, Document("new", "", "The web graph.", date="2011-03-03"))
    assert gateway.compute_answer_id(request) != before


def test_the_id_of_a_request_body_is_remembered_until_the_index_changes(gateway: JobGateway) -> None:
    body = b'{"some": "question"}'
    wait_until_remembered(gateway, body)
    assert gateway.recall_job_id(STAFF, body) is None
    versions = gateway.container.versions
    versions.after_write("papers", versions.get_epoch("papers"), {}, 1, b"")
    wait_until(lambda: gateway.recall_job_id(UNRESTRICTED, body) is None)


def test_unknown_indexes_and_jobs_are_refused(gateway: JobGateway) -> None:
    with pytest.raises(UnknownIndex):
        gateway.compute_answer_id(ComparisonRequest("nope", Side.from_id("d1"), Side.from_id("d2")))
    with pytest.raises(UnknownJob):
        gateway.get("nope", UNRESTRICTED)
    with pytest.raises(UnknownJob):
        gateway.get("nope.1", UNRESTRICTED)


@pytest.mark.parametrize("gateway", ["inline"], indirect=True)
def test_a_temporary_error_is_retried_inline_too(gateway: JobGateway) -> None:
    request = ComparisonRequest("papers", Side.from_id("d1"), Side("query", words=tag_query("fail=EngineUnavailable")))
    submission = gateway.submit_comparison(request, UNRESTRICTED)
    wait_until(lambda: gateway.get(submission.id, UNRESTRICTED).job.state == "failed")
    assert count_computations("fail=EngineUnavailable") == 3


@pytest.mark.parametrize("gateway", ["inline"], indirect=True)
def test_documents_wait_for_a_rebuild_however_long_it_takes(gateway: JobGateway) -> None:
    container, store = gateway.container, gateway.container.store
    container.engine._lock_timeout = 0.01  # type: ignore[attr-defined]
    with container.engine.start_build("papers"):
        ingest = make_ingest_job(container, "papers", [Document("late", "", "The web graph.")], UNRESTRICTED)
        store.submit(ingest)
        for _ in range(store.limits.max_attempts + 1):
            container.run_inline(ingest.id)
            job = store.get(ingest.id)
            assert job is not None and job.state == "queued" and job.failure is None
            wait_until(lambda: bool(store.reap_lost_jobs()))
    container.run_inline(ingest.id)
    assert gateway.get(ingest.id, UNRESTRICTED).answer is not None
    assert "late" in container.catalog.fetch_documents("papers", ["late"])
