"""Workers killed at random, each in the middle of a job: no job is lost, none has two effects."""

from __future__ import annotations

import threading
import time
from itertools import islice
from pathlib import Path

from tests.support.corpora import fault_corpus
from tests.support.deployment import Deployment, measure_wait
from tests.support.faults.fault_results import IS_FULL_RUN, FaultResult, assert_no_bad_replies, record_result
from tests.support.faults.job_tracker import JobEndCounter, JobTracker
from tests.support.faults.observer import ApiObserver
from tests.support.faults.worker_killer import KillTarget, WorkerKiller

JOBS = 2000 if IS_FULL_RUN else 80
KILL_TARGETS: tuple[KillTarget, ...] = ("process", "machine", "parent", "process", "process", "process")
KILL_COUNT = 30 if IS_FULL_RUN else 3
MIN_KILLS = 20 if IS_FULL_RUN else 2


def test_no_job_is_lost_or_has_two_effects_when_its_worker_is_killed(tmp_path: Path) -> None:
    engine = str(tmp_path / "engine")
    fault_corpus.build_corpus(engine)
    answered, *requests = islice(fault_corpus.list_requests(), JOBS + 1)
    with Deployment(tmp_path, engine) as deployment, deployment.make_client() as client:
        client.compare(fault_corpus.INDEX, answered["a"], answered["b"])
        jobs, job_ends, killer = JobTracker(deployment), JobEndCounter(deployment.store_url), WorkerKiller(deployment)
        sender = threading.Thread(target=jobs.submit_all, args=(requests, job_ends.ended_at), daemon=True)
        with ApiObserver(deployment, answered) as observer:
            sender.start()
            _kill_during_run(killer, jobs, sender)
            sender.join()
            jobs.follow_all()
        measure_wait(lambda: not deployment.find_orphans(), lambda: f"orphans: {deployment.find_orphans()}")
        killer.close()
        job_ends.stop()
        repeated = job_ends.find_repeated(jobs.accepted) | set(jobs.find_changed_answers())
    landed = [kill for kill in killer.kills if kill.target != "parent"]
    recovery = max(
        job_ends.ended_at[kill.job] - kill.killed_at for kill in killer.kills if kill.job in job_ends.ended_at
    )
    figures = {"kills while a job ran": len(landed), "kills of a parent alone": len(killer.kills) - len(landed)}
    result = FaultResult.from_run("workers killed -9", jobs, repeated, recovery, observer, **figures)
    record_result(result)
    assert_no_bad_replies(observer, jobs)
    assert result.accepted == JOBS and result.is_complete(), result
    assert len(landed) >= MIN_KILLS
    assert set(jobs.count_failure_codes()) <= {"worker-lost"}


def _kill_during_run(killer: WorkerKiller, jobs: JobTracker, sender: threading.Thread) -> None:
    """Kill one worker each time another share of the jobs was accepted."""
    for n in range(KILL_COUNT):
        while len(jobs.accepted) < (n + 1) * JOBS / (KILL_COUNT + 1) and sender.is_alive():
            time.sleep(0.01)
        deadline = time.monotonic() + 20
        while not killer.kill_one(KILL_TARGETS[n % len(KILL_TARGETS)]) and time.monotonic() < deadline:
            time.sleep(0.005)
