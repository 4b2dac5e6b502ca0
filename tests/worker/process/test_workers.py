"""Jobs in real worker processes: done, lost, lethal, cancelled."""

from __future__ import annotations

import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

from tests.support.fake_comparer import count_computations, release_computations, tag_query
from tests.support.polling import wait_until
from tests.support.workers import StartWorker
from worker.access import Caller
from worker.explain.side import Side
from worker.jobs.config import WorkConfig
from worker.jobs.job import Job, NewJob
from worker.jobs.payloads import ComparisonRequest
from worker.service.gateway import JobGateway, Submission

ME = Caller("me")


def submit_query(gateway: JobGateway, words: str, caller: Caller = ME) -> str:
    return submit_request(gateway, words, caller).id


def submit_request(gateway: JobGateway, words: str, caller: Caller = ME) -> Submission:
    return gateway.submit_comparison(
        ComparisonRequest("papers", Side.from_id("d1"), Side("query", words=tag_query(words)), groups=caller.groups),
        caller,
    )


def get_job(gateway: JobGateway, id: str) -> Job:
    job = gateway.container.store.get(id)
    assert job is not None
    return job


def has_progress(gateway: JobGateway, id: str, share: float) -> bool:
    job = get_job(gateway, id)
    return job.state == "running" and job.progress == share


def wait_for_end(gateway: JobGateway, id: str) -> Job:
    wait_until(lambda: get_job(gateway, id).state not in ("queued", "running"))
    return get_job(gateway, id)


def get_child_pid(worker: subprocess.Popen[bytes]) -> int:
    children = Path(f"/proc/{worker.pid}/task/{worker.pid}/children").read_text().split()
    assert len(children) == 1
    return int(children[0])


def test_a_job_is_run_and_its_answer_names_its_documents(gateway: JobGateway, shared_worker: None) -> None:
    submission = submit_request(gateway, "plain")
    view = gateway.wait(submission, ME, 120)
    assert view.answer is not None and view.cache_status == "miss"
    assert f'"id":"{submission.id}"'.encode() in view.answer.stored.body
    assert view.answer.stored.acls == {"d1": ()}
    assert gateway.wait(submission, ME, 0).cache_status == "local"
    assert count_computations("plain") == 1


def test_progress_is_seen_while_it_runs(gateway: JobGateway, shared_worker: None) -> None:
    id = submit_query(gateway, "hold=1 steps=4")
    for step in range(4):
        wait_until(partial(has_progress, gateway, id, step / 4))
        release_computations("hold=1 steps=4", step + 1)
    assert wait_for_end(gateway, id).state == "done"


def test_a_killed_worker_process_does_not_lose_its_job(gateway: JobGateway, start_worker: StartWorker) -> None:
    worker = start_worker()
    id = submit_query(gateway, "hold=1")
    wait_until(lambda: get_job(gateway, id).state == "running" and count_computations("hold=1") == 1)
    os.kill(get_child_pid(worker), signal.SIGKILL)
    release_computations("hold=1", 2)
    ended = wait_for_end(gateway, id)
    assert (ended.state, ended.attempts) == ("done", 2)
    assert count_computations("hold=1") == 2


def test_a_killed_machine_does_not_lose_its_job(gateway: JobGateway, start_worker: StartWorker) -> None:
    worker = start_worker()
    id = submit_query(gateway, "hold=1")
    wait_until(lambda: count_computations("hold=1") == 1)
    for process in (get_child_pid(worker), worker.pid):
        os.kill(process, signal.SIGKILL)
    worker.wait()
    release_computations("hold=1", 2)
    start_worker()
    ended = wait_for_end(gateway, id)
    assert (ended.state, ended.attempts) == ("done", 2)


def test_a_job_that_kills_its_worker_three_times_fails(gateway: JobGateway, shared_worker: None) -> None:
    id = submit_query(gateway, "kill=99")
    ended = wait_for_end(gateway, id)
    assert ended.state == "failed" and ended.failure is not None and ended.failure.code == "worker-lost"
    assert count_computations("kill=99") == 3
    fine = submit_query(gateway, "after the poison")
    assert wait_for_end(gateway, fine).state == "done"


def test_a_job_that_kills_its_worker_once_is_done_in_the_end(gateway: JobGateway, shared_worker: None) -> None:
    assert wait_for_end(gateway, submit_query(gateway, "kill=1")).state == "done"
    assert count_computations("kill=1") == 2


def test_a_message_delivered_twice_computes_once(gateway: JobGateway, start_worker: StartWorker) -> None:
    id = submit_query(gateway, "twice")
    for _ in range(5):
        gateway.container.announce_job(id, "interactive")
    start_worker()
    assert wait_for_end(gateway, id).state == "done"
    last = submit_query(gateway, "behind them all")
    assert wait_for_end(gateway, last).state == "done"
    assert count_computations("twice") == 1


