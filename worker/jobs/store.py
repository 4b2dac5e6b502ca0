"""The contract of a job store; ``redis_store`` and ``memory_store`` implement it in this order.

    queued ──> running ──> done ──> expired
      ^  │        │ │
      │  │        │ └────> failed
      │  └────────┴──────> cancelled
      └── queued again (lease ran out, temporary error, next chunk)

A job's id is the id of its answer, so submitting the same request twice makes one job. The worker that runs a job has
a claim with a *token*; every later write names it and is refused once the job was given to another worker. Lost
workers are counted when their lease has run out, so a job that kills its workers is given up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from worker.jobs.config import JobLimits
from worker.jobs.job import Claim, Failure, Job, NewJob, QueueName, StoredAnswer
from worker.jobs.statistics import Durations, JobStatistics


class JobStore(ABC):
    """Jobs, their states and their answers.

    Every method is one atomic step and may be called from any thread and any process. Each raises StoreUnavailable
    when the store cannot be reached. The methods that take a claim return False, and change nothing, when the claim
    is void: the job is no longer running, or another worker has it.
    """

    limits: JobLimits

    # For callers

    @abstractmethod
    def submit(self, new: NewJob) -> bool:
        """Enter the job as queued, or join it when it is open.

        Return True when it was entered and must be announced to the workers; False when it is open, its answer is
        stored, or it failed permanently less than ``failure_ttl`` ago. Raise Overloaded when too many jobs are open,
        in all or for this caller.
        """

    @abstractmethod
    def get(self, id: str) -> Job | None:
        """Return the job, with its answer once it is done; None for an unknown id."""

    @abstractmethod
    def get_parts(self, id: str) -> dict[str, bytes]:
        """Return the finished parts of an open job's answer, by name."""

    @abstractmethod
    def get_payload(self, id: str) -> str | None:
        """Return the payload of an open job; None once it has ended."""

    @abstractmethod
    def leave(self, id: str, caller: str) -> Job | None:
        """Take the caller off the job and return the job; an open job without callers is cancelled."""

    @abstractmethod
    def put_answer(self, new: NewJob, answer: StoredAnswer) -> None:
        """Store an answer under the id of a job that need not have been submitted."""

    # For the worker that runs a job

    @abstractmethod
    def start(self, id: str, owner: str) -> Claim | None:
        """Set a queued job running; None when there is nothing to do (ended, running, unknown)."""

    @abstractmethod
    def renew(self, claim: Claim) -> bool:
        """Extend the lease; also False when the job was cancelled."""

    @abstractmethod
    def report_progress(self, claim: Claim, share: float, message: str) -> bool:
        """Store how far the job is (0 to 1) and extend the lease; also False when the job was cancelled."""

    @abstractmethod
    def put_part(self, claim: Claim, name: str, body: bytes) -> bool:
        """Store a finished part of the answer."""

    @abstractmethod
    def finish(self, claim: Claim, answer: StoredAnswer) -> bool:
        """Store the answer and set the job done; the least recently read answers make room for it."""

    @abstractmethod
    def fail(self, claim: Claim, failure: Failure) -> bool:
        """Set the job failed."""

    @abstractmethod
    def cancel(self, claim: Claim) -> bool:
        """Set the job cancelled: the worker stopped because no caller waits for it."""

    @abstractmethod
    def requeue(self, claim: Claim, delay: float, next_chunk: int | None = None) -> bool:
        """Queue the job again; the reaper announces it after ``delay`` seconds.

        With ``next_chunk`` the chunks before it are done and the attempts start over; with a delay of 0 the caller
        announces the job.
        """

    # For the reaper and for monitoring

    @abstractmethod
    def reap_lost_jobs(self) -> list[tuple[str, QueueName]]:
        """Queue the jobs of lost workers again, or fail those that lost too many; return the jobs to announce."""

    @abstractmethod
    def acquire_lock(self, lock: str, holder: str, seconds: float) -> bool:
        """Take or keep a named lock; False while another holder has it."""

    @abstractmethod
    def get_statistics(self) -> JobStatistics:
        """Count open and ended jobs."""

    @abstractmethod
    def record_durations(self, durations: Durations) -> None:
        """Add the durations of a worker's requests to Elasticsearch."""

    @abstractmethod
    def ping(self) -> None:
        """Raise StoreUnavailable when the store cannot be reached or accepts no writes."""
