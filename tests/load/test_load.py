"""The load test itself: it asks what it says, counts what came, and complains about what is not well."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Self

from tests.support.corpora import fault_corpus
from tests.support.deployment import MAX_WAIT_SECONDS, Deployment
from tests.support.load.service_stats import MemorySampler, read_metric, wait_until_idle
from tests.support.load.traffic import ANSWERED, KINDS, LATER, REFUSED, WRONG, RequestMix, TrafficResult, send_traffic
from tests.support.polling import wait_until
from tests.tools.run_load import SECONDS_UNTIL_IDLE, Phase, format_table, is_sustained, list_problems, to_dict

IDS = [f"d{n}" for n in range(fault_corpus.SIZE)]


def test_traffic_of_every_kind_is_answered_and_counted(tmp_path: Path) -> None:
    engine = str(tmp_path / "engine")
    fault_corpus.build_corpus(engine)
    questions = RequestMix(
        fault_corpus.INDEX, IDS, ["web graph", "link analysis", "protein folding", "gene expression"]
    )
    with Deployment(tmp_path, engine) as house, MemorySampler(house) as memory:
        outcome = send_traffic(house.url, questions, rate=20, seconds=4)
        wait_until_idle(house)
        whole = outcome.total
        assert not whole.wrong, whole.wrong
        assert all(outcome.by_kind[kind].request_count for kind in KINDS)
        assert whole.outcomes[ANSWERED] + whole.outcomes[LATER] == whole.request_count == whole.statuses.total()
        assert read_metric(house, "phrasecom_jobs_ended_total", state="done") > 0
        assert read_metric(house, "phrasecom_jobs_ended_total", state="failed") == 0
    assert len(memory.samples["web"]) == len(memory.samples["workers"])


def test_a_full_queue_refuses_with_the_time_to_come_back(tmp_path: Path) -> None:
    engine = str(tmp_path / "engine")
    fault_corpus.build_corpus(engine)
    questions = RequestMix(fault_corpus.INDEX, IDS, ["web graph", "link analysis"])
    with Unattended(tmp_path, engine, settings={"max_queue": 1, "wait_seconds": 0}) as house:
        outcome = send_traffic(house.url, questions, rate=20, seconds=2)
    assert outcome.total.outcomes[REFUSED] and not outcome.total.wrong, outcome.total.wrong
    assert not is_sustained(outcome, 0.0)


class Unattended(Deployment):
    """Without workers: the first job fills a queue of one."""

    def __enter__(self) -> Self:
        self.valkey.start()
        wait_until(self.is_store_up, MAX_WAIT_SECONDS, self.valkey.read_log_tail)
        self.web.start()
        wait_until(self.is_web_up, MAX_WAIT_SECONDS, self.web.read_log_tail)
        return self

    def _stop_all(self) -> None:
        self.web.stop()
        self.valkey.stop()


def made(rate: float = 10.0, **ends: int) -> TrafficResult:
    outcome = TrafficResult(rate, 1.0)
    tally = outcome.by_kind["cold"]
    for what, times in ends.items():
        tally.outcomes[what] += times
        tally.statuses[{ANSWERED: 200, LATER: 202, REFUSED: 429, WRONG: 500}[what]] += times
    tally.seconds = [0.01 * n for n in range(ends.get(ANSWERED, 0))]
    return outcome


def phases(
    growth: float = 0.01, failed: int = 0, refused: int = 5, until: float = 1.0, left: float = 0.0
) -> list[Phase]:
    again = made(answered=100)
    again.refused_until = until
    return [
        Phase("held", made(answered=100), {"memory growth": growth, SECONDS_UNTIL_IDLE: left}),
        Phase("twice as much", made(answered=100, refused=refused)),
        Phase("the same again", again, {"failed jobs": failed}),
    ]


def test_it_complains_of_each_thing_that_is_not_well() -> None:
    assert list_problems(phases()) == []
    assert "memory" in list_problems(phases(growth=0.06))[0]
    assert "nothing was refused" in list_problems(phases(refused=0))[0]
    assert "refused for 20 s" in list_problems(phases(until=20.0))[0]
    assert "2 jobs failed" in list_problems(phases(failed=2))[0]
    assert "too much" in list_problems(phases(left=30.0))[0]
    wrong = phases()
    wrong[1].result.by_kind["page"].wrong["500 oh"] += 3
    assert list_problems(wrong) == ["twice as much: 500 oh (3 times)"]
    slow = phases()
    slow[0].result = made(answered=80, later=20)
    assert "too much" in list_problems(slow)[0]


def test_the_table_and_the_json_say_the_same() -> None:
    told = phases()
    cold = json.loads(json.dumps(to_dict(told, [])))["phases"][0]["kinds"]["cold"]
    assert cold["ends"] == {"answered": 100} and cold["p50_ms"] == 500.0 and cold["p99_ms"] == 990.0
    line = next(line for line in format_table(told).splitlines() if "cold" in line)
    assert line.split() == ["cold", "100", "100", "0", "0", "0", "0", "500", "950", "990", "990"]
