"""Runs one job of any kind: claims it, keeps the lease, calls its handler and stores the outcome."""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from indexer.errors import PhraseComError, StoreUnavailable, TooLarge, Unavailable
from worker.jobs.job import TIME_LIMIT, Claim, Failure, JobKind, StoredAnswer
from worker.jobs.lease_renewal import JobStopped, Lease
from worker.jobs.store import JobStore

log = logging.getLogger(__name__)
_RETRY_SECONDS = 2.0
"""Pause before a job that this worker cannot do, or documents that cannot be added yet, are tried again."""
MAX_VERSION_ATTEMPTS = 60
"""Attempts at a job that needs a worker of a newer version: for two to four minutes."""
_MAX_RETRY_SECONDS = 8.0
"""The longest pause between two attempts at a job that meets a temporary error."""
_MEMORY_FIX = "make the sides smaller, or raise worker_memory_bytes"


class NewerAlgorithm(Exception):
    """The job needs a worker of a newer version."""


class SoftTimeLimitReached(Exception):
    """The job ran into its soft time limit."""


@dataclass(frozen=True, slots=True)
class Continue:
    """The outcome of a job done in chunks when more chunks are left."""

    next_chunk: int


class JobContext:
    """A handler's view of its job: the claim, and what it may report while it works."""

    def __init__(self, store: JobStore, claim: Claim, lease: Lease) -> None:
        self.claim = claim
        self._store = store
        self._lease = lease
        self._cleanups: list[Callable[[], None]] = []

    def add_cleanup(self, cleanup: Callable[[], None]) -> None:
        """Call ``cleanup`` once the outcome is stored; not if the job belongs to another worker by then, who may still
        need what would be removed."""
        self._cleanups.append(cleanup)

    def run_cleanups(self) -> None:
        for cleanup in self._cleanups:
            cleanup()

    def report_progress(self, share: float, message: str = "") -> None:
        """Store how far the job is (0 to 1); raise JobStopped when the work should end."""
        self._lease.check()
        try:
            is_valid = self._store.report_progress(self.claim, min(max(share, 0.0), 1.0), message)
        except StoreUnavailable:
            return  # the answer may still be stored when the server is back
        if not is_valid:
            self._lease.revoke()
            self._lease.check()

    def check_claim(self) -> None:
        """Raise JobStopped unless the store confirms that the job still belongs to this worker.

        A worker that was suspended finds out here that its job was given to another one. Raise StoreUnavailable if the
        store cannot be asked.
        """
        self._lease.check()
        if not self._store.renew(self.claim):
            raise JobStopped(self.claim.id)

    def put_part(self, name: str, body: bytes) -> None:
        """Store a finished part of the answer; raise JobStopped when the work should end."""
        self._lease.check()
        if not self._store.put_part(self.claim, name, body):
            raise JobStopped(self.claim.id)


JobHandler = Callable[[JobContext], StoredAnswer | Continue]


def make_owner_name() -> str:
    """Return a name for this thread that is unique among all workers."""
    return f"{socket.gethostname()}:{os.getpid()}:{threading.get_ident()}"


def run_job_chunk(store: JobStore, id: str, handlers: Mapping[JobKind, JobHandler]) -> bool:
    """Run the job if it is queued; return whether it has more chunks and must be announced again.

    ``handlers``: kind of job -> its handler. Errors of the handler become the job's failure.
    """
    claim = store.start(id, make_owner_name())
    if claim is None:
        log.info("job %s: nothing to do", id)
        return False
    with Lease(store, claim) as lease:
        context = JobContext(store, claim, lease)
        try:
            outcome = handlers[claim.kind](context)
        except JobStopped:
            log.info("job %s: stopped, since it was cancelled or another worker has it", id)
            store.cancel(claim)
        except NewerAlgorithm as error:
            _leave_to_newer_worker(store, claim, error)
        except SoftTimeLimitReached:
            store.fail(claim, Failure(TIME_LIMIT, "the job exceeded its time limit", 504))
        except MemoryError:
            log.error("job %s exceeded the memory limit of a worker", id)
            store.fail(
                claim, Failure(TooLarge.code, f"the job exceeded the memory limit; {_MEMORY_FIX}", TooLarge.status)
            )
        except PhraseComError as error:
            _retry_or_fail(store, claim, error)
        except Exception:  # whatever happens in one job must not end the worker
            log.exception("job %s failed", id)
            store.fail(claim, Failure("internal", "internal error; see the worker's log"))
        else:
            has_more = isinstance(outcome, Continue)
            is_stored = (
                store.requeue(claim, 0, outcome.next_chunk)
                if isinstance(outcome, Continue)
                else store.finish(claim, outcome)
            )
            if is_stored:
                context.run_cleanups()
            return has_more and is_stored
    return False


def _leave_to_newer_worker(store: JobStore, claim: Claim, error: NewerAlgorithm) -> None:
    """Queue the job again: while the service is upgraded, a worker that can do it may start at any moment."""
    if claim.attempts < MAX_VERSION_ATTEMPTS:
        log.warning("job %s released for another worker: %s", claim.id, error)
        store.requeue(claim, delay=_RETRY_SECONDS)
    else:
        detail = f"no worker can run this job: {error}; upgrade the workers"
        store.fail(claim, Failure(Unavailable.code, detail, Unavailable.status, retryable=True))


def _retry_or_fail(store: JobStore, claim: Claim, error: PhraseComError) -> None:
    """Queue the job again after a temporary error, with growing pauses; any other error is its failure."""
    if error.retryable and claim.kind == "ingest":
        # a rebuild ends, a full disk is emptied: the documents wait for that, as long as they are stored
        log.info("job %s: %s; its documents will be written later", claim.id, error)
        store.requeue(claim, delay=_RETRY_SECONDS, next_chunk=claim.next_chunk)
    elif error.retryable and claim.attempts < store.limits.max_attempts:
        log.info("job %s: %s; retrying", claim.id, error)
        store.requeue(claim, delay=min(2.0 ** (claim.attempts - 1), _MAX_RETRY_SECONDS))
    else:
        store.fail(claim, Failure(error.code, str(error), error.status, error.retryable))
