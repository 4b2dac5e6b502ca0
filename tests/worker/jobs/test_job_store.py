"""One suite for both stores: in memory and in a real Valkey."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator

import pytest

from indexer.errors import Overloaded
from worker.jobs.job import Failure, JobLimits, NewJob, StoredAnswer
from worker.jobs.memory_store import MemoryJobStore
from worker.jobs.redis_store import RedisJobStore
from worker.jobs.statistics import DurationRecorder
from worker.jobs.store import JobStore
from worker.redis_connection import connect

Make = Callable[..., JobStore]
SOON = 0.05


@pytest.fixture(params=["memory", "valkey"])
def make(request: pytest.FixtureRequest) -> Iterator[Make]:
    if request.param == "memory":
        yield lambda **limits: MemoryJobStore(JobLimits(**limits))
        return
    with connect(request.getfixturevalue("valkey_url")) as client:
        yield lambda **limits: RedisJobStore(client, JobLimits(**limits), f"test-{uuid.uuid4().hex}:")


def new(id: str = "job", caller: str = "me") -> NewJob:
    return NewJob(id, "comparison", '{"x": 1}', caller)


def answer(body: bytes = b"{}") -> StoredAnswer:
    return StoredAnswer(body, {"d1": ("staff",), "d2": ()})


def state(store: JobStore, id: str = "job") -> str | None:
    job = store.get(id)
    return job.state if job else None


def after(check: Callable[[], bool]) -> None:
    """Wait until it holds (store clocks cannot be turned)."""
    deadline = time.monotonic() + 120
    while not check():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_job_goes_from_queued_to_done(make: Make) -> None:
    store = make()
    assert store.submit(new())
    assert state(store) == "queued"
    claim = store.start("job", "w1")
    assert claim is not None and claim.payload == '{"x": 1}' and claim.attempts == 1
    assert store.report_progress(claim, 0.5, "solving")
    job = store.get("job")
    assert job is not None and (job.state, job.progress, job.message) == ("running", 0.5, "solving")
    assert store.finish(claim, answer(b'{"a":1}'))
    job = store.get("job")
    assert job is not None and job.state == "done" and job.answer is not None
    assert job.answer.body == b'{"a":1}' and job.answer.acls == {"d1": ("staff",), "d2": ()}
    assert job.answer.expires_at > job.answer.stored_at > 0


def test_an_unheard_of_job_is_none(make: Make) -> None:
    store = make()
    assert store.get("nope") is None
    assert store.start("nope", "w") is None
    assert store.leave("nope", "me") is None


def test_asking_twice_is_one_job(make: Make) -> None:
    store = make()
    assert store.submit(new())
    assert not store.submit(new(caller="you"))
    claim = store.start("job", "w")
    assert claim is not None
    assert not store.submit(new())
    store.finish(claim, answer())
    assert not store.submit(new())


def test_a_redelivered_message_starts_nothing(make: Make) -> None:
    store = make()
    store.submit(new())
    claim = store.start("job", "w1")
    assert claim is not None
    assert store.start("job", "w2") is None
    store.finish(claim, answer())
    assert store.start("job", "w2") is None


def test_a_lost_lease_is_handed_back_and_the_old_worker_cannot_write(make: Make) -> None:
    store = make(lease_seconds=SOON)
    store.submit(new())
    old = store.start("job", "w1")
    assert old is not None
    after(lambda: store.reap() == [("job", "interactive")])
    assert state(store) == "queued"
    fresh = store.start("job", "w2")
    assert fresh is not None and fresh.attempts == 2
    assert not store.renew(old)
    assert not store.report_progress(old, 0.9, "stale")
    assert not store.put_part(old, "x", b"stale")
    assert not store.finish(old, answer(b"stale"))
    assert not store.fail(old, Failure("internal", "stale"))
    assert not store.cancel(old)
    assert not store.requeue(old, 0)
    assert store.finish(fresh, answer(b"good"))
    job = store.get("job")
    assert job is not None and job.answer is not None and job.answer.body == b"good"
    assert store.get_parts("job") == {}


def test_a_renewed_lease_is_left_alone(make: Make) -> None:
    store = make(lease_seconds=60.0)
    store.submit(new())
    claim = store.start("job", "w1")
    assert claim is not None and store.renew(claim)
    assert store.reap() == []
    assert state(store) == "running"


def test_a_job_that_loses_three_workers_is_set_aside(make: Make) -> None:
    store = make(lease_seconds=SOON, resend_seconds=SOON)
    store.submit(new())
    for attempt in (1, 2, 3):
        claim = store.start("job", "w")
        assert claim is not None and claim.attempts == attempt
        after(lambda: store.reap() is not None and state(store) != "running")
    job = store.get("job")
    assert job is not None and job.state == "failed" and job.failure is not None
    assert job.failure.code == "worker-lost" and "3 times" in job.failure.detail
    assert store.start("job", "w") is None
    assert not store.submit(new()), "the failure is the answer for a while"


def test_tries_that_met_an_error_do_not_count_as_lost_workers(make: Make) -> None:
    store = make(lease_seconds=SOON, resend_seconds=SOON)
    store.submit(new())
    for _ in range(store.limits.max_lost_workers):
        claim = store.start("job", "w")
        assert claim is not None and store.requeue(claim, delay=SOON)
        after(lambda: store.reap() == [("job", "interactive")])
    assert store.start("job", "w") is not None
    after(lambda: store.reap() == [("job", "interactive")])
    assert state(store) == "queued"


def test_a_queued_job_whose_message_was_lost_is_announced_again(make: Make) -> None:
    store = make(resend_seconds=SOON)
    store.submit(new())
    after(lambda: store.reap() == [("job", "interactive")])
    assert store.start("job", "w") is not None


def test_a_passing_failure_may_be_asked_again_at_once(make: Make) -> None:
    store = make()
    store.submit(new())
    claim = store.start("job", "w")
    assert claim is not None and store.fail(claim, Failure("engine-unavailable", "down", 503, retryable=True))
    assert state(store) == "failed"
    assert store.submit(new())
    assert state(store) == "queued"


def test_a_lasting_failure_is_held_for_a_while(make: Make) -> None:
    store = make(failure_ttl=SOON)
    store.submit(new())
    claim = store.start("job", "w")
    assert claim is not None and store.fail(claim, Failure("bad-side", "no", 400))
    after(lambda: store.submit(new()))
    job = store.get("job")
    assert job is not None and job.failure is None and job.attempts == 0


def test_work_goes_on_until_the_last_caller_leaves(make: Make) -> None:
    store = make()
    store.submit(new(caller="me"))
    store.submit(new(caller="you"))
    claim = store.start("job", "w")
    assert claim is not None
    store.leave("job", "me")
    store.leave("job", "stranger")
    assert store.renew(claim)
    store.leave("job", "you")
    assert not store.renew(claim)
    assert not store.report_progress(claim, 0.1, "")
    assert store.cancel(claim)
    assert state(store) == "cancelled"
    assert store.submit(new())


def test_a_queued_job_nobody_wants_is_cancelled_at_once(make: Make) -> None:
    store = make()
    store.submit(new())
    job = store.leave("job", "me")
    assert job is not None and job.state == "cancelled"
    assert store.start("job", "w") is None
    assert store.reap() == []


def test_whoever_asks_again_in_time_saves_the_job(make: Make) -> None:
    store = make()
    store.submit(new())
    claim = store.start("job", "w")
    assert claim is not None
    store.leave("job", "me")
    store.submit(new(caller="you"))
    assert store.renew(claim)


def test_a_lost_and_unwanted_job_is_cancelled_not_rerun(make: Make) -> None:
    store = make(lease_seconds=SOON)
    store.submit(new())
    assert store.start("job", "w") is not None
    store.leave("job", "me")
    after(lambda: store.reap() == [] and state(store) == "cancelled")


def test_an_answer_expires_and_is_remembered_as_expired(make: Make) -> None:
    store = make(answer_ttl=SOON)
    store.submit(new())
    claim = store.start("job", "w")
    assert claim is not None
    store.finish(claim, answer())
    after(lambda: state(store) == "expired")
    assert store.submit(new()), "asked again it is computed again"


def test_the_least_recently_read_answers_make_room(make: Make) -> None:
    store = make(max_answer_bytes=250)
    for id in ("one", "two"):
        store.put_answer(new(id), answer(b"x" * 100))
    assert state(store, "one") == "done"  # read: now "two" is the oldest
    store.put_answer(new("three"), answer(b"x" * 100))
    assert [state(store, id) for id in ("one", "two", "three")] == ["done", "expired", "done"]


def test_parts_arrive_before_the_whole(make: Make) -> None:
    store = make()
    store.submit(NewJob("page", "explanation", "{}", "me"))
    claim = store.start("page", "w")
    assert claim is not None
    store.put_part(claim, "hit é", b"1")
    store.put_part(claim, "hit 2", b"2")
    assert store.get_parts("page") == {"hit é": b"1", "hit 2": b"2"}


def test_a_job_in_pieces_keeps_its_place_and_starts_its_attempts_over(make: Make) -> None:
    store = make()
    store.submit(NewJob("bulk", "ingest", "{}", "me", queue="bulk"))
    claim = store.start("bulk", "w")
    assert claim is not None and claim.next_chunk == 0
    assert store.requeue(claim, 0, next_chunk=1)
    claim = store.start("bulk", "w")
    assert claim is not None and (claim.next_chunk, claim.attempts) == (1, 1)


def test_another_try_counts_its_attempts(make: Make) -> None:
    store = make()
    store.submit(new())
    claim = store.start("job", "w")
    assert claim is not None and store.requeue(claim, SOON)
    after(lambda: store.reap() == [("job", "interactive")])
    claim = store.start("job", "w")
    assert claim is not None and claim.attempts == 2


def test_too_many_open_jobs_are_refused_and_room_returns(make: Make) -> None:
    store = make(max_open_jobs=2)
    store.submit(new("one"))
    store.submit(new("two"))
    with pytest.raises(Overloaded):
        store.submit(new("three"))
    assert not store.submit(new("two")), "joining an open job is always possible"
    store.leave("one", "me")
    assert store.submit(new("three"))


def test_an_answer_put_aside_ends_the_job_under_way(make: Make) -> None:
    store = make()
    store.submit(new())
    claim = store.start("job", "w")
    assert claim is not None
    store.put_answer(new(), answer(b"by-product"))
    assert not store.finish(claim, answer(b"late"))
    job = store.get("job")
    assert job is not None and job.answer is not None and job.answer.body == b"by-product"


def test_a_census_tells_what_there_is_to_do_and_what_came_of_the_rest(make: Make) -> None:
    store = make(max_lost_workers=1, lease_seconds=SOON)
    for id in ("queued", "running", "done", "failed", "cancelled"):
        assert store.submit(new(id))
    done, failed = store.start("done", "w"), store.start("failed", "w")
    assert done is not None and failed is not None
    assert store.finish(done, answer()) and store.fail(failed, Failure("too-large", "no"))
    store.leave("cancelled", "me")
    assert store.start("running", "w") is not None
    census = store.get_statistics()
    assert census.open_jobs == {("interactive", "queued"): 1, ("interactive", "running"): 1}
    assert census.ended_jobs == {("done", ""): 1, ("failed", "too-large"): 1, ("cancelled", ""): 1}
    after(lambda: store.get_statistics().oldest_queued_seconds["interactive"] > 0.01)
    after(lambda: bool(store.reap()) or ("failed", "worker-lost") in store.get_statistics().ended_jobs)
    after(lambda: ("failed", "worker-lost") in store.get_statistics().ended_jobs)
    assert ("interactive", "running") not in store.get_statistics().open_jobs


def ages(store: JobStore) -> tuple[float, float]:
    """How long the only job has been in its queue, and has got no further."""
    census = store.get_statistics()
    return census.oldest_queued_seconds.get("interactive", 0.0), census.stalled_seconds["interactive"]


def aged(store: JobStore, seconds: float) -> None:
    after(lambda: ages(store)[1] >= seconds)


def test_a_job_tried_again_is_new_in_its_queue_but_has_got_no_further(make: Make) -> None:
    store = make()
    store.submit(new())
    aged(store, 0.3)
    queued, still = ages(store)
    assert queued == still
    claim = store.start("job", "w")
    assert claim is not None and store.requeue(claim, delay=SOON, next_chunk=claim.next_chunk)
    queued, still = ages(store)
    assert still - queued >= 0.3


def test_a_job_that_lost_its_worker_is_new_in_its_queue(make: Make) -> None:
    store = make(lease_seconds=0.3)
    store.submit(new())
    assert store.start("job", "w") is not None
    after(lambda: store.reap() == [("job", "interactive")])
    queued, still = ages(store)
    assert still - queued >= 0.3


def test_a_job_announced_again_goes_on_ageing(make: Make) -> None:
    store = make(resend_seconds=0.3)
    store.submit(new())
    after(lambda: store.reap() == [("job", "interactive")])
    queued, still = ages(store)
    assert queued == still >= 0.3


def test_a_job_that_did_a_piece_has_got_on(make: Make) -> None:
    store = make()
    store.submit(new())
    aged(store, 0.3)
    before = ages(store)[1]
    claim = store.start("job", "w")
    assert claim is not None and store.requeue(claim, delay=0, next_chunk=claim.next_chunk + 1)
    queued, still = ages(store)
    assert queued == still
    aged(store, before)  # it starts over


def test_what_workers_waited_for_elasticsearch_adds_up(valkey_url: str) -> None:
    watch = DurationRecorder()
    with connect(valkey_url) as client:
        store = RedisJobStore(client, JobLimits(), f"test-{uuid.uuid4().hex}:")
        for seconds in (0.002, 0.003, 0.5, 100.0):
            watch.record(seconds)
            store.record_durations(watch.drain())
        found = store.get_statistics().elasticsearch_durations
    assert found.seconds == pytest.approx(100.505)
    assert dict(found.cumulative_counts()) == pytest.approx(
        {"0.003": 2, "0.01": 2, "0.03": 2, "0.1": 2, "0.3": 2, "1.0": 3, "3.0": 3, "10.0": 3, "+Inf": 4}
    )
    assert not watch.drain().counts
