"""The job store of one process: what ``serve --inline`` uses. Same behaviour as the Redis one."""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from worker.jobs.job import (
    OPEN,
    Answer,
    Claim,
    Failure,
    Job,
    JobLimits,
    JobStore,
    NewJob,
    Queue,
    lost_too_often,
    overloaded,
    too_many,
)
from worker.jobs.statistics import Census, Durations


@dataclass
class _Record:
    job: Job
    question: str
    callers: set[str] = field(default_factory=set)
    token: int = 0
    due: float = 0.0
    resends: int = 0
    lost: int = 0
    cursor: int = 0
    cancel: bool = False
    retry_at: float = 0.0
    forget: float = 0.0
    queued_at: float = 0.0
    """When it last came into its queue."""
    moved_at: float = 0.0
    """When it was handed in or last finished a piece."""
    parts: dict[str, bytes] = field(default_factory=dict)


class MemoryJobs(JobStore):
    def __init__(self, limits: JobLimits | None = None, on_change: Callable[[str], None] | None = None) -> None:
        self.limits = limits or JobLimits()
        self._on_change = on_change or (lambda id: None)
        self._lock = threading.Lock()
        self._records: dict[str, _Record] = {}
        self._answers: OrderedDict[str, Answer] = OrderedDict()
        self._bytes = 0
        self._swept = 0.0
        self._ended: Counter[tuple[str, str]] = Counter()

    def submit(self, new: NewJob) -> bool:
        with self._lock:
            self._sweep()
            now = time.time()
            record = self._records.get(new.id)
            if record is not None:
                state = record.job.state
                if state in OPEN:
                    record.callers.add(new.caller)
                    record.cancel = False
                    return False
                answer = self._answers.get(new.id)
                if state == "done" and answer is not None and answer.expires > now:
                    return False
                if state == "failed" and record.retry_at > now:
                    return False
            if sum(one.job.state in OPEN for one in self._records.values()) >= self.limits.max_open:
                raise overloaded()
            most = self.limits.max_per_caller
            if most and self._open_of(new.caller) >= most:
                raise too_many(most)
            fresh = _Record(Job(new.id, new.kind, "queued", queue=new.queue, rights=new.rights), new.question)
            fresh.token = record.token + 1 if record else 1
            fresh.queued_at = fresh.moved_at = now
            fresh.callers, fresh.due = {new.caller}, now + self.limits.resend
            fresh.forget = now + self.limits.answer_ttl + self.limits.tombstone
            self._records[new.id] = fresh
            return True

    def _open_of(self, caller: str) -> int:
        return sum(one.job.state in OPEN and caller in one.callers for one in self._records.values())

    def get(self, id: str) -> Job | None:
        with self._lock:
            self._sweep()
            return self._seen(id)

    def parts(self, id: str) -> dict[str, bytes]:
        with self._lock:
            record = self._records.get(id)
            return dict(record.parts) if record else {}

    def question(self, id: str) -> str | None:
        with self._lock:
            record = self._records.get(id)
            return record.question if record and record.job.state in OPEN else None

    def detach(self, id: str, caller: str) -> Job | None:
        with self._lock:
            record = self._records.get(id)
            if record is not None and caller in record.callers:
                record.callers.discard(caller)
                if not record.callers and record.job.state == "queued":
                    self._close(record, "cancelled")
                elif not record.callers:
                    record.cancel = True
            return self._seen(id)

    def put(self, new: NewJob, answer: Answer) -> None:
        with self._lock:
            record = self._records.get(new.id)
            token = record.token + 1 if record else 1
            record = _Record(Job(new.id, new.kind, "running", queue=new.queue, rights=new.rights), new.question)
            record.token = token
            self._records[new.id] = record
            self._keep(record, answer)
        self._on_change(new.id)

    def start(self, id: str, owner: str) -> Claim | None:
        with self._lock:
            record = self._records.get(id)
            if record is None or record.job.state != "queued":
                return None
            record.token += 1
            record.job = replace(record.job, state="running", attempts=record.job.attempts + 1)
            record.due, record.resends = time.time() + self.limits.lease, 0
            job = record.job
            return Claim(id, record.token, job.kind, record.question, job.attempts, job.rights, record.cursor)

    def renew(self, claim: Claim) -> bool:
        with self._lock:
            record = self._held(claim)
            if record is None or record.cancel:
                return False
            record.due = time.time() + self.limits.lease
            return True

    def progress(self, claim: Claim, share: float, message: str) -> bool:
        with self._lock:
            record = self._held(claim)
            if record is None or record.cancel:
                return False
            record.job = replace(record.job, progress=share, message=message)
            record.due = time.time() + self.limits.lease
            return True

    def part(self, claim: Claim, name: str, body: bytes) -> bool:
        with self._lock:
            record = self._held(claim)
            if record is not None:
                record.parts[name] = body
            return record is not None

    def finish(self, claim: Claim, answer: Answer) -> bool:
        with self._lock:
            record = self._held(claim)
            if record is not None:
                self._keep(record, answer)
        return self._told(claim, record)

    def fail(self, claim: Claim, failure: Failure) -> bool:
        with self._lock:
            record = self._held(claim)
            if record is not None:
                self._close(record, "failed", failure)
        return self._told(claim, record)

    def drop(self, claim: Claim) -> bool:
        with self._lock:
            record = self._held(claim)
            if record is not None:
                self._close(record, "cancelled")
        return self._told(claim, record)

    def hand_back(self, claim: Claim, delay: float, cursor: int | None = None) -> bool:
        with self._lock:
            record = self._held(claim)
            if record is None:
                return False
            attempts = record.job.attempts if cursor is None else 0
            record.job = replace(record.job, state="queued", attempts=attempts)
            record.queued_at = time.time()
            if cursor is not None:
                if cursor > record.cursor:
                    record.moved_at = record.queued_at
                record.cursor, record.lost = cursor, 0
            record.token += 1
            record.due = record.queued_at + (delay or self.limits.resend)
            return True

    def reap(self) -> list[tuple[str, Queue]]:
        again: list[tuple[str, Queue]] = []
        with self._lock:
            now = time.time()
            for id, record in self._records.items():
                if record.job.state not in OPEN or record.due > now:
                    continue
                if record.job.state == "running":
                    record.token += 1
                    if record.cancel:
                        self._close(record, "cancelled")
                        continue
                    record.lost += 1
                    if record.lost >= self.limits.max_lost:
                        self._close(record, "failed", lost_too_often(record.lost))
                        continue
                    record.job, record.queued_at = replace(record.job, state="queued"), now
                record.resends += 1
                record.due = now + self.limits.resend * 2 ** min(record.resends, 10)
                again.append((id, record.job.queue))
        return again

    def hold(self, lock: str, holder: str, seconds: float) -> bool:
        """There is nobody else in this process."""
        return True

    def census(self) -> Census:
        with self._lock:
            now = time.time()
            opened = [record for record in self._records.values() if record.job.state in OPEN]
            jobs: Counter[tuple[str, str]] = Counter((record.job.queue, record.job.state) for record in opened)
            oldest: dict[str, float] = {}
            standstill: dict[str, float] = {}
            for record in opened:
                queue = record.job.queue
                standstill[queue] = max(standstill.get(queue, 0.0), now - record.moved_at)
                if record.job.state == "queued":
                    oldest[queue] = max(oldest.get(queue, 0.0), now - record.queued_at)
            return Census(jobs, oldest, dict(self._ended), True, standstill)

    def waited(self, durations: Durations) -> None:
        """The only process there is counts for itself."""

    def ping(self) -> None:
        return None

    def _held(self, claim: Claim) -> _Record | None:
        record = self._records.get(claim.id)
        return record if record and record.token == claim.token and record.job.state == "running" else None

    def _told(self, claim: Claim, record: _Record | None) -> bool:
        if record is not None:
            self._on_change(claim.id)
        return record is not None

    def _close(self, record: _Record, state: str, failure: Failure | None = None) -> None:
        now = time.time()
        record.job = replace(record.job, state=state, failure=failure)  # type: ignore[arg-type]
        self._ended[state, failure.code if failure else ""] += 1
        record.forget = now + self.limits.tombstone
        if failure is not None and not failure.retryable:
            record.retry_at = now + self.limits.failed_hold

    def _keep(self, record: _Record, answer: Answer) -> None:
        now = time.time()
        record.job = replace(record.job, state="done", progress=1.0)
        self._ended["done", ""] += 1
        record.forget = now + self.limits.answer_ttl + self.limits.tombstone
        record.parts, record.question = {}, ""
        self._forget_answer(record.job.id)
        self._answers[record.job.id] = replace(answer, stored=now, expires=now + self.limits.answer_ttl)
        self._bytes += len(answer.body)
        while self._bytes > self.limits.max_bytes and self._answers:
            self._forget_answer(next(iter(self._answers)))

    def _forget_answer(self, id: str) -> None:
        answer = self._answers.pop(id, None)
        if answer is not None:
            self._bytes -= len(answer.body)

    def _seen(self, id: str) -> Job | None:
        record = self._records.get(id)
        if record is None or record.job.state != "done":
            return record.job if record else None
        answer = self._answers.get(id)
        if answer is None or answer.expires <= time.time():
            return replace(record.job, state="expired")
        self._answers.move_to_end(id)
        return replace(record.job, answer=replace(answer, eyes=record.job.rights))

    def _sweep(self) -> None:
        now = time.time()
        if now < self._swept + 1.0:
            return
        self._swept = now
        for id in [id for id, answer in self._answers.items() if answer.expires <= now]:
            self._forget_answer(id)
        for id in [id for id, record in self._records.items() if record.forget <= now and record.job.state not in OPEN]:
            del self._records[id]
