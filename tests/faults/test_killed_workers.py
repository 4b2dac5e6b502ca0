"""kill -9 of workers at random, each in the middle of a job: no job is lost, none has two effects."""

from __future__ import annotations

import threading
import time
from itertools import islice
from pathlib import Path

from tests.support.corpora import fault_corpus
from tests.support.faults.clients import Crowd, Endings
from tests.support.faults.deployment import House, seconds_until
from tests.support.faults.job_ledger import FULL, Row, keep
from tests.support.faults.kill_schedule import Killer, What
from tests.support.faults.observer import Watch

JOBS = 2000 if FULL else 40
KINDS: tuple[What, ...] = ("process", "machine", "parent", "process", "process", "process")
KILLS = 30 if FULL else 3
ENOUGH = 20 if FULL else 2


def test_no_job_is_lost_or_has_two_effects_when_its_worker_is_killed(tmp_path: Path) -> None:
    engine = str(tmp_path / "engine")
    fault_corpus.build(engine)
    known, *asked = islice(fault_corpus.questions(), JOBS + 1)
    with House(tmp_path, engine) as house, house.client() as client:
        client.compare(fault_corpus.INDEX, known["a"], known["b"])
        crowd, endings, killer = Crowd(house), Endings(house.store_url), Killer(house)
        asking = threading.Thread(target=crowd.ask_all, args=(asked, endings.last), daemon=True)
        with Watch(house, known) as watch:
            asking.start()
            _kill_along(killer, crowd, asking)
            asking.join()
            crowd.follow_all()
        seconds_until(lambda: not house.strays(), lambda: f"orphans: {house.strays()}")
        killer.close()
        endings.stop()
        twice = endings.twice(crowd.accepted) | set(crowd.changed())
    landed = [kill for kill in killer.kills if kill.what != "parent"]
    recovery = max(endings.last[kill.job] - kill.at for kill in killer.kills if kill.job in endings.last)
    told = {"kills while a job ran": len(landed), "kills of a parent alone": len(killer.kills) - len(landed)}
    row = Row.of("workers killed -9", crowd, twice, recovery, watch, **told)
    keep(row)
    assert not watch.wrong and not crowd.wrong, (watch.wrong[:3], crowd.wrong[:3])
    assert row.accepted == JOBS and row.adds_up(), row
    assert len(landed) >= ENOUGH
    assert set(crowd.reasons()) <= {"worker-lost"}


def _kill_along(killer: Killer, crowd: Crowd, asking: threading.Thread) -> None:
    """Kills spread over the whole run: one each time another share of the jobs was accepted."""
    for n in range(KILLS):
        while len(crowd.accepted) < (n + 1) * JOBS / (KILLS + 1) and asking.is_alive():
            time.sleep(0.01)
        deadline = time.monotonic() + 20
        while not killer.strike(KINDS[n % len(KINDS)]) and time.monotonic() < deadline:
            time.sleep(0.005)
