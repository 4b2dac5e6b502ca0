"""Jobs that take more memory than there is, or kill whoever runs them, among many that do not."""

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
from tests.support.faults.fault_results import IS_FULL_RUN, FaultResult, record_result
from tests.support.faults.job_tracker import JobEndCounter, JobTracker
from tests.support.faults.observer import ApiObserver
from worker.jobs.config import WorkConfig
from worker.jobs.job import JobLimits

GOOD = 60 if IS_FULL_RUN else 10
BAD = 3 if IS_FULL_RUN else 1
LIMITS = JobLimits() if IS_FULL_RUN else JobLimits(lease_seconds=2.0)


def test_a_job_without_memory_and_a_poisonous_one_fail_alone_with_their_reasons(tmp_path: Path) -> None:
    engine = str(tmp_path / "engine")
    fault_corpus.build_corpus(engine)
    with _house(tmp_path, engine) as house, house.make_client() as client:
        known = _question(0, "plain")
        client.compare(fault_corpus.INDEX, known["a"], known["b"])
        crowd, endings = JobTracker(house), JobEndCounter(house.store_url)
        with ApiObserver(house, known) as watch:
            for n in range(GOOD):
                crowd.submit(_question(n, f"sleep=0.05 good{n}"))
                if n < BAD:
                    greedy = crowd.submit(_question(n, "greedy"))
                    poison = crowd.submit(_question(n, f"kill=99 poison{n}"))
            asked = time.monotonic()
            crowd.follow_all()
            measure_wait(lambda: client.compare(fault_corpus.INDEX, {"id": "d1"}, {"query": "sleep=0.01 after"}))
        endings.stop()
    reasons = crowd.count_failure_codes()
    good = [endings.ended_at[id] - asked for id, ended in crowd.outcomes.items() if ended.state == "done"]
    row = FaultResult.from_run(
        "out of memory, poison",
        crowd,
        endings.find_repeated(crowd.accepted),
        max(good),
        watch,
        limit="512 MB",
        bad=2 * BAD,
    )
    record_result(row)
    assert not watch.bad_replies and not crowd.bad_replies, (watch.bad_replies[:3], crowd.bad_replies[:3])
    assert row.is_complete() and row.finished == GOOD, row
    assert reasons == {"too-large": BAD, "worker-lost": BAD}
    assert crowd.outcomes[str(greedy)].code == "too-large" and crowd.outcomes[str(poison)].code == "worker-lost"


def _house(folder: Path, engine: str) -> Deployment:
    """Workers that compute as they are told, with half a gigabyte each."""

    def command(house: Deployment) -> list[str]:
        config = WorkConfig(
            engine=engine,
            redis_url=house.store_url,
            comparer="tests.support.memory_hog:MemoryHogComparer",
            memory_bytes=2**29,
            limits=LIMITS,
        )
        written = json.dumps(dataclasses.asdict(config))
        return [sys.executable, "-m", "tests.support.run_worker", written, "interactive,bulk", "1"]

    def counting(house: Deployment) -> dict[str, str]:
        return {VALKEY_URL_VARIABLE: house.store_url, KEY_PREFIX_VARIABLE: KEY_PREFIX}

    return Deployment(folder, engine, make_worker_command=command, make_environment=counting)


def _question(n: int, words: str) -> dict[str, Any]:
    return {"index": fault_corpus.INDEX, "a": {"id": f"d{n}"}, "b": {"query": words}}
