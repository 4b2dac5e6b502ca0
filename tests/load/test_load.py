"""The load test itself: it sends every kind of request, counts the outcomes, and reports every problem."""

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
    mix = RequestMix(fault_corpus.INDEX, IDS, ["web graph", "link analysis", "protein folding", "gene expression"])
    with Deployment(tmp_path, engine) as deployment, MemorySampler(deployment) as memory:
        result = send_traffic(deployment.url, mix, rate=20, seconds=4)
        wait_until_idle(deployment)
        total = result.total
        assert not total.wrong, total.wrong
        assert all(result.by_kind[kind].request_count for kind in KINDS)
        assert total.outcomes[ANSWERED] + total.outcomes[LATER] == total.request_count == total.statuses.total()
        assert read_metric(deployment, "phrasecom_jobs_ended_total", state="done") > 0
        assert read_metric(deployment, "phrasecom_jobs_ended_total", state="failed") == 0
    assert len(memory.samples["web"]) == len(memory.samples["workers"])


def test_a_full_queue_refuses_with_retry_after(tmp_path: Path) -> None:
    engine = str(tmp_path / "engine")
    fault_corpus.build_corpus(engine)
    mix = RequestMix(fault_corpus.INDEX, IDS, ["web graph", "link analysis"])
    with DeploymentWithoutWorkers(tmp_path, engine, settings={"max_queue": 1, "wait_seconds": 0}) as deployment:
        result = send_traffic(deployment.url, mix, rate=20, seconds=2)
    assert result.total.outcomes[REFUSED] and not result.total.wrong, result.total.wrong
    assert not is_sustained(result, 0.0)


class DeploymentWithoutWorkers(Deployment):
    """A deployment in which the first job fills a queue of one."""

    def __enter__(self) -> Self:
        self.valkey.start()
        wait_until(self.is_store_up, MAX_WAIT_SECONDS, self.valkey.read_log_tail)
        self.web.start()
        wait_until(self.is_web_up, MAX_WAIT_SECONDS, self.web.read_log_tail)
        return self

    def _stop_all(self) -> None:
        self.web.stop()
        self.valkey.stop()


def make_result(rate: float = 10.0, **outcomes: int) -> TrafficResult:
    result = TrafficResult(rate, 1.0)
    tally = result.by_kind["cold"]
    for kind, count in outcomes.items():
        tally.outcomes[kind] += count
        tally.statuses[{ANSWERED: 200, LATER: 202, REFUSED: 429, WRONG: 500}[kind]] += count
    tally.seconds = [0.01 * n for n in range(outcomes.get(ANSWERED, 0))]
    return result


def make_phases(
    growth: float = 0.01, failed: int = 0, refused: int = 5, refused_until: float = 1.0, backlog_seconds: float = 0.0
) -> list[Phase]:
    again = make_result(answered=100)
    again.refused_until = refused_until
    return [
        Phase("held", make_result(answered=100), {"memory growth": growth, SECONDS_UNTIL_IDLE: backlog_seconds}),
        Phase("twice as much", make_result(answered=100, refused=refused)),
        Phase("the same again", again, {"failed jobs": failed}),
    ]


def test_every_kind_of_problem_is_listed() -> None:
    assert list_problems(make_phases()) == []
    assert "memory" in list_problems(make_phases(growth=0.06))[0]
    assert "nothing was refused" in list_problems(make_phases(refused=0))[0]
    assert "refused for 20 s" in list_problems(make_phases(refused_until=20.0))[0]
    assert "2 jobs failed" in list_problems(make_phases(failed=2))[0]
    assert "too much" in list_problems(make_phases(backlog_seconds=30.0))[0]
    wrong = make_phases()
    wrong[1].result.by_kind["page"].wrong["500 oh"] += 3
    assert list_problems(wrong) == ["twice as much: 500 oh (3 times)"]
    slow = make_phases()
    slow[0].result = make_result(answered=80, later=20)
    assert "too much" in list_problems(slow)[0]


def test_the_table_and_the_json_say_the_same() -> None:
    phases = make_phases()
    cold = json.loads(json.dumps(to_dict(phases, [])))["phases"][0]["kinds"]["cold"]
    assert cold["ends"] == {"answered": 100} and cold["p50_ms"] == 500.0 and cold["p99_ms"] == 990.0
    line = next(line for line in format_table(phases).splitlines() if "cold" in line)
    assert line.split() == ["cold", "100", "100", "0", "0", "0", "0", "500", "950", "990", "990"]
