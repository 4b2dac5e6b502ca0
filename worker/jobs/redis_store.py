"""The job store in Redis or Valkey, shared by all web and worker processes.

Celery only carries messages. Its result backends were not enough: they do not join equal requests to one job, refuse
the late writes of a worker that was given up, count the workers a job has killed, find lost messages, or bound the
bytes of stored answers. Each of these has to be decided and written in one step, hence the Lua scripts.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import redis

from indexer.indexing.notifications import KEY_PREFIX
from worker.jobs import redis_scripts
from worker.jobs.config import JobLimits
from worker.jobs.job import (
    WORKER_LOST,
    Claim,
    Failure,
    Job,
    JobKind,
    JobState,
    NewJob,
    QueueName,
    StoredAnswer,
    make_caller_limit_error,
    make_queue_full_error,
    make_worker_lost_failure,
)
from worker.jobs.statistics import Durations, JobStatistics
from worker.jobs.store import JobStore
from worker.json_bytes import dumps, loads
from worker.redis_connection import call_redis, probe_write

_MAX_REAPED = 100
"""Jobs that one call of ``reap`` looks at."""
_MAX_COUNTED = 5000
"""Open jobs that the statistics look at; a queue is longer only where max_queue is set higher."""
_JOB_FIELDS = ("kind", "state", "progress", "message", "attempts", "queue", "rights", "failure")
"""Fields of the job's hash in the order in which the script ``get`` returns them; ``rights`` is the access key."""


class RedisJobStore(JobStore):
    """Jobs in Redis, under a prefix before every key."""

    def __init__(self, client: redis.Redis, limits: JobLimits | None = None, prefix: str = KEY_PREFIX) -> None:
        self.client = client
        self.limits = limits or JobLimits()
        self.prefix = prefix
        self._scripts: dict[str, Any] = {}

    def submit(self, new: NewJob) -> bool:
        limits = self.limits
        outcome = self._run_script(
            redis_scripts.SUBMIT, new.id, new.kind, new.payload, new.queue, new.caller, new.access_key,
            limits.resend_seconds, limits.answer_ttl + limits.tombstone_ttl,
            limits.max_open_jobs, limits.max_jobs_per_caller, limits.failure_ttl,
        )  # fmt: skip
        if outcome == -1:
            raise make_queue_full_error()
        if outcome == -2:
            raise make_caller_limit_error(limits.max_jobs_per_caller)
        return bool(outcome)

    def get(self, id: str) -> Job | None:
        reply = self._run_script(redis_scripts.GET, id)
        if reply is None:
            return None
        fields, answer = reply
        stored = _parse_answer(answer) if answer[0] is not None else None
        return _parse_job(id, dict(zip(_JOB_FIELDS, fields, strict=True)), stored)

    def get_parts(self, id: str) -> dict[str, bytes]:
        parts = call_redis(lambda: cast("dict[bytes, bytes]", self.client.hgetall(self._make_key("parts", id))))
        return {name.decode("utf-8", "surrogatepass"): body for name, body in parts.items()}

    def get_payload(self, id: str) -> str | None:
        payload = call_redis(lambda: cast("bytes | None", self.client.hget(self._make_key("job", id), "question")))
        return payload.decode("utf-8", "surrogatepass") if payload is not None else None

    def leave(self, id: str, caller: str) -> Job | None:
        self._run_script(redis_scripts.LEAVE, id, caller, self.limits.tombstone_ttl)
        return self.get(id)

    def put_answer(self, new: NewJob, answer: StoredAnswer) -> None:
        arguments = self._make_answer_script_arguments(answer)
        self._run_script(redis_scripts.PUT_ANSWER, new.id, new.kind, new.queue, new.access_key, *arguments)

    def start(self, id: str, owner: str) -> Claim | None:
        reply = self._run_script(redis_scripts.START, id, owner, self.limits.lease_seconds)
        if reply is None:
            return None
        token, attempts, kind, payload, access_key, next_chunk = reply
        return Claim(
            id, int(token), cast("JobKind", kind.decode()), payload.decode("utf-8", "surrogatepass"), int(attempts),
            access_key.decode("utf-8", "surrogatepass"), int(next_chunk),
        )  # fmt: skip

    def renew(self, claim: Claim) -> bool:
        return self._run_claimed_script(redis_scripts.RENEW, claim, self.limits.lease_seconds)

    def report_progress(self, claim: Claim, share: float, message: str) -> bool:
        return self._run_claimed_script(redis_scripts.RENEW, claim, self.limits.lease_seconds, share, message)

    def put_part(self, claim: Claim, name: str, body: bytes) -> bool:
        return self._run_claimed_script(redis_scripts.PUT_PART, claim, name, body, self.limits.answer_ttl)

    def finish(self, claim: Claim, answer: StoredAnswer) -> bool:
        return self._run_claimed_script(redis_scripts.FINISH, claim, *self._make_answer_script_arguments(answer))

    def fail(self, claim: Claim, failure: Failure) -> bool:
        ttl = 0.0 if failure.retryable else self.limits.failure_ttl
        body = dumps(failure.to_dict())
        tombstone_ttl = self.limits.tombstone_ttl
        return self._run_claimed_script(redis_scripts.CLOSE, claim, "failed", body, ttl, tombstone_ttl, failure.code)

    def cancel(self, claim: Claim) -> bool:
        return self._run_claimed_script(redis_scripts.CLOSE, claim, "cancelled", "", 0, self.limits.tombstone_ttl)

    def requeue(self, claim: Claim, delay: float, next_chunk: int | None = None) -> bool:
        wait = delay or self.limits.resend_seconds
        return self._run_claimed_script(redis_scripts.REQUEUE, claim, wait, "" if next_chunk is None else next_chunk)

    def reap_lost_jobs(self) -> list[tuple[str, QueueName]]:
        limits = self.limits
        failure = dumps(make_worker_lost_failure(limits.max_lost_workers).to_dict())
        reply = self._run_script(
            redis_scripts.REAP, "", limits.max_lost_workers, limits.resend_seconds, limits.tombstone_ttl,
            limits.failure_ttl, failure, _MAX_REAPED, WORKER_LOST,
        )  # fmt: skip
        return [(id, cast("QueueName", queue)) for id, queue in _pair_up(reply)]

    def acquire_lock(self, lock: str, holder: str, seconds: float) -> bool:
        return bool(self._run_script(redis_scripts.ACQUIRE_LOCK, "", lock, holder, seconds) == 1)

    def get_statistics(self) -> JobStatistics:
        rows, ended, reaper_exists, durations = self._run_script(redis_scripts.STATISTICS, "", _MAX_COUNTED)
        open_jobs: Counter[tuple[str, str]] = Counter()
        oldest: dict[str, float] = {}
        stalled: dict[str, float] = {}
        for queue, state, queued_seconds, stalled_seconds in ([value.decode() for value in row] for row in rows):
            open_jobs[queue, state] += 1
            stalled[queue] = max(stalled.get(queue, 0.0), float(stalled_seconds))
            if state == "queued":
                oldest[queue] = max(oldest.get(queue, 0.0), float(queued_seconds))
        ended_jobs = {tuple(name.partition(":")[::2]): int(times) for name, times in _pair_up(ended)}
        buckets = {name: float(value) for name, value in _pair_up(durations)}
        seconds = buckets.pop("seconds", 0.0)
        counts = {float(bound): int(times) for bound, times in buckets.items()}
        return JobStatistics(
            open_jobs, oldest, cast("dict[tuple[str, str], int]", ended_jobs), bool(reaper_exists), stalled,
            Durations(counts, seconds),
        )  # fmt: skip

    def record_durations(self, durations: Durations) -> None:
        name = self.prefix + "elasticsearch"
        with self.client.pipeline(transaction=False) as pipe:
            for bound, times in durations.counts.items():
                pipe.hincrby(name, str(bound), times)
            pipe.hincrbyfloat(name, "seconds", durations.seconds)
            call_redis(pipe.execute)

    def ping(self) -> None:
        call_redis(lambda: probe_write(self.client, self.prefix))

    def _run_claimed_script(self, script_text: str, claim: Claim, *arguments: str | bytes | int | float) -> bool:
        """Run a script that first checks the claim; return whether it was valid."""
        return bool(self._run_script(script_text, claim.id, claim.token, *arguments) == 1)

    def _run_script(self, script_text: str, *arguments: str | bytes | int | float) -> Any:
        script = self._scripts.get(script_text)
        if script is None:
            script = self._scripts[script_text] = self.client.register_script(script_text)
        encoded = [a.encode("utf-8", "surrogatepass") if isinstance(a, str) else a for a in arguments]
        return call_redis(lambda: script(keys=[self.prefix], args=encoded))

    def _make_key(self, kind: str, id: str) -> bytes:
        return f"{self.prefix}{kind}:{id}".encode("utf-8", "surrogatepass")

    def _make_answer_script_arguments(self, answer: StoredAnswer) -> tuple[bytes, bytes, float, float, int, bytes]:
        """Return what the scripts that store an answer take: body, acls, seconds to keep it, limit in bytes, vector."""
        acls = dumps([answer.index, {id: list(acl) for id, acl in answer.acls.items()}])
        limits = self.limits
        vector = answer.query_vector or b""
        return answer.body, acls, limits.answer_ttl, limits.tombstone_ttl, limits.max_answer_bytes, vector


