"""Clocks that are set by an hour: of the process, and of the Redis server.

A server whose clock was set back is imitated exactly: every time and expiry that it has stored lies as much later.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, cast

import pytest
import redis

from tests.support.polling import wait_until
from webapi.auth.rate_limit import RedisCounter
from worker.cache.answers import AnswerCache
from worker.cache.key_value import RedisKeyValueStore
from worker.jobs.config import JobLimits
from worker.jobs.job import Failure, NewJob, StoredAnswer
from worker.jobs.memory_store import MemoryJobStore
from worker.jobs.redis_store import RedisJobStore
from worker.redis_connection import connect

HOUR = 3600.0
TIME_FIELDS = ("queued_at", "moved_at", "retry_at", "stored", "expires")
JOB = NewJob("job", "comparison", "{}", "me")
QUICK = JobLimits(lease_seconds=0.05, resend_seconds=5.0)


@pytest.fixture
def client(valkey_url: str) -> Iterator[redis.Redis]:
    with connect(valkey_url) as client:
        yield client


@pytest.fixture
def prefix() -> str:
    return f"test-{uuid.uuid4().hex}:"


def set_server_clock(client: redis.Redis, prefix: str, jump_seconds: float) -> None:
    """Bring what the server has stored into the state in which it would be if its clock had been set."""
    for key in list(client.scan_iter(match=prefix + "*")):
        kind, ttl = cast("bytes", client.type(key)), cast("int", client.pttl(key))
        if kind == b"zset":
            scores = cast("list[tuple[bytes, float]]", client.zrange(key, 0, -1, withscores=True))
            client.zadd(key, {member: score - jump_seconds for member, score in scores})
        elif kind == b"hash":
            fields = cast("dict[bytes, bytes]", client.hgetall(key))
            times = {name: float(fields[name.encode()]) for name in TIME_FIELDS if name.encode() in fields}
            if times:
                client.hset(key, mapping=cast("Any", {name: value - jump_seconds for name, value in times.items()}))
        elif key.endswith(b":clock") or b":rate:" in key:
            client.set(key, float(cast("bytes", client.get(key))) - jump_seconds, keepttl=True)
        if ttl > 0:
            client.pexpire(key, int(ttl - jump_seconds * 1000))  # in the past: it is gone


def set_own_clock(monkeypatch: pytest.MonkeyPatch, jump_seconds: float) -> None:
    read_clock: Callable[[], float] = time.time
    monkeypatch.setattr(time, "time", lambda: read_clock() + jump_seconds)


def test_the_job_of_a_lost_worker_is_found_after_the_servers_clock_was_set_back(
    client: redis.Redis, prefix: str
) -> None:
    store = RedisJobStore(client, QUICK, prefix)
    assert store.reap_lost_jobs() == [] and store.submit(JOB) and store.start("job", "lost") is not None
    set_server_clock(client, prefix, -HOUR)
    wait_until(lambda: store.reap_lost_jobs() == [("job", "interactive")])


def test_a_job_whose_lease_was_renewed_since_the_clock_was_set_back_goes_on(client: redis.Redis, prefix: str) -> None:
    store = RedisJobStore(client, JobLimits(lease_seconds=60.0), prefix)
    store.submit(JOB)
    claim = store.start("job", "living")
    assert claim is not None and store.reap_lost_jobs() == []
    set_server_clock(client, prefix, -HOUR)
    assert store.renew(claim) and store.reap_lost_jobs() == []
    assert store.finish(claim, StoredAnswer(b"{}"))


def test_a_job_is_computed_again_with_one_effect_after_the_servers_clock_was_set_forward(
    client: redis.Redis, prefix: str
) -> None:
    store = RedisJobStore(client, JobLimits(lease_seconds=60.0), prefix)
    store.submit(JOB)
    old = store.start("job", "old")
    assert old is not None and store.reap_lost_jobs() == []
    set_server_clock(client, prefix, HOUR)
    assert store.reap_lost_jobs() == [("job", "interactive")]
    new = store.start("job", "new")
    assert new is not None and not store.finish(old, StoredAnswer(b"old")) and store.finish(new, StoredAnswer(b"new"))


def test_the_lock_of_a_lost_reaper_expires_when_the_servers_clock_was_set_back(
    client: redis.Redis, prefix: str
) -> None:
    store = RedisJobStore(client, JobLimits(), prefix)
    assert store.acquire_lock("reaper", "lost", 6.0) and not store.acquire_lock("reaper", "new", 6.0)
    set_server_clock(client, prefix, -HOUR)
    assert store.acquire_lock("reaper", "new", 6.0)


def test_a_failure_stands_no_longer_when_the_servers_clock_was_set_back(client: redis.Redis, prefix: str) -> None:
    store = RedisJobStore(client, JobLimits(), prefix)
    store.submit(JOB)
    claim = store.start("job", "worker")
    assert claim is not None and store.fail(claim, Failure("internal", "broken")) and not store.submit(JOB)
    set_server_clock(client, prefix, -HOUR)
    assert store.submit(JOB)


def test_cached_rights_expire_in_time_when_the_servers_clock_was_set_back(client: redis.Redis, prefix: str) -> None:
    store, values = RedisJobStore(client, JobLimits(), prefix), RedisKeyValueStore(client, prefix)
    store.reap_lost_jobs()
    values.set({"acl:papers:1:d1": b"x", "doc:papers:1:d1": b"x"}, 0.2)
    values.set({"piece:job:0": b"x"}, 300.0)
    set_server_clock(client, prefix, -HOUR)
    store.reap_lost_jobs()
    wait_until(lambda: values.get(["acl:papers:1:d1", "doc:papers:1:d1"]) == [None, None])
    assert values.get(["piece:job:0"]) == [b"x"]


def test_a_caller_is_refused_for_a_minute_at_most_when_the_servers_clock_was_set_back(
    client: redis.Redis, prefix: str
) -> None:
    counter = RedisCounter(client, prefix)
    while counter.count_request("anna", 60) == 0:
        pass
    set_server_clock(client, prefix, -HOUR)
    assert counter.count_request("anna", 60) <= 1.0 + 1e-6


def test_waiting_times_are_never_negative(client: redis.Redis, prefix: str) -> None:
    store = RedisJobStore(client, JobLimits(), prefix)
    store.submit(JOB)
    set_server_clock(client, prefix, -HOUR)
    statistics = store.get_statistics()
    assert (statistics.oldest_queued_seconds["interactive"], statistics.stalled_seconds["interactive"]) == (0.0, 0.0)


@pytest.mark.parametrize("jump_seconds", [HOUR, -HOUR])
@pytest.mark.parametrize("kind", ["memory", "valkey"])
def test_an_answer_is_cached_for_its_time_when_the_clock_of_the_process_is_set(
    kind: str, jump_seconds: float, request: pytest.FixtureRequest, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = JobLimits(answer_ttl=600.0)
    store = MemoryJobStore(limits)
    if kind == "valkey":
        store = cast("Any", RedisJobStore(request.getfixturevalue("client"), limits, prefix))
    store.put_answer(JOB, StoredAnswer(b"{}"))
    cache = AnswerCache()
    early = store.get("job")
    assert early is not None and early.answer is not None
    cache.put("job", "comparison", early.answer)
    set_own_clock(monkeypatch, jump_seconds)
    late = store.get("job")
    assert late is not None and late.state == "done" and late.answer is not None
    for answer in (cache.get("job"), cache.put("job", "comparison", late.answer)):
        assert answer is not None and answer.is_fresh() and answer.age_seconds() < 600
    expired = replace(late.answer, expires_at=late.answer.expires_at - 600.0)
    assert not cache.put("job", "comparison", expired).is_fresh()


def test_leases_of_an_inline_server_last_as_long_when_its_clock_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    patient, quick = MemoryJobStore(JobLimits(lease_seconds=600.0)), MemoryJobStore(QUICK)
    for store in (patient, quick):
        store.submit(JOB)
        assert store.start("job", "worker") is not None
    with monkeypatch.context() as context:
        set_own_clock(context, HOUR)
        assert patient.reap_lost_jobs() == []
    set_own_clock(monkeypatch, -HOUR)
    wait_until(lambda: quick.reap_lost_jobs() == [("job", "interactive")])
