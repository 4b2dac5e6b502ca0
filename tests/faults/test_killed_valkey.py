"""Valkey killed with SIGKILL under load and started again on its append-only file."""

from __future__ import annotations

import threading
import time
from itertools import islice
from pathlib import Path

from tests.support.corpora import fault_corpus
from tests.support.deployment import MAX_WAIT_SECONDS, Deployment, measure_wait
from tests.support.faults.fault_results import IS_FULL_RUN, FaultResult, assert_no_bad_replies, record_result
from tests.support.faults.job_tracker import JobEndCounter, JobTracker
from tests.support.faults.observer import ApiObserver
from tests.support.polling import wait_until

JOBS = 600 if IS_FULL_RUN else 40
KILLS = 3 if IS_FULL_RUN else 1
DOWN_SECONDS = 3.0
"""Time until it is started again: long enough that every process notices."""


def test_no_job_is_lost_or_has_two_effects_when_valkey_is_killed(tmp_path: Path) -> None:
    engine = str(tmp_path / "engine")
    fault_corpus.build_corpus(engine)
    answered, *requests = islice(fault_corpus.list_requests(), JOBS + 1)
    unused_requests = iter(list(fault_corpus.list_requests())[JOBS + 1 :])
    with Deployment(tmp_path, engine) as deployment, deployment.make_client() as client:
        client.compare(fault_corpus.INDEX, answered["a"], answered["b"])
        jobs, job_ends = JobTracker(deployment), JobEndCounter(deployment.store_url)
        sender = threading.Thread(target=jobs.submit_all, args=(requests, job_ends.ended_at), daemon=True)
        recoveries: list[float] = []
        waited: list[tuple[str, float]] = []
        with ApiObserver(deployment, answered) as observer:
            sender.start()
            for n in range(KILLS):
                wait_until(lambda n=n: len(jobs.accepted) > (n + 1) * JOBS / (KILLS + 1), MAX_WAIT_SECONDS)  # type: ignore[misc]
                deployment.valkey.kill()
                open_jobs = set(jobs.accepted) - set(job_ends.ended_at)
                time.sleep(DOWN_SECONDS)
                deployment.valkey.start()
                restarted = time.monotonic()
                recoveries.append(
                    measure_wait(lambda: deployment.can_compute(next(unused_requests)), deployment.web.read_log_tail)
                )
                waited += [(id, restarted) for id in open_jobs]
            sender.join()
            jobs.follow_all()
        job_ends.stop()
        repeated = job_ends.find_repeated(jobs.accepted) | set(jobs.find_changed_answers())
    recoveries += [job_ends.ended_at[id] - restarted for id, restarted in waited if id in job_ends.ended_at]
    result = FaultResult.from_run("Valkey killed -9", jobs, repeated, max(recoveries), observer, kills=KILLS)
    record_result(result)
    assert_no_bad_replies(observer, jobs)
    assert observer.status_counts["503"], "no request noticed that it was away"
    assert result.accepted == JOBS and result.is_complete(), result
    assert not jobs.count_failure_codes(), "a store that comes back within seconds is no reason to fail"
