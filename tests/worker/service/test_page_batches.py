"""Several results pages as one job: each page has an answer of its own, and what befalls one page befalls no other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from indexer.errors import UnknownJob
from tests.support.fake_comparer import count_computations, release_computations, tag_query
from tests.support.gateways import GUEST, STAFF, UNRESTRICTED
from tests.support.polling import wait_until
from tests.support.worker_fixtures import StartWorker
from worker.access import Caller
from worker.jobs.config import WorkConfig
from worker.jobs.job import OPEN_STATES, NewJob
from worker.jobs.payloads import PageRequest, make_part_id
from worker.json_bytes import loads
from worker.service.container import ServiceContainer
from worker.service.gateway import JobGateway, Submission

Pages = Mapping[str, PageRequest]


def find_pages(gateway: JobGateway, *queries: str, caller: Caller = UNRESTRICTED) -> Pages:
    """Return a page of three hits for each query, by id."""
    pages = [PageRequest("papers", ("d1", "d2", "d3"), "query", tag_query(q), None, caller.groups) for q in queries]
    return {gateway.find_page_id(page, caller): page for page in pages}


def wait_for_pages(gateway: JobGateway, pages: Pages, caller: Caller = UNRESTRICTED) -> list[str | None]:
    """Return the queries that the answers of the pages are for; None for a page that failed."""
    views = [gateway.wait(Submission(id, created=False), caller, 60) for id in pages]
    return [None if view.answer is None else loads(view.answer.stored.body)["query"] for view in views]


@pytest.fixture
def submitted(gateway: JobGateway, monkeypatch: pytest.MonkeyPatch) -> list[NewJob]:
    """The jobs that are entered during the test."""
    entered: list[NewJob] = []
    submit = gateway.container.store.submit

    def record_job(new: NewJob) -> bool:
        is_entered = submit(new)
        if is_entered:
            entered.append(new)
        return is_entered

    monkeypatch.setattr(gateway.container.store, "submit", record_job)
    return entered


def run_jobs(gateway: JobGateway, submitted: list[NewJob]) -> None:
    """Run all jobs in this thread, and those that they submit, unless a thread of the gateway was faster."""
    for new in submitted:
        gateway.container.run_inline(new.id)


def test_several_pages_are_one_job_and_each_has_its_own_answer(gateway: JobGateway, submitted: list[NewJob]) -> None:
    pages = find_pages(gateway, "one", "two", "three")
    gateway.submit_pages(pages, UNRESTRICTED)
    assert [new.kind for new in submitted] == ["page-batch"]
    run_jobs(gateway, submitted)
    assert wait_for_pages(gateway, pages) == [tag_query("one"), tag_query("two"), tag_query("three")]
    for id, page in pages.items():
        gateway.answers.forget(id)
        assert gateway.submit_page(page, UNRESTRICTED) == Submission(id, created=False)


def test_equal_requests_make_one_job(gateway: JobGateway, submitted: list[NewJob]) -> None:
    pages = find_pages(gateway, "hold=1 one", "two")
    for caller in (UNRESTRICTED, replace(UNRESTRICTED, key_id="another")):
        gateway.submit_pages(pages, caller)
    assert [new.kind for new in submitted] == ["page-batch"]
    gateway.submit_pages(dict(reversed(pages.items())), UNRESTRICTED)
    assert len(submitted) == 1, "in another order, too"
    release_computations("hold=1 one", 3)
    run_jobs(gateway, submitted)
    assert None not in wait_for_pages(gateway, pages)
    assert [count_computations(query) for query in ("hold=1 one", "two")] == [3, 3], "one for each hit"


def test_a_page_that_is_answered_is_not_computed_again(gateway: JobGateway, submitted: list[NewJob]) -> None:
    for known in ("one", "two"):
        pages = find_pages(gateway, known)
        gateway.submit_pages(pages, UNRESTRICTED)
        run_jobs(gateway, submitted)
        wait_for_pages(gateway, pages)
    gateway.answers.forget(*find_pages(gateway, "two"))  # one is known to this process, two to the store
    pages = find_pages(gateway, "one", "two", "three", "four")
    gateway.submit_pages(pages, UNRESTRICTED)
    assert [new.kind for new in submitted] == ["explanation", "explanation", "page-batch"]
    run_jobs(gateway, submitted)
    assert None not in wait_for_pages(gateway, pages)
    assert [count_computations(query) for query in ("one", "two", "three", "four")] == [3, 3, 3, 3]


@pytest.mark.parametrize("order", ["fail=TooLarge", "crash=yes", "fail=EngineUnavailable"])
def test_a_page_that_fails_fails_alone(gateway: JobGateway, submitted: list[NewJob], order: str) -> None:
    pages = find_pages(gateway, "one", order, "three")
    gateway.submit_pages(pages, UNRESTRICTED)
    run_jobs(gateway, submitted)
    wait_until(lambda: [new.kind for new in submitted] == ["page-batch", "explanation"])
    run_jobs(gateway, submitted)
    first, failing, last = pages
    assert wait_for_pages(gateway, {id: pages[id] for id in (first, last)}) == [tag_query("one"), tag_query("three")]
    if order == "fail=EngineUnavailable":
        wait_until(lambda: count_computations(order) >= 2)  # it is tried again by itself
    else:
        job = gateway.wait(Submission(failing, created=False), UNRESTRICTED, 60).job
        assert job.failure is not None and job.failure.code == {"fail=TooLarge": "too-large"}.get(order, "internal")
        gateway.submit_pages(pages, UNRESTRICTED)
        assert len(submitted) == 2, "a permanent failure stands for a while"


def test_answers_that_were_dropped_are_computed_again(gateway: JobGateway, submitted: list[NewJob]) -> None:
    pages = find_pages(gateway, "one", "two")
    gateway.submit_pages(pages, UNRESTRICTED)
    run_jobs(gateway, submitted)
    wait_for_pages(gateway, pages)
    for id in pages:
        gateway.answers.forget(id)
        drop_answer(gateway, id)
        assert gateway.get(id, UNRESTRICTED).job.state == "expired"
    gateway.submit_pages(pages, UNRESTRICTED)
    run_jobs(gateway, submitted)
    assert None not in wait_for_pages(gateway, pages)
    assert [count_computations(query) for query in ("one", "two")] == [6, 6]


def drop_answer(gateway: JobGateway, id: str) -> None:
    """Remove a stored answer, as the store does for want of room."""
    container = gateway.container
    if container.is_inline:
        container.store._answers.pop(id)  # type: ignore[attr-defined]
    else:
        container.redis.delete(f"{container.config.key_prefix}answer:{id}")


def test_a_page_of_an_open_batch_can_be_followed_by_those_who_may_see_it(
    gateway: JobGateway, submitted: list[NewJob]
) -> None:
    pages = find_pages(gateway, "hold=1 one", "hold=1 two", caller=STAFF)
    gateway.submit_pages(pages, STAFF)
    for id, page in pages.items():
        view = gateway.get(id, STAFF)
        assert (view.job.id, view.job.kind) == (id, "explanation") and view.job.state in OPEN_STATES
        assert gateway.get_open_page(id) == page
        assert gateway.get(make_part_id(id, 0), STAFF).job.kind == "comparison"
        others = (GUEST, replace(STAFF, indexes=frozenset({"other"})))
        for other in others:
            with pytest.raises(UnknownJob):
                gateway.get(id, other)
    with pytest.raises(UnknownJob):  # it stands for several pages, whose ids are their own
        gateway.get(submitted[0].id, STAFF)
    release_computations("hold=1 one", 3)
    release_computations("hold=1 two", 3)


def test_a_killed_worker_loses_no_page(work_config: WorkConfig, start_worker: StartWorker) -> None:
    container = ServiceContainer(work_config)
    gateway = JobGateway(container)
    pages = find_pages(gateway, "one", "kill=1 two", "three")
    gateway.submit_pages(pages, UNRESTRICTED)
    start_worker()
    assert wait_for_pages(gateway, pages) == [tag_query("one"), tag_query("kill=1 two"), tag_query("three")]
    counted = [count_computations(query) for query in ("one", "kill=1 two", "three")]
    assert counted == [3, 4, 3], "what was ready is not computed again"
    gateway.close()
