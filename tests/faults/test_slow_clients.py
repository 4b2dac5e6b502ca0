"""Clients that send requests in part, or do not read the responses, while others use the service."""

from __future__ import annotations

import time
from itertools import islice
from pathlib import Path

from tests.support.corpora import fault_corpus
from tests.support.deployment import Deployment, measure_wait
from tests.support.faults.fault_results import IS_FULL_RUN, FaultResult, assert_no_bad_replies, record_result
from tests.support.faults.job_tracker import JobEndCounter, JobTracker
from tests.support.faults.observer import ApiObserver
from tests.support.slow_clients import ALL_HOLDS, SlowClients
from webapi.client import Client

JOBS = 200 if IS_FULL_RUN else 20
CLIENTS = 100 if IS_FULL_RUN else 30
"""Clients of each kind; more than the server has threads."""
HEALTH_CHECKS = 100 if IS_FULL_RUN else 10


def test_slow_clients_stop_no_request(tmp_path: Path) -> None:
    engine = str(tmp_path / "engine")
    fault_corpus.build_corpus(engine)
    answered, unused, *requests = islice(fault_corpus.list_requests(), JOBS + 2)
    with Deployment(tmp_path, engine) as deployment, deployment.make_client() as client:
        client.compare(fault_corpus.INDEX, answered["a"], answered["b"])
        jobs, job_ends = JobTracker(deployment), JobEndCounter(deployment.store_url)
        with ApiObserver(deployment, answered) as observer, SlowClients(deployment.url, CLIENTS) as slow:
            longest = max(measure_health_check(client) for _ in range(HEALTH_CHECKS))
            recovery = measure_wait(lambda: deployment.can_compute(unused), deployment.web.read_log_tail)
            jobs.submit_all(requests, job_ends.ended_at)
            jobs.follow_all()
            clients = sum(map(len, slow.connections.values()))
        job_ends.stop()
        repeated = job_ends.find_repeated(jobs.accepted) | set(jobs.find_changed_answers())
    figures = {"slow clients": clients, "longest healthz s": round(longest, 3)}
    result = FaultResult.from_run("slow clients", jobs, repeated, recovery, observer, **figures)
    record_result(result)
    assert clients == CLIENTS * len(ALL_HOLDS)
    assert_no_bad_replies(observer, jobs)
    assert result.accepted == JOBS and result.is_complete(), result


def measure_health_check(client: Client) -> float:
    started = time.monotonic()
    assert client.request("GET", "/healthz").status == 200
    return time.monotonic() - started
