"""Both job stores, in memory and in a real Valkey, pass the same tests."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from indexer.errors import Overloaded
from tests.support.polling import wait_until
from worker.jobs.config import JobLimits
from worker.jobs.job import Failure, NewJob, StoredAnswer
from worker.jobs.memory_store import MemoryJobStore
from worker.jobs.redis_store import RedisJobStore
from worker.jobs.statistics import DurationRecorder
from worker.jobs.store import JobStore
from worker.redis_connection import connect

MakeStore = Callable[..., JobStore]
SHORT_SECONDS = 0.05


@pytest.fixture(params=["memory", "valkey"])
def make_store(request: pytest.FixtureRequest) -> Iterator[MakeStore]:
    if request.param == "memory":
        yield lambda **limits: MemoryJobStore(JobLimits(**limits))
        return
    with connect(request.getfixturevalue("valkey_url")) as client:
        yield lambda **limits: RedisJobStore(client, JobLimits(**limits), f"test-{uuid.uuid4().hex}:")


def make_job(id: str = "job", caller: str = "me") -> NewJob:
    return NewJob(id, "comparison", '{"x": 1}', caller)


def make_answer(body: bytes = b"{}") -> StoredAnswer:
    return StoredAnswer(body, {"d1": ("staff",), "d2": ()})


def get_state(store: JobStore, id: str = "job") -> str | None:
    job = store.get(id)
    return job.state if job else None


def test_a_job_goes_from_queued_to_done(make_store: MakeStore) -> None:
    store = make_store()
    assert store.submit(make_job())
    assert get_state(store) == "queued"
    claim = store.start("job", "w1")
    assert claim is not None and claim.payload == '{"x": 1}' and claim.attempts == 1
    assert store.report_progress(claim, 0.5, "solving")
    job = store.get("job")
    assert job is not None and (job.state, job.progress, job.message) == ("running", 0.5, "solving")
    assert store.finish(claim, make_answer(b'{"a":1}'))
    job = store.get("job")
    assert job is not None and job.state == "done" and job.answer is not None
    assert job.answer.body == b'{"a":1}' and job.answer.acls == {"d1": ("staff",), "d2": ()}
    assert job.answer.expires_at > job.answer.stored_at > 0


def test_the_vector_of_a_page_is_kept_with_its_answer_and_counts(make_store: MakeStore) -> None:
    store = make_store(max_answer_bytes=100)
    vector = bytes(range(60))
    for id in ("first", "second"):
        store.put_answer(make_job(id), replace(make_answer(), query_vector=vector))
    job = store.get("second")
    assert job is not None and job.answer is not None and job.answer.query_vector == vector
    assert get_state(store, "first") == "expired"
    store.put_answer(make_job("second"), make_answer())
    job = store.get("second")
    assert job is not None and job.answer is not None and job.answer.query_vector is None


def test_an_unknown_job_is_none(make_store: MakeStore) -> None:
    store = make_store()
    assert store.get("nope") is None
    assert store.start("nope", "w") is None
    assert store.leave("nope", "me") is None


def test_submitting_twice_makes_one_job(make_store: MakeStore) -> None:
    store = make_store()
    assert store.submit(make_job())
    assert not store.submit(make_job(caller="you"))
    claim = store.start("job", "w")
    assert claim is not None
    assert not store.submit(make_job())
    store.finish(claim, make_answer())
    assert not store.submit(make_job())


def test_a_redelivered_message_starts_nothing(make_store: MakeStore) -> None:
    store = make_store()
    store.submit(make_job())
    claim = store.start("job", "w1")
    assert claim is not None
    assert store.start("job", "w2") is None
    store.finish(claim, make_answer())
    assert store.start("job", "w2") is None


def test_a_job_whose_lease_expired_is_requeued_and_its_old_worker_cannot_write(make_store: MakeStore) -> None:
    store = make_store(lease_seconds=SHORT_SECONDS)
    store.submit(make_job())
    old = store.start("job", "w1")
    assert old is not None
    wait_until(lambda: store.reap_lost_jobs() == [("job", "interactive")])
    assert get_state(store) == "queued"
    fresh = store.start("job", "w2")
    assert fresh is not None and fresh.attempts == 2
    assert not store.renew(old)
    assert not store.report_progress(old, 0.9, "stale")
    assert not store.put_part(old, "x", b"stale")
    assert not store.finish(old, make_answer(b"stale"))
    assert not store.fail(old, Failure("internal", "stale"))
    assert not store.cancel(old)
    assert not store.requeue(old, 0)
    assert store.finish(fresh, make_answer(b"good"))
    job = store.get("job")
    assert job is not None and job.answer is not None and job.answer.body == b"good"
    assert store.get_parts("job") == {}


def test_a_renewed_lease_is_left_alone(make_store: MakeStore) -> None:
    store = make_store(lease_seconds=60.0)
    store.submit(make_job())
    claim = store.start("job", "w1")
    assert claim is not None and store.renew(claim)
    assert store.reap_lost_jobs() == []
    assert get_state(store) == "running"


def test_a_job_that_loses_three_workers_fails(make_store: MakeStore) -> None:
    store = make_store(lease_seconds=SHORT_SECONDS, resend_seconds=SHORT_SECONDS)
    store.submit(make_job())
    for attempt in (1, 2, 3):
        claim = store.start("job", "w")
        assert claim is not None and claim.attempts == attempt
        wait_until(lambda: store.reap_lost_jobs() is not None and get_state(store) != "running")
    job = store.get("job")
    assert job is not None and job.state == "failed" and job.failure is not None
    assert job.failure.code == "worker-lost" and "3 times" in job.failure.detail
    assert store.start("job", "w") is None
    assert not store.submit(make_job()), "the failure is the answer for a while"


def test_attempts_that_met_an_error_do_not_count_as_lost_workers(make_store: MakeStore) -> None:
    store = make_store(lease_seconds=SHORT_SECONDS, resend_seconds=SHORT_SECONDS)
    store.submit(make_job())
    for _ in range(store.limits.max_lost_workers):
        claim = store.start("job", "w")
        assert claim is not None and store.requeue(claim, delay=SHORT_SECONDS)
        wait_until(lambda: store.reap_lost_jobs() == [("job", "interactive")])
    assert store.start("job", "w") is not None
    wait_until(lambda: store.reap_lost_jobs() == [("job", "interactive")])
    assert get_state(store) == "queued"


def test_a_queued_job_whose_message_was_lost_is_announced_again(make_store: MakeStore) -> None:
    store = make_store(resend_seconds=SHORT_SECONDS)
    store.submit(make_job())
    wait_until(lambda: store.reap_lost_jobs() == [("job", "interactive")])
    assert store.start("job", "w") is not None


def test_a_temporary_failure_can_be_submitted_again_at_once(make_store: MakeStore) -> None:
    store = make_store()
    store.submit(make_job())
    claim = store.start("job", "w")
    assert claim is not None and store.fail(claim, Failure("engine-unavailable", "down", 503, retryable=True))
    assert get_state(store) == "failed"
    assert store.submit(make_job())
    assert get_state(store) == "queued"


def test_a_permanent_failure_is_kept_until_its_ttl_ends(make_store: MakeStore) -> None:
    store = make_store(failure_ttl=SHORT_SECONDS)
    store.submit(make_job())
    claim = store.start("job", "w")
    assert claim is not None and store.fail(claim, Failure("bad-side", "no", 400))
    wait_until(lambda: store.submit(make_job()))
    job = store.get("job")
    assert job is not None and job.failure is None and job.attempts == 0


def test_work_goes_on_until_the_last_caller_leaves(make_store: MakeStore) -> None:
    store = make_store()
    store.submit(make_job(caller="me"))
    store.submit(make_job(caller="you"))
    claim = store.start("job", "w")
    assert claim is not None
    store.leave("job", "me")
    store.leave("job", "stranger")
    assert store.renew(claim)
    store.leave("job", "you")
    assert not store.renew(claim)
    assert not store.report_progress(claim, 0.1, "")
    assert store.cancel(claim)
    assert get_state(store) == "cancelled"
    assert store.submit(make_job())


def test_a_queued_job_is_cancelled_when_its_last_caller_leaves(make_store: MakeStore) -> None:
    store = make_store()
    store.submit(make_job())
    job = store.leave("job", "me")
    assert job is not None and job.state == "cancelled"
    assert store.start("job", "w") is None
    assert store.reap_lost_jobs() == []


def test_a_new_caller_keeps_an_abandoned_job_running(make_store: MakeStore) -> None:
    store = make_store()
    store.submit(make_job())
    claim = store.start("job", "w")
    assert claim is not None
    store.leave("job", "me")
    store.submit(make_job(caller="you"))
    assert store.renew(claim)


def test_an_abandoned_job_that_lost_its_worker_is_cancelled(make_store: MakeStore) -> None:
    store = make_store(lease_seconds=SHORT_SECONDS)
    store.submit(make_job())
    assert store.start("job", "w") is not None
    store.leave("job", "me")
    wait_until(lambda: store.reap_lost_jobs() == [] and get_state(store) == "cancelled")


def test_an_answer_expires_and_is_remembered_as_expired(make_store: MakeStore) -> None:
    store = make_store(answer_ttl=SHORT_SECONDS)
    store.submit(make_job())
    claim = store.start("job", "w")
    assert claim is not None
    store.finish(claim, make_answer())
    wait_until(lambda: get_state(store) == "expired")
    assert store.submit(make_job()), "a repeated request is computed again"


def test_the_least_recently_read_answers_are_evicted(make_store: MakeStore) -> None:
    store = make_store(max_answer_bytes=250)
    for id in ("one", "two"):
        store.put_answer(make_job(id), make_answer(b"x" * 100))
    assert get_state(store, "one") == "done"  # read: now "two" is the oldest
    store.put_answer(make_job("three"), make_answer(b"x" * 100))
    assert [get_state(store, id) for id in ("one", "two", "three")] == ["done", "expired", "done"]


def test_parts_can_be_read_before_the_job_is_done(make_store: MakeStore) -> None:
    store = make_store()
    store.submit(NewJob("page", "explanation", "{}", "me"))
    claim = store.start("page", "w")
    assert claim is not None
    store.put_part(claim, "hit é", b"1")
    store.put_part(claim, "hit 2", b"2")
    assert store.get_parts("page") == {"hit é": b"1", "hit 2": b"2"}


def test_a_job_in_chunks_keeps_its_position_and_resets_its_attempts(make_store: MakeStore) -> None:
    store = make_store()
    store.submit(NewJob("bulk", "ingest", "{}", "me", queue="bulk"))
    claim = store.start("bulk", "w")
    assert claim is not None and claim.next_chunk == 0
    assert store.requeue(claim, 0, next_chunk=1)
    claim = store.start("bulk", "w")
    assert claim is not None and (claim.next_chunk, claim.attempts) == (1, 1)


def test_a_retry_counts_as_an_attempt(make_store: MakeStore) -> None:
    store = make_store()
    store.submit(make_job())
    claim = store.start("job", "w")
    assert claim is not None and store.requeue(claim, SHORT_SECONDS)
    wait_until(lambda: store.reap_lost_jobs() == [("job", "interactive")])
    claim = store.start("job", "w")
    assert claim is not None and claim.attempts == 2


def test_too_many_open_jobs_are_refused_until_one_ends(make_store: MakeStore) -> None:
    store = make_store(max_open_jobs=2)
    store.submit(make_job("one"))
    store.submit(make_job("two"))
    with pytest.raises(Overloaded):
        store.submit(make_job("three"))
    assert not store.submit(make_job("two")), "joining an open job is always possible"
    store.leave("one", "me")
    assert store.submit(make_job("three"))


def test_an_answer_stored_directly_ends_the_running_job(make_store: MakeStore) -> None:
    store = make_store()
    store.submit(make_job())
    claim = store.start("job", "w")
    assert claim is not None
    store.put_answer(make_job(), make_answer(b"by-product"))
    assert not store.finish(claim, make_answer(b"late"))
    job = store.get("job")
    assert job is not None and job.answer is not None and job.answer.body == b"by-product"


def test_statistics_count_open_jobs_and_the_outcomes_of_ended_ones(make_store: MakeStore) -> None:
    store = make_store(max_lost_workers=1, lease_seconds=SHORT_SECONDS)
    for id in ("queued", "running", "done", "failed", "cancelled"):
        assert store.submit(make_job(id))
    done, failed = store.start("done", "w"), store.start("failed", "w")
    assert done is not None and failed is not None
    assert store.finish(done, make_answer()) and store.fail(failed, Failure("too-large", "no"))
    store.leave("cancelled", "me")
    assert store.start("running", "w") is not None
    statistics = store.get_statistics()
    assert statistics.open_jobs == {("interactive", "queued"): 1, ("interactive", "running"): 1}
    assert statistics.ended_jobs == {("done", ""): 1, ("failed", "too-large"): 1, ("cancelled", ""): 1}
    wait_until(lambda: store.get_statistics().oldest_queued_seconds["interactive"] > 0.01)
    wait_until(lambda: bool(store.reap_lost_jobs()) or ("failed", "worker-lost") in store.get_statistics().ended_jobs)
    wait_until(lambda: ("failed", "worker-lost") in store.get_statistics().ended_jobs)
    assert ("interactive", "running") not in store.get_statistics().open_jobs


def get_ages(store: JobStore) -> tuple[float, float]:
    """Return the seconds that the only job has been in its queue, and has been without progress."""
    statistics = store.get_statistics()
    return statistics.oldest_queued_seconds.get("interactive", 0.0), statistics.stalled_seconds["interactive"]


def wait_for_age(store: JobStore, seconds: float) -> None:
    wait_until(lambda: get_ages(store)[1] >= seconds)


def test_a_retried_job_restarts_its_queue_age_but_not_its_stalled_age(make_store: MakeStore) -> None:
    store = make_store()
    store.submit(make_job())
    wait_for_age(store, 0.3)
    queue_age, stalled_age = get_ages(store)
    assert queue_age == stalled_age
    claim = store.start("job", "w")
    assert claim is not None and store.requeue(claim, delay=SHORT_SECONDS, next_chunk=claim.next_chunk)
    queue_age, stalled_age = get_ages(store)
    assert stalled_age - queue_age >= 0.3


def test_a_job_that_lost_its_worker_restarts_its_queue_age(make_store: MakeStore) -> None:
    store = make_store(lease_seconds=0.3)
    store.submit(make_job())
    assert store.start("job", "w") is not None
    wait_until(lambda: store.reap_lost_jobs() == [("job", "interactive")])
    queue_age, stalled_age = get_ages(store)
    assert stalled_age - queue_age >= 0.3


def test_a_job_announced_again_keeps_its_ages(make_store: MakeStore) -> None:
    store = make_store(resend_seconds=0.3)
    store.submit(make_job())
    wait_until(lambda: store.reap_lost_jobs() == [("job", "interactive")])
    queue_age, stalled_age = get_ages(store)
    assert queue_age == stalled_age >= 0.3


def test_a_finished_chunk_restarts_both_ages(make_store: MakeStore) -> None:
    store = make_store()
    store.submit(make_job())
    wait_for_age(store, 0.3)
    before = get_ages(store)[1]
    claim = store.start("job", "w")
    assert claim is not None and store.requeue(claim, delay=0, next_chunk=claim.next_chunk + 1)
    queue_age, stalled_age = get_ages(store)
    assert queue_age == stalled_age
    wait_for_age(store, before)


def test_durations_of_elasticsearch_requests_add_up_over_workers(valkey_url: str) -> None:
    recorder = DurationRecorder()
    with connect(valkey_url) as client:
        store = RedisJobStore(client, JobLimits(), f"test-{uuid.uuid4().hex}:")
        for seconds in (0.002, 0.003, 0.5, 100.0):
            recorder.record(seconds)
            store.record_durations(recorder.drain())
        durations = store.get_statistics().elasticsearch_durations
    assert durations.seconds == pytest.approx(100.505)
    assert dict(durations.cumulative_counts()) == pytest.approx(
        {"0.003": 2, "0.01": 2, "0.03": 2, "0.1": 2, "0.3": 2, "1.0": 3, "3.0": 3, "10.0": 3, "+Inf": 4}
    )
    assert not recorder.drain().counts
