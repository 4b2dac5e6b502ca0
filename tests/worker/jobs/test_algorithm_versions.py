"""Web servers and workers of different versions at the same time, as during an upgrade of a service."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from worker.access import Caller
from worker.explain.side import Side
from worker.explain.spec import ALGORITHM_VERSION
from worker.jobs.config import WorkConfig
from worker.jobs.job import Job, JobKind, NewJob
from worker.jobs.payloads import ComparisonRequest, PageBatch, PageRequest
from worker.jobs.runner import MAX_VERSION_ATTEMPTS, run_job_chunk
from worker.jobs.store import JobStore
from worker.service import job_handlers
from worker.service.container import ServiceContainer
from worker.service.gateway import JobGateway

PAYLOADS: dict[JobKind, str] = {
    "comparison": ComparisonRequest("papers", Side.from_id("d1"), Side.from_id("d2")).to_json(),
    "explanation": PageRequest("papers", ("d1", "d2"), "page").to_json(),
    "page-batch": PageBatch({"p1": PageRequest("papers", ("d1", "d2"), "page")}, "me").to_json(),
}


@pytest.fixture
def inline_container(work_config: WorkConfig) -> Iterator[ServiceContainer]:
    container = ServiceContainer(WorkConfig(engine=work_config.engine))
    yield container
    container.close()


def submit_payload(store: JobStore, kind: JobKind, version: int) -> None:
    """Submit a job as a web server of that version does."""
    payload = json.loads(PAYLOADS[kind])
    assert payload["algorithm"] == ALGORITHM_VERSION, "a payload names its version"
    store.submit(NewJob("job", kind, json.dumps(payload | {"algorithm": str(version)}), "me"))


def run_submitted_job(container: ServiceContainer) -> Job:
    run_job_chunk(container.store, "job", job_handlers.make_job_handlers(container))
    job = container.store.get("job")
    assert job is not None
    return job


@pytest.mark.parametrize("kind", PAYLOADS)
def test_a_job_for_a_newer_algorithm_is_left_to_another_worker(
    inline_container: ServiceContainer, kind: JobKind
) -> None:
    submit_payload(inline_container.store, kind, int(ALGORITHM_VERSION) + 1)
    job = run_submitted_job(inline_container)
    assert (job.state, job.answer, inline_container.store.get_parts("job")) == ("queued", None, {})


def test_a_job_for_which_no_worker_is_new_enough_fails_in_the_end(inline_container: ServiceContainer) -> None:
    submit_payload(inline_container.store, "comparison", int(ALGORITHM_VERSION) + 1)
    for _ in range(MAX_VERSION_ATTEMPTS - 1):
        assert run_submitted_job(inline_container).state == "queued"
    job = run_submitted_job(inline_container)
    assert job.state == "failed" and job.failure is not None
    assert (job.failure.code, job.failure.retryable) == ("unavailable", True)
    assert "upgrade the workers" in job.failure.detail


@pytest.mark.parametrize("version", [int(ALGORITHM_VERSION), int(ALGORITHM_VERSION) - 1])
@pytest.mark.parametrize("kind", PAYLOADS)
def test_jobs_of_an_older_web_server_are_done(inline_container: ServiceContainer, kind: JobKind, version: int) -> None:
    submit_payload(inline_container.store, kind, version)
    assert run_submitted_job(inline_container).state == "done"


def test_a_submitted_job_names_its_algorithm_version(inline_container: ServiceContainer) -> None:
    gateway = JobGateway(inline_container)
    request = ComparisonRequest("papers", Side.from_id("d1"), Side.from_id("d2"))
    answer_id = gateway.compute_answer_id(request)
    inline_container.store.submit(NewJob(answer_id, "comparison", request.to_json(), Caller("me").key_id))
    payload = inline_container.store.get_payload(answer_id)
    assert payload is not None and json.loads(payload)["algorithm"] == ALGORITHM_VERSION
