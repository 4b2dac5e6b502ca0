"""The job store in Redis or Valkey, shared by every web and worker process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar, cast

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from indexer.errors import StoreUnavailable
from indexer.indexing.notifications import KEY_PREFIX
from worker.jobs import redis_scripts
from worker.jobs.job import (
    WORKER_LOST,
    Answer,
    Claim,
    Failure,
    Job,
    JobLimits,
    JobStore,
    Kind,
    NewJob,
    Queue,
    State,
    lost_too_often,
    overloaded,
    too_many,
)
from worker.jobs.statistics import Census, Durations
from worker.json_bytes import dumps, loads

_AT_ONCE = 100
_COUNTED = 5000
"""Open jobs that a census looks at; a queue is longer only where max_queue says so."""
_FIELDS = ("kind", "state", "progress", "message", "attempts", "queue", "rights", "failure")

T = TypeVar("T")


def connect(url: str, *, timeout: float = 2.0, connections: int = 64) -> redis.Redis:
    """A client whose every wait is bounded: a dead server is an error within ``timeout`` seconds."""
    pool = redis.BlockingConnectionPool.from_url(
        url,
        max_connections=connections,
        timeout=timeout,
        socket_timeout=timeout,
        socket_connect_timeout=timeout,
        health_check_interval=30,
        retry=Retry(NoBackoff(), 1),
    )
    return redis.Redis.from_pool(pool)  # the client owns the pool, so closing it closes all


class RedisJobs(JobStore):
    def __init__(self, client: redis.Redis, limits: JobLimits | None = None, prefix: str = KEY_PREFIX) -> None:
        self.client = client
        self.limits = limits or JobLimits()
        self.prefix = prefix
        self._scripts: dict[str, Any] = {}

    def submit(self, new: NewJob) -> bool:
        remember = self.limits.answer_ttl + self.limits.tombstone
        entered = self._run(
            redis_scripts.SUBMIT, new.id, new.kind, new.question, new.queue, new.caller, new.rights,
            self.limits.resend, remember, self.limits.max_open, self.limits.max_per_caller,
        )  # fmt: skip
        if entered == -1:
            raise overloaded()
        if entered == -2:
            raise too_many(self.limits.max_per_caller)
        return bool(entered)

    def get(self, id: str) -> Job | None:
        found = self._run(redis_scripts.GET, id)
        if found is None:
            return None
        fields, answer = found
        return _job(id, dict(zip(_FIELDS, fields, strict=True)), _answer(answer) if answer[0] is not None else None)

    def parts(self, id: str) -> dict[str, bytes]:
        found = guarded(lambda: cast("dict[bytes, bytes]", self.client.hgetall(self._key("parts", id))))
        return {name.decode("utf-8", "surrogatepass"): body for name, body in found.items()}

    def question(self, id: str) -> str | None:
        found = guarded(lambda: cast("bytes | None", self.client.hget(self._key("job", id), "question")))
        return found.decode("utf-8", "surrogatepass") if found is not None else None

    def detach(self, id: str, caller: str) -> Job | None:
        self._run(redis_scripts.DETACH, id, caller, self.limits.tombstone)
        return self.get(id)

    def put(self, new: NewJob, answer: Answer) -> None:
        self._run(redis_scripts.PUT, new.id, new.kind, new.queue, new.rights, *self._kept(answer))

    def start(self, id: str, owner: str) -> Claim | None:
        found = self._run(redis_scripts.START, id, owner, self.limits.lease)
        if found is None:
            return None
        token, attempts, kind, question, rights, cursor = found
        return Claim(
            id, int(token), cast("Kind", kind.decode()), question.decode("utf-8", "surrogatepass"), int(attempts),
            rights.decode("utf-8", "surrogatepass"), int(cursor),
        )  # fmt: skip

    def renew(self, claim: Claim) -> bool:
        return self._yes(redis_scripts.RENEW, claim.id, claim.token, self.limits.lease)

    def progress(self, claim: Claim, share: float, message: str) -> bool:
        return self._yes(redis_scripts.RENEW, claim.id, claim.token, self.limits.lease, share, message)

    def part(self, claim: Claim, name: str, body: bytes) -> bool:
        return self._yes(redis_scripts.PART, claim.id, claim.token, name, body, self.limits.answer_ttl)

    def finish(self, claim: Claim, answer: Answer) -> bool:
        return self._yes(redis_scripts.FINISH, claim.id, claim.token, *self._kept(answer))

    def fail(self, claim: Claim, failure: Failure) -> bool:
        hold = 0.0 if failure.retryable else self.limits.failed_hold
        said = dumps(failure.to_dict())
        tombstone = self.limits.tombstone
        return self._yes(redis_scripts.CLOSE, claim.id, claim.token, "failed", said, hold, tombstone, failure.code)

    def drop(self, claim: Claim) -> bool:
        return self._yes(redis_scripts.CLOSE, claim.id, claim.token, "cancelled", "", 0, self.limits.tombstone)

    def hand_back(self, claim: Claim, delay: float, cursor: int | None = None) -> bool:
        wait = delay or self.limits.resend
        return self._yes(redis_scripts.HAND_BACK, claim.id, claim.token, wait, "" if cursor is None else cursor)

    def reap(self) -> list[tuple[str, Queue]]:
        limits = self.limits
        lost = dumps(lost_too_often(limits.max_lost).to_dict())
        found = self._run(
            redis_scripts.REAP, "", limits.max_lost, limits.resend, limits.tombstone, limits.failed_hold,
            lost, _AT_ONCE, WORKER_LOST,
        )  # fmt: skip
        names = [name.decode() for name in found]
        return [(id, cast("Queue", queue)) for id, queue in zip(names[::2], names[1::2], strict=True)]

    def hold(self, lock: str, holder: str, seconds: float) -> bool:
        """Take or keep a named lock; False while somebody else has it."""
        return self._yes(redis_scripts.HOLD, "", lock, holder, seconds)

    def census(self) -> Census:
        opened, ended, reaper, waited = self._run(redis_scripts.CENSUS, "", _COUNTED)
        jobs: Counter[tuple[str, str]] = Counter()
        oldest: dict[str, float] = {}
        standstill: dict[str, float] = {}
        for queue, state, age, still in ([part.decode() for part in one] for one in opened):
            jobs[queue, state] += 1
            standstill[queue] = max(standstill.get(queue, 0.0), float(still))
            if state == "queued":
                oldest[queue] = max(oldest.get(queue, 0.0), float(age))
        counted = {tuple(name.partition(":")[::2]): int(times) for name, times in _pairs(ended)}
        durations = {name: float(value) for name, value in _pairs(waited)}
        seconds = durations.pop("seconds", 0.0)
        counts = {float(bound): int(times) for bound, times in durations.items()}
        ways = cast("dict[tuple[str, str], int]", counted)
        return Census(jobs, oldest, ways, bool(reaper), standstill, Durations(counts, seconds))

    def waited(self, durations: Durations) -> None:
        name = self.prefix + "elasticsearch"
        with self.client.pipeline(transaction=False) as pipe:
            for bound, times in durations.counts.items():
                pipe.hincrby(name, str(bound), times)
            pipe.hincrbyfloat(name, "seconds", durations.seconds)
            guarded(pipe.execute)

    def ping(self) -> None:
        guarded(self.client.ping)

    def _yes(self, text: str, *arguments: str | bytes | int | float) -> bool:
        return bool(self._run(text, *arguments) == 1)

    def _run(self, text: str, *arguments: str | bytes | int | float) -> Any:
        script = self._scripts.get(text)
        if script is None:
            script = self._scripts[text] = self.client.register_script(text)
        encoded = [a.encode("utf-8", "surrogatepass") if isinstance(a, str) else a for a in arguments]
        return guarded(lambda: script(keys=[self.prefix], args=encoded))

    def _key(self, kind: str, id: str) -> bytes:
        return f"{self.prefix}{kind}:{id}".encode("utf-8", "surrogatepass")

    def _kept(self, answer: Answer) -> tuple[bytes, bytes, float, float, int]:
        acls = dumps([answer.index, {id: list(acl) for id, acl in answer.acls.items()}])
        return answer.body, acls, self.limits.answer_ttl, self.limits.tombstone, self.limits.max_bytes


def _pairs(flat: list[bytes]) -> list[tuple[str, str]]:
    """What HGETALL gives to a script: name, value, name, value."""
    texts = [one.decode() for one in flat]
    return list(zip(texts[::2], texts[1::2], strict=True))


def guarded(step: Callable[[], T]) -> T:
    """Run a step against Redis; its failures as ours."""
    try:
        return step()
    except (redis.ConnectionError, redis.TimeoutError, redis.exceptions.BusyLoadingError, OSError) as error:
        raise StoreUnavailable("the job store cannot be reached", fix="start Redis, or serve with --inline") from error
    except redis.exceptions.OutOfMemoryError as error:
        raise StoreUnavailable("the job store is out of memory", fix="raise its maxmemory") from error


def _job(id: str, found: Mapping[str, bytes | None], answer: Answer | None) -> Job:
    def text(name: str, default: str) -> str:
        value = found[name]
        return default if value is None else value.decode("utf-8", "surrogatepass")

    state = text("state", "queued")
    if state == "done" and answer is None:
        state = "expired"
    failure = found["failure"]
    return Job(
        id=id,
        kind=cast("Kind", text("kind", "comparison")),
        state=cast("State", state),
        progress=float(text("progress", "0")),
        message=text("message", ""),
        attempts=int(text("attempts", "0")),
        queue=cast("Queue", text("queue", "interactive")),
        rights=text("rights", "*"),
        failure=Failure.from_dict(loads(failure)) if failure and state == "failed" else None,
        answer=replace(answer, eyes=text("rights", "*")) if answer is not None and state == "done" else None,
    )


def _answer(fields: list[bytes]) -> Answer:
    body, acls, stored, expires = fields
    index, named = loads(acls)
    return Answer(body, {id: tuple(acl) for id, acl in named.items()}, index, float(stored), float(expires))
