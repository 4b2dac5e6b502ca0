"""Keeping a running job ours, and taking back the jobs of workers that are gone."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from indexer.errors import StoreUnavailable
from worker.jobs.job import Claim, JobStore, Queue

log = logging.getLogger(__name__)


class Stopped(Exception):
    """Nobody waits for this job any more, or it belongs to another worker."""


class Lease:
    """Renews a claim from a thread of its own while the work goes on.

    ``check()`` is what the work calls now and then: it raises Stopped once the claim is void.
    A store that cannot be reached voids nothing by itself; it only lets the lease run out.
    """

    def __init__(self, store: JobStore, claim: Claim) -> None:
        self._store = store
        self._claim = claim
        self._over = threading.Event()
        self._void = threading.Event()
        self._thread = threading.Thread(target=self._keep, name=f"lease-{claim.id[:8]}", daemon=True)

    def check(self) -> None:
        if self._void.is_set():
            raise Stopped(self._claim.id)

    def void(self) -> None:
        self._void.set()

    def _keep(self) -> None:
        while not self._over.wait(self._store.limits.lease / 4):
            try:
                if not self._store.renew(self._claim):
                    self._void.set()
                    return
            except StoreUnavailable:
                log.warning("cannot renew the lease of job %s: the job store cannot be reached", self._claim.id)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._over.set()
        self._thread.join(timeout=5)


class Electing(Protocol):
    def hold(self, lock: str, holder: str, seconds: float) -> bool: ...

    def reap(self) -> list[tuple[str, Queue]]: ...


class Reaper:
    """Runs in every worker; the one that holds the lock does the work."""

    def __init__(self, store: Electing, announce: Callable[[str, Queue], None], every: float, name: str) -> None:
        self._store = store
        self._announce = announce
        self._every = every
        self._name = name
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="reaper", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        if self._thread.ident is not None:  # a worker may be told to stop before it was ready
            self._thread.join(timeout=5)

    def once(self) -> int:
        """One round; how many jobs were announced again."""
        if not self._store.hold("reaper", self._name, self._every * 3):
            return 0
        jobs = self._store.reap()
        for id, queue in jobs:
            self._announce(id, queue)
        return len(jobs)

    def _loop(self) -> None:
        while not self._over.wait(self._every):
            try:
                again = self.once()
            except StoreUnavailable as error:
                log.warning("reaper: %s", error)
            else:
                if again:
                    log.info("reaper: announced %d jobs again", again)
