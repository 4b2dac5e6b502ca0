"""Web servers and workers of two versions beside each other, as while a service is upgraded."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from worker.access import Caller
from worker.explain.side import Side
from worker.explain.spec import ALGORITHM_VERSION
from worker.jobs.config import WorkConfig
from worker.jobs.job import Job, JobKind, NewJob
from worker.jobs.payloads import ComparisonRequest, PageRequest
from worker.jobs.runner import _MAX_VERSION_ATTEMPTS, run_job
from worker.jobs.store import JobStore
from worker.service import job_handlers
from worker.service.container import ServiceContainer
from worker.service.gateway import JobGateway

ASKED: dict[JobKind, str] = {
    "comparison": ComparisonRequest("papers", Side.from_id("d1"), Side.from_id("d2")).to_json(),
    "explanation": PageRequest("papers", ("d1", "d2"), "page").to_json(),
}


@pytest.fixture
def inline(config: WorkConfig) -> Iterator[ServiceContainer]:
    service = ServiceContainer(WorkConfig(engine=config.engine))
    yield service
    service.close()


def entered(store: JobStore, kind: JobKind, version: int) -> None:
    """A job as a web server of that version hands it in."""
    question = json.loads(ASKED[kind])
    assert question["algorithm"] == ALGORITHM_VERSION, "a question says of which version it is asked"
    store.submit(NewJob("job", kind, json.dumps(question | {"algorithm": str(version)}), "me"))


def after_a_run(service: ServiceContainer) -> Job:
    run_job(service.store, "job", job_handlers.make_job_handlers(service))
    found = service.store.get("job")
    assert found is not None
    return found


@pytest.mark.parametrize("kind", ASKED)
def test_what_is_asked_of_a_newer_method_is_left_to_another_worker(inline: ServiceContainer, kind: JobKind) -> None:
    entered(inline.store, kind, int(ALGORITHM_VERSION) + 1)
    job = after_a_run(inline)
    assert (job.state, job.answer, inline.store.get_parts("job")) == ("queued", None, {})


def test_a_question_no_worker_can_answer_is_told_in_the_end(inline: ServiceContainer) -> None:
    entered(inline.store, "comparison", int(ALGORITHM_VERSION) + 1)
    for _ in range(_MAX_VERSION_ATTEMPTS - 1):
        assert after_a_run(inline).state == "queued"
    job = after_a_run(inline)
    assert job.state == "failed" and job.failure is not None
    assert (job.failure.code, job.failure.retryable) == ("unavailable", True)
    assert "upgrade the workers" in job.failure.detail


@pytest.mark.parametrize("version", [int(ALGORITHM_VERSION), int(ALGORITHM_VERSION) - 1])
@pytest.mark.parametrize("kind", ASKED)
def test_what_an_older_web_server_asks_is_answered(inline: ServiceContainer, kind: JobKind, version: int) -> None:
    entered(inline.store, kind, version)
    assert after_a_run(inline).state == "done"


def test_a_web_server_hands_in_its_version(inline: ServiceContainer) -> None:
    desk = JobGateway(inline)
    asked = ComparisonRequest("papers", Side.from_id("d1"), Side.from_id("d2"))
    new = desk.compute_answer_id(asked)
    inline.store.submit(NewJob(new, "comparison", asked.to_json(), Caller("me").key_id))
    question = inline.store.get_payload(new)
    assert question is not None and json.loads(question)["algorithm"] == ALGORITHM_VERSION