def _pair_up(values: list[bytes]) -> list[tuple[str, str]]:
    """Return the pairs of a flat list, such as HGETALL returns to a script."""
    texts = [value.decode() for value in values]
    return list(zip(texts[::2], texts[1::2], strict=True))


def _parse_job(id: str, fields: Mapping[str, bytes | None], answer: StoredAnswer | None) -> Job:
    def get_text(name: str, default: str) -> str:
        value = fields[name]
        return default if value is None else value.decode("utf-8", "surrogatepass")

    state = get_text("state", "queued")
    if state == "done" and answer is None:
        state = "expired"
    failure = fields["failure"]
    access_key = get_text("rights", "*")
    return Job(
        id=id,
        kind=cast("JobKind", get_text("kind", "comparison")),
        state=cast("JobState", state),
        progress=float(get_text("progress", "0")),
        message=get_text("message", ""),
        attempts=int(get_text("attempts", "0")),
        queue=cast("QueueName", get_text("queue", "interactive")),
        access_key=access_key,
        failure=Failure.from_dict(loads(failure)) if failure and state == "failed" else None,
        answer=replace(answer, access_key=access_key) if answer is not None and state == "done" else None,
    )


def _parse_answer(fields: tuple[bytes, bytes, bytes, int, bytes | None]) -> StoredAnswer:
    body, acls, age_seconds, milliseconds_left, query_vector = fields
    index, acl_by_id = loads(acls)
    now = time.monotonic()
    stored_at, expires_at = now - float(age_seconds), now + milliseconds_left / 1000
    acls_by_id = {id: tuple(acl) for id, acl in acl_by_id.items()}
    return StoredAnswer(body, acls_by_id, index, stored_at, expires_at, query_vector=query_vector)
