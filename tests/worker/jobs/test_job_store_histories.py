"""Random histories of jobs that write documents: several workers, lost leases, retries, cancellation.

Every step of a history is also taken by a model that fits on a page; both job stores must agree with it. The documents
are written to a dictionary by the rules of ``indexer.engines.write_order``. At the end of a history no accepted write
is lost, none has taken effect twice, and no document shows an older submission than the last one that was written.
"""

from __future__ import annotations

import os
import uuid
from dataclasses import dataclass, field

import pytest
import redis
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from tests.support.faults.fault_results import IS_FULL_RUN
from worker.jobs.config import JobLimits
from worker.jobs.job import OPEN_STATES, Claim, NewJob, StoredAnswer
from worker.jobs.memory_store import MemoryJobStore
from worker.jobs.redis_store import RedisJobStore
from worker.jobs.store import JobStore
from worker.redis_connection import connect

HISTORIES = int(os.environ.get("PHRASECOM_TEST_HISTORIES", "10000" if IS_FULL_RUN else "100"))
LIMITS = JobLimits(lease_seconds=3600, resend_seconds=3600, max_lost_workers=3)
"""Leases run out only when a history says so."""


@dataclass
class ModelJob:
    """A job as the model knows it."""

    sequence: int
    document: str
    state: str = "queued"
    holder: Claim | None = None
    lost_workers: int = 0
    is_cancelled: bool = False
    ends: int = 0


@dataclass
class Attempt:
    """A worker with a claim, between two of its steps."""

    job: str
    claim: Claim
    is_checked: bool = False
    has_written: bool = False


@dataclass
class Index:
    """Documents with the number of their last write."""

    sequences: dict[str, int] = field(default_factory=dict)

    def write(self, document: str, sequence: int) -> None:
        self.sequences[document] = max(sequence, self.sequences.get(document, 0))


def expire_lease(store: JobStore, id: str) -> None:
    """Let the time of a job's lease be over."""
    if isinstance(store, RedisJobStore):
        store.client.zadd(store.prefix + "due", {id: 0})
    else:
        assert isinstance(store, MemoryJobStore)
        store._records[id].due_at = 0.0


