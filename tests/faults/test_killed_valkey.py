"""Valkey killed -9 in the middle of the work and started again on its append-only file."""

from __future__ import annotations

import threading
import time
from itertools import islice
from pathlib import Path

from tests.support.corpora import fault_corpus
from tests.support.faults.clients import Crowd, Endings
from tests.support.faults.deployment import PATIENCE, House, seconds_until, until
from tests.support.faults.job_ledger import FULL, Row, keep
from tests.support.faults.observer import Watch

JOBS = 600 if FULL else 40
KILLS = 3 if FULL else 1
AWAY = 3.0
"""Seconds until it is started again: long enough that everybody notices."""


def test_no_job_is_lost_or_has_two_effects_when_valkey_is_killed(tmp_path: Path) -> None:
    engine = str(tmp_path / "engine")
    fault_corpus.build(engine)
    known, *asked = islice(fault_corpus.questions(), JOBS + 1)
    fresh = iter(list(fault_corpus.questions())[JOBS + 1 :])
    with House(tmp_path, engine) as house, house.client() as client:
        client.compare(fault_corpus.INDEX, known["a"], known["b"])
        crowd, endings = Crowd(house), Endings(house.store_url)
        asking = threading.Thread(target=crowd.ask_all, args=(asked, endings.last), daemon=True)
        recoveries: list[float] = []
        waited: list[tuple[str, float]] = []
        with Watch(house, known) as watch:
            asking.start()
            for n in range(KILLS):
                until(lambda n=n: len(crowd.accepted) > (n + 1) * JOBS / (KILLS + 1), PATIENCE)  # type: ignore[misc]
                house.valkey.kill()
                open_then = set(crowd.accepted) - set(endings.last)
                time.sleep(AWAY)
                house.valkey.start()
                back = time.monotonic()
                recoveries.append(seconds_until(lambda: house.computes(next(fresh)), house.web.said))
                waited += [(id, back) for id in open_then]
            asking.join()
            crowd.follow_all()
        endings.stop()
        twice = endings.twice(crowd.accepted) | set(crowd.changed())
    recoveries += [endings.last[id] - back for id, back in waited if id in endings.last]
    row = Row.of("Valkey killed -9", crowd, twice, max(recoveries), watch, kills=KILLS)
    keep(row)
    assert not watch.wrong and not crowd.wrong, (watch.wrong[:3], crowd.wrong[:3])
    assert watch.seen["503"], "nobody noticed that it was away"
    assert row.accepted == JOBS and row.adds_up(), row
    assert not crowd.reasons(), "a store that comes back within seconds is no reason to fail"
