"""The values that describe a job: the job itself, a new one, the right to run one, its answer or its failure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from indexer.errors import Overloaded

JobState = Literal["queued", "running", "done", "failed", "cancelled", "expired"]
JobKind = Literal["comparison", "explanation", "ingest"]
QueueName = Literal["interactive", "bulk"]

QUEUES: tuple[QueueName, ...] = ("interactive", "bulk")
OPEN_STATES: frozenset[str] = frozenset({"queued", "running"})
WORKER_LOST = "worker-lost"
"""Code of the failure of a job whose workers died."""
TIME_LIMIT = "time-limit"
"""Code of the failure of a job that ran too long."""


def get_setting_default(name: str) -> Any:
    """Return the default of a setting. Imports the settings when called: importing them takes 0.4 s."""
    from indexer.settings import Settings

    return Settings.model_fields[name].default


@dataclass(frozen=True, slots=True)
class JobLimits:
    """How long jobs may take and how much is stored; seconds and bytes."""

    lease_seconds: float = 10.0
    """A running job whose lease was not renewed for this long is queued again."""
    max_lost_workers: int = 3
    """A job that was running when this many workers were lost is given up."""
    max_attempts: int = 6
    """Attempts at a job that meets a temporary error: for half a minute, with growing pauses."""
    resend_seconds: float = 15.0
    """A job queued for this long is announced again (its message may be lost); doubles each time."""
    answer_ttl: float = field(default_factory=partial(get_setting_default, "answer_ttl_seconds"))
    tombstone_ttl: float = 86_400.0
    """How long an expired, failed or cancelled job is remembered."""
    failure_ttl: float = 60.0
    """For this long a permanent failure is returned instead of running the same job again."""
    max_answer_bytes: int = field(default_factory=partial(get_setting_default, "answers_bytes"))
    """Bytes of all stored answers; the least recently read are removed first."""
    max_open_jobs: int = field(default_factory=partial(get_setting_default, "max_queue"))
    """Jobs queued or running; more are refused."""
    max_jobs_per_caller: int = field(default_factory=partial(get_setting_default, "max_jobs_per_caller"))
    """Jobs queued or running for one caller; 0: no limit."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a job failed, in the code and words of a direct error."""

    code: str
    detail: str
    status: int = 500
    retryable: bool = False

    def to_dict(self) -> dict[str, Any]:
        return {"code": self.code, "detail": self.detail, "status": self.status, "retryable": self.retryable}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Failure:
        return cls(str(value["code"]), str(value["detail"]), int(value["status"]), bool(value["retryable"]))


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """A finished answer as it is sent, and the acl of each document it names."""

    body: bytes
    acls: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Document id -> groups that may read it."""
    index: str = ""
    """The index of those documents."""
    stored_at: float = 0.0
    """Seconds since 1970 by the store's clock; set by the store."""
    expires_at: float = 0.0
    """Seconds since 1970 by the store's clock; set by the store."""
    access_key: str = ""
    """The index and groups it was made for (``access.make_access_key``); set by the store."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job as the store knows it."""

    id: str
    kind: JobKind
    state: JobState
    progress: float = 0.0
    """From 0 to 1."""
    message: str = ""
    attempts: int = 0
    queue: QueueName = "interactive"
    access_key: str = "*"
    """The index and groups it was made for (``access.make_access_key``)."""
    failure: Failure | None = None
    answer: StoredAnswer | None = None


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to be submitted. Its id is derived from its content, so submitting it twice makes one job."""

    id: str
    kind: JobKind
    payload: str
    """JSON (``payloads``): all that a worker needs to know."""
    caller: str
    queue: QueueName = "interactive"
    access_key: str = "*"


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to run a job: returned by ``JobStore.start``, void once the job was queued again or closed."""

    id: str
    token: int
    """Changes whenever the job gets another owner; a write with an old token is refused."""
    kind: JobKind
    payload: str
    attempts: int
    access_key: str = "*"
    next_chunk: int = 0
    """The number of the next chunk of a job that is done in chunks."""


def queue_full_error() -> Overloaded:
    return Overloaded("too many jobs are queued", fix="ask again later")


def caller_limit_error(max_jobs: int) -> Overloaded:
    return Overloaded(f"more than {max_jobs} jobs of yours are queued or running", fix="wait for some of them")


def worker_lost_failure(times: int) -> Failure:
    return Failure(WORKER_LOST, f"the worker was lost {times} times while running this job; it is set aside")
