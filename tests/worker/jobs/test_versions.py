"""Web servers and workers of two versions beside each other, as while a service is upgraded."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from worker.access import Caller
from worker.explain.side import Side
from worker.explain.spec import ALGORITHM
from worker.jobs.config import WorkConfig
from worker.jobs.job import Job, JobStore, Kind, NewJob
from worker.jobs.payloads import Asked, AskedPage
from worker.jobs.runner import _PASSED_ON, run_job
from worker.service import Service, job_handlers
from worker.service.gateway import Desk

ASKED: dict[Kind, str] = {
    "comparison": Asked("papers", Side.document("d1"), Side.document("d2")).to_json(),
    "explanation": AskedPage("papers", ("d1", "d2"), "page").to_json(),
}


@pytest.fixture
def inline(config: WorkConfig) -> Iterator[Service]:
    service = Service(WorkConfig(engine=config.engine))
    yield service
    service.close()


def entered(store: JobStore, kind: Kind, version: int) -> None:
    """A job as a web server of that version hands it in."""
    question = json.loads(ASKED[kind])
    assert question["algorithm"] == ALGORITHM, "a question says of which version it is asked"
    store.submit(NewJob("job", kind, json.dumps(question | {"algorithm": str(version)}), "me"))


def after_a_run(service: Service) -> Job:
    run_job(service.store, "job", job_handlers.works(service))
    found = service.store.get("job")
    assert found is not None
    return found


@pytest.mark.parametrize("kind", ASKED)
def test_what_is_asked_of_a_newer_method_is_left_to_another_worker(inline: Service, kind: Kind) -> None:
    entered(inline.store, kind, int(ALGORITHM) + 1)
    job = after_a_run(inline)
    assert (job.state, job.answer, inline.store.parts("job")) == ("queued", None, {})


def test_a_question_no_worker_can_answer_is_told_in_the_end(inline: Service) -> None:
    entered(inline.store, "comparison", int(ALGORITHM) + 1)
    for _ in range(_PASSED_ON - 1):
        assert after_a_run(inline).state == "queued"
    job = after_a_run(inline)
    assert job.state == "failed" and job.failure is not None
    assert (job.failure.code, job.failure.retryable) == ("unavailable", True)
    assert "upgrade the workers" in job.failure.detail


@pytest.mark.parametrize("version", [int(ALGORITHM), int(ALGORITHM) - 1])
@pytest.mark.parametrize("kind", ASKED)
def test_what_an_older_web_server_asks_is_answered(inline: Service, kind: Kind, version: int) -> None:
    entered(inline.store, kind, version)
    assert after_a_run(inline).state == "done"


def test_a_web_server_hands_in_its_version(inline: Service) -> None:
    desk = Desk(inline)
    asked = Asked("papers", Side.document("d1"), Side.document("d2"))
    new = desk.key(asked)
    inline.store.submit(NewJob(new, "comparison", asked.to_json(), Caller("me").key_id))
    question = inline.store.question(new)
    assert question is not None and json.loads(question)["algorithm"] == ALGORITHM
