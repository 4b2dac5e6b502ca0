"""Valkey killed -9 in the middle of the work and started again on its append-only file."""

from __future__ import annotations

import threading
import time
from itertools import islice
from pathlib import Path

from tests.support.corpora import fault_corpus
from tests.support.deployment import MAX_WAIT_SECONDS, Deployment, measure_wait
from tests.support.faults.fault_results import IS_FULL_RUN, FaultResult, record_result
from tests.support.faults.job_tracker import JobEndCounter, JobTracker
from tests.support.faults.observer import ApiObserver
from tests.support.polling import wait_until

JOBS = 600 if IS_FULL_RUN else 40
KILLS = 3 if IS_FULL_RUN else 1
AWAY = 3.0
"""Seconds until it is started again: long enough that everybody notices."""


def test_no_job_is_lost_or_has_two_effects_when_valkey_is_killed(tmp_path: Path) -> None:
    engine = str(tmp_path / "engine")
    fault_corpus.build_corpus(engine)
    known, *asked = islice(fault_corpus.list_requests(), JOBS + 1)
    fresh = iter(list(fault_corpus.list_requests())[JOBS + 1 :])
    with Deployment(tmp_path, engine) as house, house.make_client() as client:
        client.compare(fault_corpus.INDEX, known["a"], known["b"])
        crowd, endings = JobTracker(house), JobEndCounter(house.store_url)
        asking = threading.Thread(target=crowd.submit_all, args=(asked, endings.ended_at), daemon=True)
        recoveries: list[float] = []
        waited: list[tuple[str, float]] = []
        with ApiObserver(house, known) as watch:
            asking.start()
            for n in range(KILLS):
                wait_until(lambda n=n: len(crowd.accepted) > (n + 1) * JOBS / (KILLS + 1), MAX_WAIT_SECONDS)  # type: ignore[misc]
                house.valkey.kill()
                open_then = set(crowd.accepted) - set(endings.ended_at)
                time.sleep(AWAY)
                house.valkey.start()
                back = time.monotonic()
                recoveries.append(measure_wait(lambda: house.can_compute(next(fresh)), house.web.read_log_tail))
                waited += [(id, back) for id in open_then]
            asking.join()
            crowd.follow_all()
        endings.stop()
        twice = endings.find_repeated(crowd.accepted) | set(crowd.find_changed_answers())
    recoveries += [endings.ended_at[id] - back for id, back in waited if id in endings.ended_at]
    row = FaultResult.from_run("Valkey killed -9", crowd, twice, max(recoveries), watch, kills=KILLS)
    record_result(row)
    assert not watch.bad_replies and not crowd.bad_replies, (watch.bad_replies[:3], crowd.bad_replies[:3])
    assert watch.status_counts["503"], "nobody noticed that it was away"
    assert row.accepted == JOBS and row.is_complete(), row
    assert not crowd.count_failure_codes(), "a store that comes back within seconds is no reason to fail"
