"""A Redis that answers but refuses commands, as after a fail-over or with a full disk, and accepts them again."""

from __future__ import annotations

import threading
from functools import partial
from itertools import islice
from pathlib import Path

from tests.support.corpora import fault_corpus
from tests.support.deployment import MAX_WAIT_SECONDS, Deployment, RestartableProcess, measure_wait
from tests.support.faults.fault_results import IS_FULL_RUN, FaultResult, assert_no_bad_replies, record_result
from tests.support.faults.job_tracker import JobEndCounter, JobTracker
from tests.support.faults.observer import ApiObserver
from tests.support.faults.refusals import REFUSALS, refuse
from tests.support.polling import wait_until
from webapi.client import Client

ROUNDS = 3 if IS_FULL_RUN else 1
JOBS_PER_REFUSAL = 30 if IS_FULL_RUN else 8


def test_no_job_is_lost_and_workers_come_back_when_redis_refuses_commands_for_a_while(tmp_path: Path) -> None:
    engine = str(tmp_path / "engine")
    fault_corpus.build_corpus(engine)
    job_count = ROUNDS * len(REFUSALS) * JOBS_PER_REFUSAL
    answered, *requests = islice(fault_corpus.list_requests(), job_count + 1)
    unused_requests = iter(list(fault_corpus.list_requests())[job_count + 1 :])
    with Deployment(tmp_path, engine) as deployment, deployment.make_client() as client:
        client.compare(fault_corpus.INDEX, answered["a"], answered["b"])
        worker_pids = [worker.pid for worker in deployment.workers.processes]
        jobs, job_ends = JobTracker(deployment), JobEndCounter(deployment.store_url)
        sender = threading.Thread(target=jobs.submit_all, args=(requests, job_ends.ended_at), daemon=True)
        recoveries: list[float] = []
        with ApiObserver(deployment, answered) as observer:
            sender.start()
            for n, refusal in enumerate(REFUSALS * ROUNDS):
                wait_until(lambda n=n: len(jobs.accepted) > n * JOBS_PER_REFUSAL, MAX_WAIT_SECONDS)  # type: ignore[misc]
                logs = [(worker, worker.log.stat().st_size) for worker in deployment.workers.processes]
                with refuse(deployment.store_url, refusal):
                    wait_until(lambda: is_refused(client), MAX_WAIT_SECONDS, deployment.web.read_log_tail)
                    cached = client.request("POST", "/v1/comparisons", answered)
                    assert cached.status == 200 and cached.headers["x-cache"] in ("local", "stale"), refusal.code
                    for worker, size in logs:
                        wait_until(partial(has_logged, worker, size, refusal.code), MAX_WAIT_SECONDS)
                recoveries.append(
                    measure_wait(lambda: deployment.can_compute(next(unused_requests)), deployment.web.read_log_tail)
                )
            sender.join()
            jobs.follow_all()
        job_ends.stop()
        repeated = job_ends.find_repeated(jobs.accepted) | set(jobs.find_changed_answers())
        assert [worker.pid for worker in deployment.workers.processes] == worker_pids, "a worker has ended"
    codes = ", ".join(refusal.code for refusal in REFUSALS)
    result = FaultResult.from_run("refusing Redis", jobs, repeated, max(recoveries), observer, refusals=codes)
    record_result(result)
    assert_no_bad_replies(observer, jobs)
    assert result.accepted == job_count and result.is_complete(), result
    assert not jobs.count_failure_codes(), "a store that comes back within seconds is no reason to fail"


def has_logged(worker: RestartableProcess, size: int, text: str) -> bool:
    """Return whether the text is in the worker's log after its first bytes."""
    return text in worker.log.read_bytes()[size:].decode(errors="replace")


def is_refused(client: Client) -> bool:
    ready = client.request("GET", "/readyz")
    assert ready.status == 200 or "retry-after" in ready.headers
    return ready.status == 503 and ready.json()["checks"] == {"store": "store-unavailable", "engine": "ok"}
