"""Jobs: what is being worked on, for whom, and what came of it.

    queued ──> running ──> done ──> expired
      ^  │        │ │
      │  │        │ └────> failed
      │  └────────┴──────> cancelled
      └── handed back (lease ran out, or an error worth another try)

A job's id is the key of its answer, so asking twice is one job. Whoever runs a job holds a
*token*; every later write names it and is refused once the job was handed to somebody else.
Lost workers are counted when their lease has run out, so a job that kills its worker is seen to do so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from indexer.errors import Overloaded
from worker.jobs.statistics import Census, Durations

State = Literal["queued", "running", "done", "failed", "cancelled", "expired"]
Kind = Literal["comparison", "explanation", "ingest"]
Queue = Literal["interactive", "bulk"]

OPEN: frozenset[str] = frozenset({"queued", "running"})


@dataclass(frozen=True, slots=True)
class JobLimits:
    """How long things may take and how much may be kept; seconds and bytes."""

    lease: float = 10.0
    """A running job not renewed for this long is handed back."""
    max_lost: int = 3
    """A job that was running when its worker was lost, so often, is set aside."""
    max_tries: int = 6
    """How often a job is tried that meets an error which may pass: for half a minute, later each time."""
    resend: float = 15.0
    """A job queued this long is announced again (its message may be lost); doubles each time."""
    answer_ttl: float = 86_400.0
    tombstone: float = 86_400.0
    """How long an expired, failed or cancelled job is remembered."""
    failed_hold: float = 60.0
    """A lasting failure is the answer to the same question for this long."""
    max_bytes: int = 256 * 2**20
    """Answers kept in all; the least recently read go first."""
    max_open: int = 1000
    """Jobs queued or running; more are refused."""
    max_per_caller: int = 0
    """The same for each caller; 0: no limit of its own."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a job failed: the same words a direct error would have used."""

    code: str
    detail: str
    status: int = 500
    retryable: bool = False

    def to_dict(self) -> dict[str, Any]:
        return {"code": self.code, "detail": self.detail, "status": self.status, "retryable": self.retryable}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Failure:
        return cls(str(value["code"]), str(value["detail"]), int(value["status"]), bool(value["retryable"]))


WORKER_LOST = "worker-lost"
TIME_LIMIT = "time-limit"


@dataclass(frozen=True, slots=True)
class Answer:
    """A finished answer as it is served, and the acl of each document it names."""

    body: bytes
    acls: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    index: str = ""
    """Where those documents are."""
    stored: float = 0.0
    """Seconds since 1970 by the store's clock."""
    expires: float = 0.0
    eyes: str = ""
    """For whom it was made (``callers.eyes_of``), as the store tells it."""


@dataclass(frozen=True, slots=True)
class Job:
    id: str
    kind: Kind
    state: State
    progress: float = 0.0
    message: str = ""
    attempts: int = 0
    queue: Queue = "interactive"
    rights: str = "*"
    """Whose eyes it was made for (see ``callers.eyes_of``)."""
    failure: Failure | None = None
    answer: Answer | None = None


@dataclass(frozen=True, slots=True)
class NewJob:
    id: str
    kind: Kind
    question: str
    """JSON: all a worker needs to know."""
    caller: str
    queue: Queue = "interactive"
    rights: str = "*"


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to run a job: handed out by ``start``, void once the job was handed back."""

    id: str
    token: int
    kind: Kind
    question: str
    attempts: int
    rights: str = "*"
    cursor: int = 0
    """Which piece of a job done in pieces is next."""


def overloaded() -> Overloaded:
    return Overloaded("too many jobs are queued", fix="ask again later")


def too_many(most: int) -> Overloaded:
    return Overloaded(f"more than {most} jobs of yours are queued or running", fix="wait for some of them")


def lost_too_often(times: int) -> Failure:
    return Failure(WORKER_LOST, f"the worker was lost {times} times while running this job; it is set aside")


class JobStore(ABC):
    """Where jobs live. Every method is one atomic step; any process may call any of them."""

    limits: JobLimits

    @abstractmethod
    def submit(self, new: NewJob) -> bool:
        """Enter the job unless its answer is there or it is under way; then only join it.
        True when it was entered and must be announced to the workers. Raises Overloaded."""

    @abstractmethod
    def get(self, id: str) -> Job | None:
        """The job, its answer included once it is done; None if it was never heard of."""

    @abstractmethod
    def parts(self, id: str) -> dict[str, bytes]:
        """The parts of an open job's answer that are ready, by name."""

    @abstractmethod
    def question(self, id: str) -> str | None:
        """What an open job is asked; None once it is over."""

    @abstractmethod
    def detach(self, id: str, caller: str) -> Job | None:
        """The caller no longer waits; an open job nobody waits for is cancelled."""

    @abstractmethod
    def put(self, new: NewJob, answer: Answer) -> None:
        """Store an answer that came as a by-product of another job."""

    @abstractmethod
    def start(self, id: str, owner: str) -> Claim | None:
        """Take a queued job; None when there is nothing to do (done, taken, gone)."""

    @abstractmethod
    def renew(self, claim: Claim) -> bool:
        """Extend the lease. False: stop, the job was cancelled or belongs to another now."""

    @abstractmethod
    def progress(self, claim: Claim, share: float, message: str) -> bool:
        """Say how far it is; renews as well, with the same answer."""

    @abstractmethod
    def part(self, claim: Claim, name: str, body: bytes) -> bool: ...

    @abstractmethod
    def finish(self, claim: Claim, answer: Answer) -> bool: ...

    @abstractmethod
    def fail(self, claim: Claim, failure: Failure) -> bool: ...

    @abstractmethod
    def drop(self, claim: Claim) -> bool:
        """The worker gave up because nobody waits any more."""

    @abstractmethod
    def hand_back(self, claim: Claim, delay: float, cursor: int | None = None) -> bool:
        """Queue it again after ``delay`` seconds. With a cursor: that much is done, the attempts
        start over, and the caller announces the job itself when there is no delay."""

    @abstractmethod
    def reap(self) -> list[tuple[str, Queue]]:
        """Hand back what lost its worker; the jobs to announce (again)."""

    @abstractmethod
    def census(self) -> Census:
        """What there is to do and what came of what was done."""

    @abstractmethod
    def waited(self, durations: Durations) -> None:
        """Add what a worker waited for Elasticsearch."""

    @abstractmethod
    def ping(self) -> None:
        """Raise StoreUnavailable when the store cannot be reached."""
