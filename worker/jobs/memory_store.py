"""The job store of one process, for ``serve --inline``; behaves like the Redis store."""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from worker.jobs.config import JobLimits
from worker.jobs.job import (
    OPEN_STATES,
    Claim,
    Failure,
    Job,
    NewJob,
    QueueName,
    StoredAnswer,
    make_caller_limit_error,
    make_queue_full_error,
    make_worker_lost_failure,
)
from worker.jobs.statistics import Durations, JobStatistics
from worker.jobs.store import JobStore


@dataclass
class _Record:
    job: Job
    payload: str
    callers: set[str] = field(default_factory=set)
    token: int = 0
    due_at: float = 0.0
    """When the lease runs out, or the job must be announced again."""
    resends: int = 0
    lost_workers: int = 0
    next_chunk: int = 0
    is_cancelled: bool = False
    retry_at: float = 0.0
    """Until then a permanent failure is the answer."""
    forget_at: float = 0.0
    queued_at: float = 0.0
    """When it was last queued."""
    moved_at: float = 0.0
    """When it was submitted or last finished a chunk."""
    parts: dict[str, bytes] = field(default_factory=dict)


class MemoryJobStore(JobStore):
    """Jobs in dictionaries under one lock; ``on_change`` is called with the id of each job that ends."""

    def __init__(self, limits: JobLimits | None = None, on_change: Callable[[str], None] | None = None) -> None:
        self.limits = limits or JobLimits()
        self._on_change = on_change or (lambda id: None)
        self._lock = threading.Lock()
        self._records: dict[str, _Record] = {}
        self._answers: OrderedDict[str, StoredAnswer] = OrderedDict()
        self._bytes = 0
        self._last_sweep = 0.0
        self._ended: Counter[tuple[str, str]] = Counter()

    def submit(self, new: NewJob) -> bool:
        with self._lock:
            self._remove_expired()
            now = time.monotonic()
            record = self._records.get(new.id)
            if record is not None:
                state = record.job.state
                if state in OPEN_STATES:
                    record.callers.add(new.caller)
                    record.is_cancelled = False
                    return False
                answer = self._answers.get(new.id)
                if state == "done" and answer is not None and answer.expires_at > now:
                    return False
                if state == "failed" and record.retry_at > now:
                    return False
            if sum(record.job.state in OPEN_STATES for record in self._records.values()) >= self.limits.max_open_jobs:
                raise make_queue_full_error()
            max_jobs = self.limits.max_jobs_per_caller
            if max_jobs and self._count_open_jobs(new.caller) >= max_jobs:
                raise make_caller_limit_error(max_jobs)
            fresh = _Record(Job(new.id, new.kind, "queued", queue=new.queue, access_key=new.access_key), new.payload)
            fresh.token = record.token + 1 if record else 1
            fresh.queued_at = fresh.moved_at = now
            fresh.callers, fresh.due_at = {new.caller}, now + self.limits.resend_seconds
            fresh.forget_at = now + self.limits.answer_ttl + self.limits.tombstone_ttl
            self._records[new.id] = fresh
            return True

    def get(self, id: str) -> Job | None:
        with self._lock:
            self._remove_expired()
            return self._get_job(id)

    def get_parts(self, id: str) -> dict[str, bytes]:
        with self._lock:
            record = self._records.get(id)
            return dict(record.parts) if record else {}

    def get_payload(self, id: str) -> str | None:
        with self._lock:
            record = self._records.get(id)
            return record.payload if record and record.job.state in OPEN_STATES else None

    def leave(self, id: str, caller: str) -> Job | None:
        with self._lock:
            record = self._records.get(id)
            if record is not None and caller in record.callers:
                record.callers.discard(caller)
                if not record.callers and record.job.state == "queued":
                    self._close_record(record, "cancelled")
                elif not record.callers:
                    record.is_cancelled = True
            return self._get_job(id)

    def put_answer(self, new: NewJob, answer: StoredAnswer) -> None:
        with self._lock:
            record = self._records.get(new.id)
            token = record.token + 1 if record else 1
            record = _Record(Job(new.id, new.kind, "running", queue=new.queue, access_key=new.access_key), new.payload)
            record.token = token
            self._records[new.id] = record
            self._store_answer(record, answer)
        self._on_change(new.id)

    def start(self, id: str, owner: str) -> Claim | None:
        with self._lock:
            record = self._records.get(id)
            if record is None or record.job.state != "queued":
                return None
            record.token += 1
            record.job = replace(record.job, state="running", attempts=record.job.attempts + 1)
            record.due_at, record.resends = time.monotonic() + self.limits.lease_seconds, 0
            job = record.job
            return Claim(id, record.token, job.kind, record.payload, job.attempts, job.access_key, record.next_chunk)

    def renew(self, claim: Claim) -> bool:
        with self._lock:
            record = self._find_claimed_record(claim)
            if record is None or record.is_cancelled:
                return False
            record.due_at = time.monotonic() + self.limits.lease_seconds
            return True

    def report_progress(self, claim: Claim, share: float, message: str) -> bool:
        with self._lock:
            record = self._find_claimed_record(claim)
            if record is None or record.is_cancelled:
                return False
            record.job = replace(record.job, progress=share, message=message)
            record.due_at = time.monotonic() + self.limits.lease_seconds
            return True

    def put_part(self, claim: Claim, name: str, body: bytes) -> bool:
        with self._lock:
            record = self._find_claimed_record(claim)
            if record is not None:
                record.parts[name] = body
            return record is not None

    def finish(self, claim: Claim, answer: StoredAnswer) -> bool:
        with self._lock:
            record = self._find_claimed_record(claim)
            if record is not None:
                self._store_answer(record, answer)
        return self._notify_if_claimed(claim, record)

    def fail(self, claim: Claim, failure: Failure) -> bool:
        with self._lock:
            record = self._find_claimed_record(claim)
            if record is not None:
                self._close_record(record, "failed", failure)
        return self._notify_if_claimed(claim, record)

    def cancel(self, claim: Claim) -> bool:
        with self._lock:
            record = self._find_claimed_record(claim)
            if record is not None:
                self._close_record(record, "cancelled")
        return self._notify_if_claimed(claim, record)

    def requeue(self, claim: Claim, delay: float, next_chunk: int | None = None) -> bool:
        with self._lock:
            record = self._find_claimed_record(claim)
            if record is None:
                return False
            attempts = record.job.attempts if next_chunk is None else 0
            record.job = replace(record.job, state="queued", attempts=attempts)
            record.queued_at = time.monotonic()
            if next_chunk is not None:
                if next_chunk > record.next_chunk:
                    record.moved_at = record.queued_at
                record.next_chunk, record.lost_workers = next_chunk, 0
            record.token += 1
            record.due_at = record.queued_at + (delay or self.limits.resend_seconds)
            return True

    def reap_lost_jobs(self) -> list[tuple[str, QueueName]]:
        to_announce: list[tuple[str, QueueName]] = []
        with self._lock:
            now = time.monotonic()
            for id, record in self._records.items():
                if record.job.state not in OPEN_STATES or record.due_at > now:
                    continue
                if record.job.state == "running":
                    record.token += 1
                    if record.is_cancelled:
                        self._close_record(record, "cancelled")
                        continue
                    record.lost_workers += 1
                    if record.lost_workers >= self.limits.max_lost_workers:
                        self._close_record(record, "failed", make_worker_lost_failure(record.lost_workers))
                        continue
                    record.job, record.queued_at = replace(record.job, state="queued"), now
                record.resends += 1
                record.due_at = now + self.limits.resend_seconds * 2 ** min(record.resends, 10)
                to_announce.append((id, record.job.queue))
        return to_announce

    def acquire_lock(self, lock: str, holder: str, seconds: float) -> bool:
        """Return True: no other process uses this store."""
        return True

    def get_statistics(self) -> JobStatistics:
        with self._lock:
            now = time.monotonic()
            records = [record for record in self._records.values() if record.job.state in OPEN_STATES]
            open_jobs: Counter[tuple[str, str]] = Counter((record.job.queue, record.job.state) for record in records)
            oldest: dict[str, float] = {}
            stalled: dict[str, float] = {}
            for record in records:
                queue = record.job.queue
                stalled[queue] = max(stalled.get(queue, 0.0), now - record.moved_at)
                if record.job.state == "queued":
                    oldest[queue] = max(oldest.get(queue, 0.0), now - record.queued_at)
            return JobStatistics(open_jobs, oldest, dict(self._ended), True, stalled)

    def record_durations(self, durations: Durations) -> None:
        """Do nothing: the web process exports the durations of its own requests."""

    def ping(self) -> None:
        return None

    def _count_open_jobs(self, caller: str) -> int:
        records = self._records.values()
        return sum(record.job.state in OPEN_STATES and caller in record.callers for record in records)

    def _find_claimed_record(self, claim: Claim) -> _Record | None:
        record = self._records.get(claim.id)
        return record if record and record.token == claim.token and record.job.state == "running" else None

    def _notify_if_claimed(self, claim: Claim, record: _Record | None) -> bool:
        """Report the end of a job whose claim was valid (a record was found); return whether it was."""
        if record is not None:
            self._on_change(claim.id)
        return record is not None

    def _close_record(self, record: _Record, state: str, failure: Failure | None = None) -> None:
        now = time.monotonic()
        record.job = replace(record.job, state=state, failure=failure)  # type: ignore[arg-type]
        self._ended[state, failure.code if failure else ""] += 1
        record.forget_at = now + self.limits.tombstone_ttl
        if failure is not None and not failure.retryable:
            record.retry_at = now + self.limits.failure_ttl

    def _store_answer(self, record: _Record, answer: StoredAnswer) -> None:
        now = time.monotonic()
        record.job = replace(record.job, state="done", progress=1.0)
        self._ended["done", ""] += 1
        record.forget_at = now + self.limits.answer_ttl + self.limits.tombstone_ttl
        record.parts, record.payload = {}, ""
        self._remove_answer(record.job.id)
        self._answers[record.job.id] = replace(answer, stored_at=now, expires_at=now + self.limits.answer_ttl)
        self._bytes += answer.size
        while self._bytes > self.limits.max_answer_bytes and self._answers:
            self._remove_answer(next(iter(self._answers)))

    def _remove_answer(self, id: str) -> None:
        answer = self._answers.pop(id, None)
        if answer is not None:
            self._bytes -= answer.size

    def _get_job(self, id: str) -> Job | None:
        record = self._records.get(id)
        if record is None or record.job.state != "done":
            return record.job if record else None
        answer = self._answers.get(id)
        if answer is None or answer.expires_at <= time.monotonic():
            return replace(record.job, state="expired")
        self._answers.move_to_end(id)
        return replace(record.job, answer=replace(answer, access_key=record.job.access_key))

    def _remove_expired(self) -> None:
        now = time.monotonic()
        if now < self._last_sweep + 1.0:
            return
        self._last_sweep = now
        for id in [id for id, answer in self._answers.items() if answer.expires_at <= now]:
            self._remove_answer(id)
        for id in [
            id
            for id, record in self._records.items()
            if record.forget_at <= now and record.job.state not in OPEN_STATES
        ]:
            del self._records[id]
