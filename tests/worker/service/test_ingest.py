"""Documents submitted over HTTP: the later submission of a document wins, however late the earlier one is written."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from indexer.documents import Document
from indexer.engines.write_order import GENERATION_SIZE
from indexer.indexing.notifications import DocumentVersion
from indexer.indexing.update import add_documents, delete_documents
from tests.support.gateways import UNRESTRICTED
from worker.jobs.job import Claim
from worker.jobs.lease_renewal import JobStopped, Lease
from worker.jobs.runner import JobContext
from worker.service.gateway import JobGateway
from worker.service.ingest import make_ingest_job, run_ingest_chunk


def submit(gateway: JobGateway, *documents: Document) -> str:
    """Enter the job of a submission without running it; return its id."""
    job = make_ingest_job(gateway.container, "papers", documents, UNRESTRICTED)
    gateway.container.store.submit(job)
    return job.id


def get_title(gateway: JobGateway, id: str) -> str | None:
    document = gateway.container.engine.open_reader("papers").fetch([id])[0]
    return None if document is None else document.document.title


def start(gateway: JobGateway, id: str) -> Claim:
    claim = gateway.container.store.start(id, "a worker")
    assert claim is not None
    return claim


def give_to_another_worker(gateway: JobGateway, claim: Claim) -> None:
    """Queue a running job again, as the reaper does when the lease has run out."""
    assert gateway.container.store.requeue(claim, 0, claim.next_chunk)


def test_a_submission_that_is_written_late_does_not_replace_a_later_one(gateway: JobGateway) -> None:
    first = submit(gateway, Document("x", "first", "The web graph."), Document("y", "first", "The web graph."))
    second = submit(gateway, Document("x", "second", "The web graph.", acl=("staff",)))
    for job in (second, first):
        gateway.container.run_inline(job)
        assert gateway.get(job, UNRESTRICTED).job.state == "done"
    assert (get_title(gateway, "x"), get_title(gateway, "y")) == ("second", "first")
    versions = gateway.container.versions
    assert versions.get_versions("papers", versions.get_epoch("papers"), ["x"])["x"].acl == ("staff",)


def test_of_equal_ids_in_one_submission_the_last_counts(gateway: JobGateway) -> None:
    gateway.container.run_inline(
        submit(gateway, *(Document("x", title, "The web graph.") for title in ("first", "last")))
    )
    assert get_title(gateway, "x") == "last"


@pytest.mark.parametrize(
    "write",
    [
        lambda gateway: add_documents(
            [Document("x", "of a command", "The web graph.")], gateway.container.engine, "papers"
        ),
        lambda gateway: delete_documents(gateway.container.engine, "papers", ["x"]),
    ],
    ids=["add", "delete"],
)
def test_a_command_is_newer_than_what_was_submitted_before_and_older_than_what_comes_after(
    gateway: JobGateway, write: Callable[[JobGateway], int]
) -> None:
    before = submit(gateway, Document("x", "before", "The web graph."))
    write(gateway)
    written = get_title(gateway, "x")
    gateway.container.run_inline(before)
    assert get_title(gateway, "x") == written != "before"
    gateway.container.run_inline(submit(gateway, Document("x", "after", "The web graph.")))
    assert get_title(gateway, "x") == "after"


def test_a_submission_after_the_loss_of_the_job_store_is_newer_than_those_before(gateway: JobGateway) -> None:
    lost = start(gateway, submit(gateway, Document("x", "lost", "The web graph.")))
    key_values = gateway.container.key_values
    if gateway.container.is_inline:
        key_values._numbers.clear()  # type: ignore[attr-defined]
    else:
        key_values.delete(["sequence:papers"])
    gateway.container.run_inline(submit(gateway, Document("x", "after", "The web graph.")))
    lease = Lease(gateway.container.store, lost)
    run_ingest_chunk(gateway.container, JobContext(gateway.container.store, lost, lease))
    assert get_title(gateway, "x") == "after"


def test_a_worker_that_lost_its_job_writes_no_documents(gateway: JobGateway) -> None:
    id = submit(gateway, Document("x", "of a lost worker", "The web graph."))
    claim = start(gateway, id)
    give_to_another_worker(gateway, claim)
    lease = Lease(gateway.container.store, claim)  # not entered: nobody renews it while the process is suspended
    with pytest.raises(JobStopped):
        run_ingest_chunk(gateway.container, JobContext(gateway.container.store, claim, lease))
    assert get_title(gateway, "x") is None
    gateway.container.run_inline(id)
    assert get_title(gateway, "x") == "of a lost worker"


def test_a_worker_suspended_after_its_last_check_does_not_undo_a_later_submission(gateway: JobGateway) -> None:
    id = submit(gateway, Document("x", "first", "The web graph."))
    claim = start(gateway, id)
    store = gateway.container.store

    class SuspendedContext(JobContext):
        def check_claim(self) -> None:
            super().check_claim()
            give_to_another_worker(gateway, claim)

    with pytest.raises(JobStopped):  # when it reports its progress
        run_ingest_chunk(gateway.container, SuspendedContext(store, claim, Lease(store, claim)))
    assert get_title(gateway, "x") == "first"
    later = submit(gateway, Document("x", "second", "The web graph."))
    for job in (later, id):
        gateway.container.run_inline(job)
    assert get_title(gateway, "x") == "second"


def test_the_version_of_a_newer_write_stays_in_the_cache(gateway: JobGateway) -> None:
    versions = gateway.container.versions
    epoch = versions.get_epoch("papers")
    newer = {"x": DocumentVersion("new", ("staff",)), "gone": None}
    versions.after_write("papers", epoch, newer, GENERATION_SIZE + 2, b"second")
    stale = dict.fromkeys(("x", "gone"), DocumentVersion("old"))
    versions.after_write("papers", epoch, stale, GENERATION_SIZE + 1, b"first")
    for fresh in (False, True):
        found = versions.get_versions("papers", epoch, ["x", "gone"], fresh=fresh)
        assert found == {"x": DocumentVersion("new", ("staff",))}


def test_an_older_write_does_not_settle_what_a_newer_one_is_writing(gateway: JobGateway) -> None:
    """The newer writer has written the engine and dies before it tells: requests must read the engine."""
    versions = gateway.container.versions
    epoch = versions.get_epoch("papers")
    old, new = (versions.before_write("papers", epoch, ["d1"]) for _ in range(2))
    versions.after_write("papers", epoch, {"d1": DocumentVersion("old")}, GENERATION_SIZE + 1, old)
    for fresh in (False, True):
        assert versions.get_versions("papers", epoch, ["d1"], fresh=fresh)["d1"].version != "old"
    versions.after_write("papers", epoch, {"d1": DocumentVersion("new")}, GENERATION_SIZE + 2, new)
    assert versions.get_versions("papers", epoch, ["d1"]) == {"d1": DocumentVersion("new")}
