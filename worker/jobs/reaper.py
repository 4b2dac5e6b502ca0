"""The reaper: queues the jobs of lost workers again and announces jobs whose message may be lost."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from indexer.errors import StoreUnavailable
from worker.jobs.job import QueueName
from worker.jobs.store import JobStore

log = logging.getLogger(__name__)


class Reaper:
    """A thread in every worker; the one whose worker has the lock does the work."""

    def __init__(
        self, store: JobStore, announce: Callable[[str, QueueName], None], interval: float, owner: str
    ) -> None:
        self._store = store
        self._announce = announce
        self._interval = interval
        self._owner = owner
        self._is_stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="reaper", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._is_stopped.set()
        if self._thread.ident is not None:  # a worker may be stopped before it was ready
            self._thread.join(timeout=5)

    def reap_and_announce(self) -> int:
        """Run one round if this reaper has the lock; return the number of jobs announced."""
        if not self._store.acquire_lock("reaper", self._owner, self._interval * 3):
            return 0
        jobs = self._store.reap_lost_jobs()
        for id, queue in jobs:
            self._announce(id, queue)
        return len(jobs)

    def _run(self) -> None:
        while not self._is_stopped.wait(self._interval):
            try:
                announced = self.reap_and_announce()
            except StoreUnavailable as error:
                log.warning("reaper: %s", error)
            else:
                if announced:
                    log.info("reaper: sent %d jobs to the queue again", announced)
