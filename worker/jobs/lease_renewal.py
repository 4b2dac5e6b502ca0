"""The lease of a running job: renewed while the job runs, so that no other worker takes the job."""

from __future__ import annotations

import logging
import threading
from types import TracebackType
from typing import Self

from indexer.errors import StoreUnavailable
from worker.jobs.job import Claim
from worker.jobs.store import JobStore

log = logging.getLogger(__name__)


class JobStopped(Exception):
    """The job was cancelled, or another worker has it now."""


class Lease:
    """Renews a claim from a thread of its own while the job runs.

    The work calls ``check()`` now and then, which raises JobStopped once the claim is void. A store that cannot be
    reached does not make the claim void; the lease only runs out.
    """

    def __init__(self, store: JobStore, claim: Claim) -> None:
        self._store = store
        self._claim = claim
        self._is_closed = threading.Event()
        self._is_revoked = threading.Event()
        self._thread = threading.Thread(target=self._renew_until_closed, name=f"lease-{claim.id[:8]}", daemon=True)

    def check(self) -> None:
        """Raise JobStopped if the claim is void."""
        if self._is_revoked.is_set():
            raise JobStopped(self._claim.id)

    def revoke(self) -> None:
        """Mark the claim as void."""
        self._is_revoked.set()

    def _renew_until_closed(self) -> None:
        while not self._is_closed.wait(self._store.limits.lease_seconds / 4):
            try:
                if not self._store.renew(self._claim):
                    self._is_revoked.set()
                    return
            except StoreUnavailable:
                log.warning("cannot renew the lease of job %s: the job store cannot be reached", self._claim.id)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._is_closed.set()
        self._thread.join(timeout=5)