class JobHistories(RuleBasedStateMachine):
    """The steps of callers, workers and the reaper, in any order."""

    def __init__(self, store: JobStore) -> None:
        super().__init__()
        self.store = store
        self.jobs: dict[str, ModelJob] = {}
        self.attempts: list[Attempt] = []
        self.index = Index()
        self.written: dict[str, int] = {}
        """Document -> highest number that a worker wrote."""

    @rule(document=st.sampled_from("xyz"))
    def submit(self, document: str) -> None:
        id = f"job{len(self.jobs)}"
        self.jobs[id] = ModelJob(len(self.jobs) + 1, document)
        assert self.store.submit(NewJob(id, "ingest", "{}", "caller", "bulk"))

    @rule(document=st.sampled_from("xyz"))
    def submit_and_write(self, document: str) -> None:
        """Take a job to the point before it is finished; random steps rarely get that far."""
        self.submit(document)
        self.start(len(self.jobs) - 1)
        self.check_claim(len(self.attempts) - 1)
        self._write(self.attempts[-1])

    @precondition(lambda self: self.jobs)
    @rule(pick=st.integers(0, 999))
    def start(self, pick: int) -> None:
        id, job = self._pick_job(pick)
        claim = self.store.start(id, "worker")
        assert (claim is not None) == (job.state == "queued")
        if claim is not None:
            job.state, job.holder = "running", claim
            self.attempts.append(Attempt(id, claim))

    @precondition(lambda self: self.attempts)
    @rule(pick=st.integers(0, 999))
    def check_claim(self, pick: int) -> None:
        attempt = self._pick_attempt(pick)
        job = self.jobs[attempt.job]
        is_valid = self.store.renew(attempt.claim)
        assert is_valid == (job.holder is attempt.claim and not job.is_cancelled)
        attempt.is_checked |= is_valid
        if not is_valid:
            self._stop(attempt)

    @precondition(lambda self: any(attempt.is_checked for attempt in self.attempts))
    @rule(pick=st.integers(0, 999))
    def write(self, pick: int) -> None:
        checked = [attempt for attempt in self.attempts if attempt.is_checked]
        self._write(checked[pick % len(checked)])

    def _write(self, attempt: Attempt) -> None:
        job = self.jobs[attempt.job]
        before = self.index.sequences.get(job.document, 0)
        self.index.write(job.document, job.sequence)
        self.written[job.document] = max(job.sequence, self.written.get(job.document, 0))
        attempt.has_written = True
        assert self.index.sequences[job.document] >= before

    @precondition(lambda self: any(attempt.has_written for attempt in self.attempts))
    @rule(pick=st.integers(0, 999))
    def finish(self, pick: int) -> None:
        ready = [attempt for attempt in self.attempts if attempt.has_written]
        attempt = ready[pick % len(ready)]
        job = self.jobs[attempt.job]
        is_stored = self.store.finish(attempt.claim, StoredAnswer(b"{}"))
        assert is_stored == (job.holder is attempt.claim)
        if is_stored:
            job.ends += 1
            job.state, job.holder = "done", None
        self.attempts.remove(attempt)

    @precondition(lambda self: self.attempts)
    @rule(pick=st.integers(0, 999))
    def retry(self, pick: int) -> None:
        attempt = self._pick_attempt(pick)
        job = self.jobs[attempt.job]
        is_queued = self.store.requeue(attempt.claim, 3600.0, 0)
        assert is_queued == (job.holder is attempt.claim)
        if is_queued:
            job.state, job.holder, job.lost_workers = "queued", None, 0
        self.attempts.remove(attempt)

    @precondition(lambda self: self.attempts)
    @rule(pick=st.integers(0, 999), is_dead=st.booleans())
    def lose_lease(self, pick: int, is_dead: bool) -> None:
        """Suspend a worker until its job is given away; it may be dead, or go on later."""
        attempt = self._pick_attempt(pick)
        job = self.jobs[attempt.job]
        if is_dead:
            self.attempts.remove(attempt)
        if job.holder is not attempt.claim:
            return
        expire_lease(self.store, attempt.job)
        announced = self.store.reap_lost_jobs()
        job.holder = None
        job.lost_workers += 1
        if job.is_cancelled:
            job.state = "cancelled"
        elif job.lost_workers >= LIMITS.max_lost_workers:
            job.state = "failed"
        else:
            job.state = "queued"
        assert announced == ([(attempt.job, "bulk")] if job.state == "queued" else [])

    @precondition(lambda self: self.jobs)
    @rule(pick=st.integers(0, 999))
    def lose_message(self, pick: int) -> None:
        id, job = self._pick_job(pick)
        if job.state == "queued":
            expire_lease(self.store, id)
            assert self.store.reap_lost_jobs() == [(id, "bulk")]

    @precondition(lambda self: self.jobs)
    @rule(pick=st.integers(0, 999))
    def leave(self, pick: int) -> None:
        id, job = self._pick_job(pick)
        self.store.leave(id, "caller")
        if job.state == "queued" and not job.is_cancelled:
            job.state = "cancelled"
        elif job.state == "running":
            job.is_cancelled = True

    @invariant()
    def states_agree(self) -> None:
        for id, job in self.jobs.items():
            stored = self.store.get(id)
            assert stored is not None and stored.state == job.state, id

    def teardown(self) -> None:
        """Let one worker do what is left, then compare."""
        for id, job in self.jobs.items():
            while job.state in OPEN_STATES:
                if job.state == "running":
                    expire_lease(self.store, id)
                    self.store.reap_lost_jobs()
                claim = self.store.start(id, "last")
                if claim is None:
                    break
                if self.store.renew(claim):
                    self.index.write(job.document, job.sequence)
                    self.written[job.document] = max(job.sequence, self.written.get(job.document, 0))
                    assert self.store.finish(claim, StoredAnswer(b"{}"))
                    job.ends += 1
                    job.state = "done"
                else:
                    assert self.store.cancel(claim)
        for id, job in self.jobs.items():
            stored = self.store.get(id)
            assert stored is not None and stored.state not in OPEN_STATES
            assert job.ends == (stored.state == "done")
            if stored.state == "done":
                assert self.index.sequences[job.document] >= job.sequence, "a confirmed write is lost"
        assert self.index.sequences == self.written, "an older write stands"

    def _pick_job(self, pick: int) -> tuple[str, ModelJob]:
        id = f"job{pick % len(self.jobs)}"
        return id, self.jobs[id]

    def _pick_attempt(self, pick: int) -> Attempt:
        return self.attempts[pick % len(self.attempts)]

    def _stop(self, attempt: Attempt) -> None:
        """End the work on a job that was cancelled or given away, as the runner does."""
        job = self.jobs[attempt.job]
        is_closed = self.store.cancel(attempt.claim)
        assert is_closed == (job.holder is attempt.claim)
        if is_closed:
            job.state, job.holder = "cancelled", None
        self.attempts.remove(attempt)


def run_histories(make_store: object, count: int) -> None:
    run_state_machine_as_test(
        make_store,
        settings=settings(
            max_examples=count,
            stateful_step_count=40,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate, Phase.shrink],
        ),
    )


def test_histories_in_memory_agree_with_the_model() -> None:
    run_histories(lambda: JobHistories(MemoryJobStore(LIMITS)), HISTORIES)


def test_histories_in_valkey_agree_with_the_model(valkey_url: str) -> None:
    client: redis.Redis
    with connect(valkey_url) as client:
        run_histories(lambda: JobHistories(RedisJobStore(client, LIMITS, f"test-{uuid.uuid4().hex}:")), HISTORIES)


def test_the_model_notices_a_store_that_lets_a_lost_worker_finish() -> None:
    class TrustingStore(MemoryJobStore):
        """Accepts the answer of every worker, whoever has the job now."""

        def finish(self, claim: Claim, answer: StoredAnswer) -> bool:
            record = self._records[claim.id]
            record.token = claim.token
            record.job = record.job.__class__(claim.id, claim.kind, "running", queue=record.job.queue)
            return super().finish(claim, answer)

    with pytest.raises(AssertionError):
        run_histories(lambda: JobHistories(TrustingStore(LIMITS)), 500)
