"""Jobs that need more memory than there is, or kill the worker that runs them, among many that do not."""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from pathlib import Path
from typing import Any

from indexer.indexing.notifications import KEY_PREFIX
from tests.support.corpora import fault_corpus
from tests.support.deployment import Deployment, measure_wait
from tests.support.fake_comparer import KEY_PREFIX_VARIABLE, VALKEY_URL_VARIABLE
from tests.support.faults.fault_results import IS_FULL_RUN, FaultResult, assert_no_bad_replies, record_result
from tests.support.faults.job_tracker import JobEndCounter, JobTracker
from tests.support.faults.observer import ApiObserver
from worker.jobs.config import JobLimits, WorkConfig

GOOD_JOBS = 60 if IS_FULL_RUN else 10
BAD_JOBS = 3 if IS_FULL_RUN else 1
LIMITS = JobLimits() if IS_FULL_RUN else JobLimits(lease_seconds=2.0)


def test_jobs_that_exhaust_memory_or_kill_their_worker_fail_alone_with_their_reasons(tmp_path: Path) -> None:
    engine = str(tmp_path / "engine")
    fault_corpus.build_corpus(engine)
    with _make_deployment(tmp_path, engine) as deployment, deployment.make_client() as client:
        answered = _make_request(0, "plain")
        client.compare(fault_corpus.INDEX, answered["a"], answered["b"])
        jobs, job_ends = JobTracker(deployment), JobEndCounter(deployment.store_url)
        with ApiObserver(deployment, answered) as observer:
            for n in range(GOOD_JOBS):
                jobs.submit(_make_request(n, f"sleep=0.05 good{n}"))
                if n < BAD_JOBS:
                    greedy = jobs.submit(_make_request(n, "greedy"))
                    poison = jobs.submit(_make_request(n, f"kill=99 poison{n}"))
            submitted = time.monotonic()
            jobs.follow_all()
            measure_wait(lambda: client.compare(fault_corpus.INDEX, {"id": "d1"}, {"query": "sleep=0.01 after"}))
        job_ends.stop()
    durations = [job_ends.ended_at[id] - submitted for id, job in jobs.outcomes.items() if job.state == "done"]
    result = FaultResult.from_run(
        "out of memory, poison",
        jobs,
        job_ends.find_repeated(jobs.accepted),
        max(durations),
        observer,
        limit="512 MB",
        bad=2 * BAD_JOBS,
    )
    record_result(result)
    assert_no_bad_replies(observer, jobs)
    assert result.is_complete() and result.finished == GOOD_JOBS, result
    assert jobs.count_failure_codes() == {"too-large": BAD_JOBS, "worker-lost": BAD_JOBS}
    assert jobs.outcomes[str(greedy)].code == "too-large" and jobs.outcomes[str(poison)].code == "worker-lost"


def _make_deployment(folder: Path, engine: str) -> Deployment:
    """Return a deployment whose workers use the memory hog comparer, with half a gigabyte each."""

    def make_command(deployment: Deployment) -> list[str]:
        config = WorkConfig(
            engine=engine,
            redis_url=deployment.store_url,
            comparer="tests.support.memory_hog:MemoryHogComparer",
            memory_bytes=2**29,
            limits=LIMITS,
        )
        encoded = json.dumps(dataclasses.asdict(config))
        return [sys.executable, "-m", "tests.support.run_worker", encoded, "interactive,bulk", "1"]

    def make_environment(deployment: Deployment) -> dict[str, str]:
        return {VALKEY_URL_VARIABLE: deployment.store_url, KEY_PREFIX_VARIABLE: KEY_PREFIX}

    return Deployment(folder, engine, make_worker_command=make_command, make_environment=make_environment)


def _make_request(n: int, words: str) -> dict[str, Any]:
    return {"index": fault_corpus.INDEX, "a": {"id": f"d{n}"}, "b": {"query": words}}
