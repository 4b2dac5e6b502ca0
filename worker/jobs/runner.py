"""Running one job, whatever its kind: claim it, keep it, do it, say what came of it."""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from indexer.errors import PhraseComError, StoreUnavailable, TooLarge, Unavailable
from worker.jobs.job import TIME_LIMIT, Answer, Claim, Failure, JobStore
from worker.jobs.lease import Lease, Stopped

log = logging.getLogger(__name__)
_BUSY_SECONDS = 2.0
_PASSED_ON = 60
"""How often a job is left to a worker of another version: for two to four minutes."""
_LONGEST_WAIT = 8.0
"""Seconds between two tries of a job that meets an error which may pass."""
_SMALLER = "make the sides smaller, or raise worker_memory_bytes"


class NotMine(Exception):
    """The job is for a worker of another version."""


class TimeLimit(Exception):
    """The soft time limit struck."""


@dataclass(frozen=True, slots=True)
class More:
    """What a job done in pieces returns when there is more to do."""

    cursor: int


class Running:
    """What the work sees of its job."""

    def __init__(self, store: JobStore, claim: Claim, lease: Lease) -> None:
        self.claim = claim
        self._store = store
        self._lease = lease

    def progress(self, share: float, message: str = "") -> None:
        """Say how far it is; raises Stopped when the work should end."""
        self._lease.check()
        try:
            going_on = self._store.progress(self.claim, min(max(share, 0.0), 1.0), message)
        except StoreUnavailable:
            return  # the answer may still be stored when the server is back
        if not going_on:
            self._lease.void()
            self._lease.check()

    def part(self, name: str, body: bytes) -> None:
        """One ready part of the answer."""
        self._lease.check()
        if not self._store.part(self.claim, name, body):
            raise Stopped(self.claim.id)


Work = Callable[[Running], Answer | More]


def owner_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{threading.get_ident()}"


def run_job(store: JobStore, id: str, works: Mapping[str, Work]) -> bool:
    """Run the job if it is there to be run. True when there are more pieces to announce."""
    claim = store.start(id, owner_name())
    if claim is None:
        log.info("job %s: nothing to do", id)
        return False
    with Lease(store, claim) as lease:
        running = Running(store, claim, lease)
        try:
            outcome = works[claim.kind](running)
        except Stopped:
            store.drop(claim)
        except NotMine as error:
            _pass_on(store, claim, error)
        except TimeLimit:
            store.fail(claim, Failure(TIME_LIMIT, "the job ran into its time limit", 504))
        except MemoryError:
            log.error("job %s needs more memory than a worker may take", id)
            store.fail(claim, Failure(TooLarge.code, f"the job needs too much memory; {_SMALLER}", TooLarge.status))
        except PhraseComError as error:
            _failed(store, claim, error)
        except Exception:  # whatever happens in one job must not end the worker
            log.exception("job %s failed", id)
            store.fail(claim, Failure("internal", "an internal error; the worker's log has the details"))
        else:
            if isinstance(outcome, More):
                return store.hand_back(claim, 0, outcome.cursor)
            store.finish(claim, outcome)
    return False


def _pass_on(store: JobStore, claim: Claim, error: NotMine) -> None:
    """Leave it to another worker; one that can do it may be started any moment while the service is upgraded."""
    if claim.attempts < _PASSED_ON:
        log.warning("job %s is left to another worker: %s", claim.id, error)
        store.hand_back(claim, delay=_BUSY_SECONDS)
    else:
        detail = f"no worker can do this: {error}; upgrade the workers"
        store.fail(claim, Failure(Unavailable.code, detail, Unavailable.status, retryable=True))


def _failed(store: JobStore, claim: Claim, error: PhraseComError) -> None:
    """An error that may pass is tried again, later each time; any other is the answer."""
    if error.retryable and claim.kind == "ingest":
        # a rebuild ends, a full disk is emptied: the documents wait for it, as long as they are kept
        log.info("job %s: %s; its documents wait", claim.id, error)
        store.hand_back(claim, delay=_BUSY_SECONDS, cursor=claim.cursor)
    elif error.retryable and claim.attempts < store.limits.max_tries:
        log.info("job %s: %s; trying again", claim.id, error)
        store.hand_back(claim, delay=min(2.0 ** (claim.attempts - 1), _LONGEST_WAIT))
    else:
        store.fail(claim, Failure(error.code, str(error), error.status, error.retryable))
