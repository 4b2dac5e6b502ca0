"""Jobs in real worker processes: done, lost, poisonous, unwanted."""

from __future__ import annotations

import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from tests.worker.jobs.conftest import Start, computed, let_go, tagged, until
from worker.access import Caller
from worker.explain.side import Side
from worker.jobs.config import WorkConfig
from worker.jobs.job import Job, NewJob
from worker.jobs.payloads import ComparisonRequest
from worker.service.gateway import JobGateway, Submission

ME = Caller("me")


def ask(desk: JobGateway, words: str, caller: Caller = ME) -> str:
    return asked_for(desk, words, caller).id


def asked_for(desk: JobGateway, words: str, caller: Caller = ME) -> Submission:
    return desk.submit_comparison(
        ComparisonRequest("papers", Side.from_id("d1"), Side("query", words=tagged(words)), groups=caller.groups),
        caller,
    )


def job(desk: JobGateway, id: str) -> Job:
    found = desk.container.store.get(id)
    assert found is not None
    return found


def ends(desk: JobGateway, id: str) -> Job:
    until(lambda: job(desk, id).state not in ("queued", "running"))
    return job(desk, id)


def child_of(worker: subprocess.Popen[bytes]) -> int:
    children = Path(f"/proc/{worker.pid}/task/{worker.pid}/children").read_text().split()
    assert len(children) == 1
    return int(children[0])


def test_a_job_is_run_and_its_answer_names_its_documents(desk: JobGateway, worker: None) -> None:
    ticket = asked_for(desk, "plain")
    look = desk.wait(ticket, ME, 120)
    assert look.answer is not None and look.cache_status == "miss"
    assert f'"id":"{ticket.id}"'.encode() in look.answer.stored.body
    assert look.answer.stored.acls == {"d1": ()}
    assert desk.wait(ticket, ME, 0).cache_status == "local"
    assert computed("plain") == 1


def test_progress_is_seen_while_it_runs(desk: JobGateway, worker: None) -> None:
    id = ask(desk, "hold=1 steps=4")
    for step in range(4):
        until(lambda share=step / 4: job(desk, id).state == "running" and job(desk, id).progress == share)
        let_go("hold=1 steps=4", step + 1)
    assert ends(desk, id).state == "done"


def test_a_killed_worker_process_does_not_lose_its_job(desk: JobGateway, start: Start) -> None:
    worker = start()
    id = ask(desk, "hold=1")
    until(lambda: job(desk, id).state == "running" and computed("hold=1") == 1)
    os.kill(child_of(worker), signal.SIGKILL)
    let_go("hold=1", 2)
    ended = ends(desk, id)
    assert (ended.state, ended.attempts) == ("done", 2)
    assert computed("hold=1") == 2


def test_a_killed_machine_does_not_lose_its_job(desk: JobGateway, start: Start) -> None:
    worker = start()
    id = ask(desk, "hold=1")
    until(lambda: computed("hold=1") == 1)
    for process in (child_of(worker), worker.pid):
        os.kill(process, signal.SIGKILL)
    worker.wait()
    let_go("hold=1", 2)
    start()
    ended = ends(desk, id)
    assert (ended.state, ended.attempts) == ("done", 2)


def test_a_job_that_kills_its_worker_three_times_is_set_aside(desk: JobGateway, worker: None) -> None:
    id = ask(desk, "kill=99")
    ended = ends(desk, id)
    assert ended.state == "failed" and ended.failure is not None and ended.failure.code == "worker-lost"
    assert computed("kill=99") == 3
    fine = ask(desk, "after the poison")
    assert ends(desk, fine).state == "done"


def test_a_job_that_kills_its_worker_once_is_done_in_the_end(desk: JobGateway, worker: None) -> None:
    assert ends(desk, ask(desk, "kill=1")).state == "done"
    assert computed("kill=1") == 2


