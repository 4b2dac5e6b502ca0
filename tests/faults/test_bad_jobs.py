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
from tests.support.fake_comparer import PREFIX, VALKEY
from tests.support.faults.clients import Crowd, Endings
from tests.support.faults.deployment import House, seconds_until
from tests.support.faults.job_ledger import FULL, Row, keep
from tests.support.faults.observer import Watch
from worker.jobs.config import WorkConfig
from worker.jobs.job import JobLimits

GOOD = 60 if FULL else 10
BAD = 3 if FULL else 1
LIMITS = JobLimits() if FULL else JobLimits(lease_seconds=2.0)


def test_a_job_without_memory_and_a_poisonous_one_fail_alone_with_their_reasons(tmp_path: Path) -> None:
    engine = str(tmp_path / "engine")
    fault_corpus.build(engine)
    with _house(tmp_path, engine) as house, house.client() as client:
        known = _question(0, "plain")
        client.compare(fault_corpus.INDEX, known["a"], known["b"])
        crowd, endings = Crowd(house), Endings(house.store_url)
        with Watch(house, known) as watch:
            for n in range(GOOD):
                crowd.ask(_question(n, f"sleep=0.05 good{n}"))
                if n < BAD:
                    greedy = crowd.ask(_question(n, "greedy"))
                    poison = crowd.ask(_question(n, f"kill=99 poison{n}"))
            asked = time.monotonic()
            crowd.follow_all()
            seconds_until(lambda: client.compare(fault_corpus.INDEX, {"id": "d1"}, {"query": "sleep=0.01 after"}))
        endings.stop()
    reasons = crowd.reasons()
    good = [endings.last[id] - asked for id, ended in crowd.ended.items() if ended.state == "done"]
    row = Row.of(
        "out of memory, poison", crowd, endings.twice(crowd.accepted), max(good), watch, limit="512 MB", bad=2 * BAD
    )
    keep(row)
    assert not watch.wrong and not crowd.wrong, (watch.wrong[:3], crowd.wrong[:3])
    assert row.adds_up() and row.finished == GOOD, row
    assert reasons == {"too-large": BAD, "worker-lost": BAD}
    assert crowd.ended[str(greedy)].code == "too-large" and crowd.ended[str(poison)].code == "worker-lost"


def _house(folder: Path, engine: str) -> House:
    """Workers that compute as they are told, with half a gigabyte each."""

    def command(house: House) -> list[str]:
        config = WorkConfig(
            engine=engine,
            redis_url=house.store_url,
            comparer="tests.webapi.greedy:Comparer",
            memory_bytes=2**29,
            limits=LIMITS,
        )
        written = json.dumps(dataclasses.asdict(config))
        return [sys.executable, "-m", "tests.support.run_worker", written, "interactive,bulk", "1"]

    def counting(house: House) -> dict[str, str]:
        return {VALKEY: house.store_url, PREFIX: KEY_PREFIX}

    return House(folder, engine, worker=command, environment=counting)


def _question(n: int, words: str) -> dict[str, Any]:
    return {"index": fault_corpus.INDEX, "a": {"id": f"d{n}"}, "b": {"query": words}}
