"""kill -9 of workers at random, each in the middle of a job: no job is lost, none has two effects."""

from __future__ import annotations

import threading
import time
from itertools import islice
from pathlib import Path

from tests.support.corpora import fault_corpus
from tests.support.deployment import Deployment, measure_wait
from tests.support.faults.fault_results import IS_FULL_RUN, FaultResult, record_result
from tests.support.faults.job_tracker import JobEndCounter, JobTracker
from tests.support.faults.observer import ApiObserver
from tests.support.faults.worker_killer import KillTarget, WorkerKiller

JOBS = 2000 if IS_FULL_RUN else 40
KINDS: tuple[KillTarget, ...] = ("process", "machine", "parent", "process", "process", "process")
KILLS = 30 if IS_FULL_RUN else 3
ENOUGH = 20 if IS_FULL_RUN else 2


def test_no_job_is_lost_or_has_two_effects_when_its_worker_is_killed(tmp_path: Path) -> None:
    engine = str(tmp_path / "engine")
    fault_corpus.build_corpus(engine)
    known, *asked = islice(fault_corpus.list_requests(), JOBS + 1)
    with Deployment(tmp_path, engine) as house, house.make_client() as client:
        client.compare(fault_corpus.INDEX, known["a"], known["b"])
        crowd, endings, killer = JobTracker(house), JobEndCounter(house.store_url), WorkerKiller(house)
        asking = threading.Thread(target=crowd.submit_all, args=(asked, endings.ended_at), daemon=True)
        with ApiObserver(house, known) as watch:
            asking.start()
            _kill_along(killer, crowd, asking)
            asking.join()
            crowd.follow_all()
        measure_wait(lambda: not house.find_orphans(), lambda: f"orphans: {house.find_orphans()}")
        killer.close()
        endings.stop()
        twice = endings.find_repeated(crowd.accepted) | set(crowd.find_changed_answers())
    landed = [kill for kill in killer.kills if kill.target != "parent"]
    recovery = max(endings.ended_at[kill.job] - kill.killed_at for kill in killer.kills if kill.job in endings.ended_at)
    told = {"kills while a job ran": len(landed), "kills of a parent alone": len(killer.kills) - len(landed)}
    row = FaultResult.from_run("workers killed -9", crowd, twice, recovery, watch, **told)
    record_result(row)
    assert not watch.bad_replies and not crowd.bad_replies, (watch.bad_replies[:3], crowd.bad_replies[:3])
    assert row.accepted == JOBS and row.is_complete(), row
    assert len(landed) >= ENOUGH
    assert set(crowd.count_failure_codes()) <= {"worker-lost"}


def _kill_along(killer: WorkerKiller, crowd: JobTracker, asking: threading.Thread) -> None:
    """Kills spread over the whole run: one each time another share of the jobs was accepted."""
    for n in range(KILLS):
        while len(crowd.accepted) < (n + 1) * JOBS / (KILLS + 1) and asking.is_alive():
            time.sleep(0.01)
        deadline = time.monotonic() + 20
        while not killer.kill_one(KINDS[n % len(KINDS)]) and time.monotonic() < deadline:
            time.sleep(0.005)
