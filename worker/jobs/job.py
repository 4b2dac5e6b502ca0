"""The values that describe a job: the job itself, a new one, the right to run one, its answer or its failure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from indexer.errors import Overloaded

JobState = Literal["queued", "running", "done", "failed", "cancelled", "expired"]
JobKind = Literal["comparison", "explanation", "page-batch", "ingest", "build-slice"]
QueueName = Literal["interactive", "bulk"]

QUEUES: tuple[QueueName, ...] = ("interactive", "bulk")
OPEN_STATES: frozenset[str] = frozenset({"queued", "running"})
WORKER_LOST = "worker-lost"
"""Code of the failure of a job whose workers died."""
TIME_LIMIT = "time-limit"
"""Code of the failure of a job that ran too long."""


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
    """By the monotonic clock of this process; set by the store."""
    expires_at: float = 0.0
    """By the monotonic clock of this process; set by the store."""
    access_key: str = ""
    """The index and groups it was made for (``access.make_access_key``); set by the store."""
    query_vector: bytes | None = field(default=None, repr=False)
    """Vector of the query of a results page, for the comparisons behind its hits; it is not sent."""

    @property
    def size(self) -> int:
        """Bytes that count against the limit of all answers."""
        return len(self.body) + len(self.query_vector or b"")


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


def make_queue_full_error() -> Overloaded:
    return Overloaded("too many jobs are queued", fix="try again later")


def make_caller_limit_error(max_jobs: int) -> Overloaded:
    return Overloaded(f"you have more than {max_jobs} jobs queued or running", fix="wait until some are done")


def make_worker_lost_failure(lost_count: int) -> Failure:
    return Failure(
        WORKER_LOST, f"the worker was lost {lost_count} times while running this job; it will not be retried"
    )