def test_a_job_whose_message_was_lost_is_found_by_the_reaper(
    gateway: JobGateway, start_worker: StartWorker, work_config: WorkConfig
) -> None:
    start_worker(changed=replace(work_config, limits=replace(work_config.limits, resend_seconds=0.5)))
    request = ComparisonRequest("papers", Side.from_id("d1"), Side("query", words="no message"))
    gateway.container.store.submit(NewJob("lost", "comparison", request.to_json(), "me"))
    assert wait_for_end(gateway, "lost").state == "done"


def test_the_last_caller_to_leave_stops_the_work(gateway: JobGateway, shared_worker: None) -> None:
    id = submit_query(gateway, "hold=1")
    wait_until(lambda: get_job(gateway, id).state == "running")
    gateway.container.store.leave(id, "me")
    assert wait_for_end(gateway, id).state == "cancelled"
    assert wait_for_end(gateway, submit_query(gateway, "the worker is free again")).state == "done"


def test_a_job_past_its_hard_limit_is_killed_and_counts_as_a_lost_worker(
    gateway: JobGateway, start_worker: StartWorker, work_config: WorkConfig
) -> None:
    limits = replace(work_config.limits, max_lost_workers=2)
    start_worker(changed=replace(work_config, soft_limit_seconds=1, hard_limit_seconds=2, limits=limits))
    ended = wait_for_end(gateway, submit_query(gateway, "stuck=yes"))
    assert ended.failure is not None and ended.failure.code == "worker-lost"
    assert count_computations("stuck=yes") == 2
    assert wait_for_end(gateway, submit_query(gateway, "after it")).state == "done"


def test_a_job_past_its_soft_limit_fails_and_says_so(
    gateway: JobGateway, start_worker: StartWorker, work_config: WorkConfig
) -> None:
    start_worker(changed=replace(work_config, soft_limit_seconds=1))
    ended = wait_for_end(gateway, submit_query(gateway, "hold=1"))
    assert ended.failure is not None and ended.failure.code == "time-limit"


def test_a_failure_keeps_its_code_and_a_crash_hides_its_details(gateway: JobGateway, shared_worker: None) -> None:
    failed = wait_for_end(gateway, submit_query(gateway, "fail=BadSide")).failure
    assert failed is not None and (failed.code, failed.status) == ("bad-side", 400)
    crashed = wait_for_end(gateway, submit_query(gateway, "crash=yes")).failure
    assert crashed is not None and crashed.code == "internal" and "secret" not in crashed.detail


def test_a_temporary_error_is_tried_three_times(gateway: JobGateway, shared_worker: None) -> None:
    ended = wait_for_end(gateway, submit_query(gateway, "fail=EngineUnavailable"))
    assert ended.failure is not None and ended.failure.retryable
    assert count_computations("fail=EngineUnavailable") == 3


def test_two_workers_share_the_jobs_and_compute_each_once(
    gateway: JobGateway, shared_worker: None, start_worker: StartWorker
) -> None:
    start_worker()
    names = [f"sleep=0.1 n{i}" for i in range(20)]
    ids = [submit_query(gateway, name) for name in names]
    assert {wait_for_end(gateway, id).state for id in ids} == {"done"}
    assert [count_computations(name) for name in names] == [1] * 20


def test_each_queue_has_workers_of_its_own(gateway: JobGateway, start_worker: StartWorker) -> None:
    start_worker("interactive")
    request = ComparisonRequest("papers", Side.from_id("d1"), Side("query", words="in bulk"))
    gateway.submit(NewJob("bulky", "comparison", request.to_json(), "me", queue="bulk"))
    assert wait_for_end(gateway, submit_query(gateway, "at once")).state == "done"
    assert get_job(gateway, "bulky").state == "queued"
    start_worker("bulk")
    assert wait_for_end(gateway, "bulky").state == "done"


def test_equal_requests_made_at_once_are_computed_once(gateway: JobGateway, shared_worker: None) -> None:
    with ThreadPoolExecutor(32) as pool:
        ids = set(pool.map(lambda n: submit_query(gateway, "sleep=0.5", Caller(f"caller {n}")), range(500)))
    assert len(ids) == 1
    assert wait_for_end(gateway, ids.pop()).state == "done"
    assert count_computations("sleep=0.5") == 1


def test_a_terminated_worker_finishes_its_running_job(
    gateway: JobGateway, start_worker: StartWorker, tmp_path: Path
) -> None:
    worker = start_worker()
    id = submit_query(gateway, "hold=1")
    wait_until(lambda: count_computations("hold=1") == 1)
    worker.terminate()
    wait_until(lambda: b"Warm shutdown" in (tmp_path / "worker-0.log").read_bytes())
    assert get_job(gateway, id).state == "running"
    release_computations("hold=1")
    assert worker.wait(timeout=120) == 0
    assert get_job(gateway, id).state == "done"
    assert count_computations("hold=1") == 1