def test_a_message_delivered_twice_computes_once(desk: JobGateway, start: Start) -> None:
    id = ask(desk, "twice")
    for _ in range(5):
        desk.container.announce_job(id, "interactive")
    start()
    assert ends(desk, id).state == "done"
    last = ask(desk, "behind them all")
    assert ends(desk, last).state == "done"
    assert computed("twice") == 1


def test_a_job_whose_message_was_lost_is_found_by_the_reaper(
    desk: JobGateway, start: Start, config: WorkConfig
) -> None:
    start(changed=replace(config, limits=replace(config.limits, resend_seconds=0.5)))
    asked = ComparisonRequest("papers", Side.from_id("d1"), Side("query", words="no message"))
    desk.container.store.submit(NewJob("lost", "comparison", asked.to_json(), "me"))
    assert ends(desk, "lost").state == "done"


def test_the_last_caller_to_leave_stops_the_work(desk: JobGateway, worker: None) -> None:
    id = ask(desk, "hold=1")
    until(lambda: job(desk, id).state == "running")
    desk.container.store.leave(id, "me")
    assert ends(desk, id).state == "cancelled"
    assert ends(desk, ask(desk, "the worker is free again")).state == "done"


def test_a_job_past_its_soft_limit_fails_and_says_so(desk: JobGateway, start: Start, config: WorkConfig) -> None:
    start(changed=replace(config, soft_limit_seconds=1))
    ended = ends(desk, ask(desk, "hold=1"))
    assert ended.failure is not None and ended.failure.code == "time-limit"


def test_a_failure_is_told_and_a_crash_hides_its_details(desk: JobGateway, worker: None) -> None:
    failed = ends(desk, ask(desk, "fail=BadSide")).failure
    assert failed is not None and (failed.code, failed.status) == ("bad-side", 400)
    crashed = ends(desk, ask(desk, "crash=yes")).failure
    assert crashed is not None and crashed.code == "internal" and "secret" not in crashed.detail


def test_an_error_that_may_pass_is_tried_three_times(desk: JobGateway, worker: None) -> None:
    ended = ends(desk, ask(desk, "fail=EngineUnavailable"))
    assert ended.failure is not None and ended.failure.retryable
    assert computed("fail=EngineUnavailable") == 3


def test_two_workers_share_the_jobs_and_compute_each_once(desk: JobGateway, worker: None, start: Start) -> None:
    start()
    names = [f"sleep=0.1 n{i}" for i in range(20)]
    ids = [ask(desk, name) for name in names]
    assert {ends(desk, id).state for id in ids} == {"done"}
    assert [computed(name) for name in names] == [1] * 20


def test_each_queue_has_workers_of_its_own(desk: JobGateway, start: Start) -> None:
    start("interactive")
    asked = ComparisonRequest("papers", Side.from_id("d1"), Side("query", words="in bulk"))
    desk.submit(NewJob("bulky", "comparison", asked.to_json(), "me", queue="bulk"))
    assert ends(desk, ask(desk, "at once")).state == "done"
    assert job(desk, "bulky").state == "queued"
    start("bulk")
    assert ends(desk, "bulky").state == "done"


def test_many_equal_questions_at_once_are_one_computation(desk: JobGateway, worker: None) -> None:
    with ThreadPoolExecutor(32) as pool:
        ids = set(pool.map(lambda n: ask(desk, "sleep=0.5", Caller(f"caller {n}")), range(500)))
    assert len(ids) == 1
    assert ends(desk, ids.pop()).state == "done"
    assert computed("sleep=0.5") == 1


def test_a_worker_told_to_stop_finishes_what_it_runs(desk: JobGateway, start: Start, tmp_path: Path) -> None:
    worker = start()
    id = ask(desk, "hold=1")
    until(lambda: computed("hold=1") == 1)
    worker.terminate()
    until(lambda: b"Warm shutdown" in (tmp_path / "worker-0.log").read_bytes())
    assert job(desk, id).state == "running"
    let_go("hold=1")
    assert worker.wait(timeout=120) == 0
    assert job(desk, id).state == "done"
    assert computed("hold=1") == 1
