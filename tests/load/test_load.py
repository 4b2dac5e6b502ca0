"""The load test itself: it asks what it says, counts what came, and complains about what is not well."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Self

from tests.support.corpora import fault_corpus
from tests.support.faults.deployment import PATIENCE, House, until
from tests.support.load.process_stats import Memory, measured, seconds_until_idle
from tests.support.load.traffic import ANSWERED, KINDS, LATER, REFUSED, WRONG, Outcome, Questions, send
from tests.tools.run_load import IDLE, Phase, complaints, holds, table, to_dict

IDS = [f"d{n}" for n in range(fault_corpus.SIZE)]


def test_traffic_of_every_kind_is_answered_and_counted(tmp_path: Path) -> None:
    engine = str(tmp_path / "engine")
    fault_corpus.build(engine)
    questions = Questions(fault_corpus.INDEX, IDS, ["web graph", "link analysis", "protein folding", "gene expression"])
    with House(tmp_path, engine) as house, Memory(house) as memory:
        outcome = send(house.url, questions, rate=20, seconds=4)
        seconds_until_idle(house)
        whole = outcome.all
        assert not whole.wrong, whole.wrong
        assert all(outcome.by_kind[kind].asked for kind in KINDS)
        assert whole.ends[ANSWERED] + whole.ends[LATER] == whole.asked == whole.statuses.total()
        assert measured(house, "phrasecom_jobs_ended_total", state="done") > 0
        assert measured(house, "phrasecom_jobs_ended_total", state="failed") == 0
    assert len(memory.samples["web"]) == len(memory.samples["workers"])


def test_a_full_queue_refuses_with_the_time_to_come_back(tmp_path: Path) -> None:
    engine = str(tmp_path / "engine")
    fault_corpus.build(engine)
    questions = Questions(fault_corpus.INDEX, IDS, ["web graph", "link analysis"])
    with Unattended(tmp_path, engine, settings={"max_queue": 1, "wait_seconds": 0}) as house:
        outcome = send(house.url, questions, rate=20, seconds=2)
    assert outcome.all.ends[REFUSED] and not outcome.all.wrong, outcome.all.wrong
    assert not holds(outcome, 0.0)


class Unattended(House):
    """Without workers: the first job fills a queue of one."""

    def __enter__(self) -> Self:
        self.valkey.start()
        until(self.store_answers, PATIENCE, self.valkey.said)
        self.web.start()
        until(self.web_answers, PATIENCE, self.web.said)
        return self

    def _stop(self) -> None:
        self.web.stop()
        self.valkey.stop()


def made(rate: float = 10.0, **ends: int) -> Outcome:
    outcome = Outcome(rate, 1.0)
    tally = outcome.by_kind["cold"]
    for what, times in ends.items():
        tally.ends[what] += times
        tally.statuses[{ANSWERED: 200, LATER: 202, REFUSED: 429, WRONG: 500}[what]] += times
    tally.seconds = [0.01 * n for n in range(ends.get(ANSWERED, 0))]
    return outcome


def phases(
    growth: float = 0.01, failed: int = 0, refused: int = 5, until: float = 1.0, left: float = 0.0
) -> list[Phase]:
    again = made(answered=100)
    again.refused_until = until
    return [
        Phase("held", made(answered=100), {"memory growth": growth, IDLE: left}),
        Phase("twice as much", made(answered=100, refused=refused)),
        Phase("the same again", again, {"failed jobs": failed}),
    ]


def test_it_complains_of_each_thing_that_is_not_well() -> None:
    assert complaints(phases()) == []
    assert "memory" in complaints(phases(growth=0.06))[0]
    assert "nothing was refused" in complaints(phases(refused=0))[0]
    assert "refused for 20 s" in complaints(phases(until=20.0))[0]
    assert "2 jobs failed" in complaints(phases(failed=2))[0]
    assert "too much" in complaints(phases(left=30.0))[0]
    wrong = phases()
    wrong[1].outcome.by_kind["page"].wrong["500 oh"] += 3
    assert complaints(wrong) == ["twice as much: 500 oh (3 times)"]
    slow = phases()
    slow[0].outcome = made(answered=80, later=20)
    assert "too much" in complaints(slow)[0]


def test_the_table_and_the_json_say_the_same() -> None:
    told = phases()
    cold = json.loads(json.dumps(to_dict(told, [])))["phases"][0]["kinds"]["cold"]
    assert cold["ends"] == {"answered": 100} and cold["p50_ms"] == 500.0 and cold["p99_ms"] == 990.0
    line = next(line for line in table(told).splitlines() if "cold" in line)
    assert line.split() == ["cold", "100", "100", "0", "0", "0", "0", "500", "950", "990", "990"]
