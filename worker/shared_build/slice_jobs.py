"""Submits the slices of a pass to the workers, a number at a time, and waits for their answers."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from indexer.errors import Overloaded, StoreUnavailable, Unavailable
from worker.jobs.job import Job, NewJob
from worker.service.build_slices import SliceReport, SliceTask
from worker.service.container import ServiceContainer

log = logging.getLogger(__name__)

MAX_OPEN_SLICES = 256
"""Slices submitted and not merged yet: enough to keep many workers busy, and a bound for what they leave to merge."""
_POLL_SECONDS = 0.2
_STORE_PATIENCE = 600.0
"""Seconds for which Redis may be out of reach: a build of hours should not be lost with a restart of it."""
_SILENCE_SECONDS = 60.0
"""Seconds without any answer after which it is said that the workers may not run, or not for this queue."""
NO_WORKER_FIX = "start workers, on any machines: phrasecom worker --queue bulk"


class SliceJobs:
    """Jobs of one build; counts the workers that answered, and the attempts at slices that had to be repeated."""

    def __init__(self, container: ServiceContainer, warn: Callable[[str], None] = log.warning) -> None:
        self._container, self._warn = container, warn
        self._open: dict[str, tuple[SliceTask, NewJob]] = {}
        self._last_contact = self._last_answer = time.monotonic()
        self.workers: set[str] = set()
        self.retries = 0

    def require_worker(self) -> None:
        """Raise Unavailable if no worker runs; one that has just been started may need a moment to be seen."""
        deadline = time.monotonic() + 3 * self._container.config.reap_interval
        while not self._container.store.get_statistics().has_worker:
            if time.monotonic() > deadline:
                raise Unavailable("no worker is running that could take a share of the build", fix=NO_WORKER_FIX)
            time.sleep(_POLL_SECONDS)

    def run(self, tasks: Iterable[SliceTask]) -> Iterator[tuple[SliceTask, SliceReport]]:
        """Yield each task with its report, in the order in which they are done.

        Raise Unavailable with the reason if a slice fails for good, or Redis is out of reach for too long.
        """
        waiting = iter(tasks)
        self._last_contact = self._last_answer = time.monotonic()
        task = next(waiting, None)
        while task is not None or self._open:
            done: list[tuple[SliceTask, SliceReport]] = []
            failure: StoreUnavailable | None = None
            try:
                while task is not None and len(self._open) < MAX_OPEN_SLICES and self._submit(task):
                    task = next(waiting, None)
                for each in self._take_answers():
                    done.append(each)  # those before an error are taken
                self._last_contact = time.monotonic()
            except StoreUnavailable as error:
                failure = error
            yield from done
            if failure is not None:
                self._wait_for_store(failure)
            elif not done:
                self._warn_of_silence()
                time.sleep(_POLL_SECONDS)

    def cancel(self) -> None:
        """Take back the slices that are open: nobody waits for them."""
        with suppress(StoreUnavailable):
            for _, job in self._open.values():
                self._container.store.leave(job.id, job.caller)
        self._open.clear()

    def _submit(self, task: SliceTask) -> bool:
        """Submit a slice; return False if the queue is full."""
        job = task.make_job()
        try:
            is_new = self._container.store.submit(job)
        except Overloaded:
            return False
        self._open[job.id] = (task, job)
        if is_new:
            self._container.announce_job(job.id, job.queue)
        return True

    def _take_answers(self) -> Iterator[tuple[SliceTask, SliceReport]]:
        for id, (task, new) in list(self._open.items()):
            job = self._container.store.get(id)
            if job is None or job.state == "expired":  # Redis was emptied, or dropped the answer for want of room
                with suppress(Overloaded):  # of a full queue; the next round tries again
                    if self._container.store.submit(new):
                        self._container.announce_job(id, new.queue)
                    self.retries += 1
            elif job.state in ("failed", "cancelled"):
                raise _make_failure(task, job)
            elif job.answer is not None:
                report = SliceReport.from_json(job.answer.body)
                self.workers.add(report.worker)
                self.retries += max(job.attempts - 1, 0)
                self._last_answer = time.monotonic()
                del self._open[id]
                yield task, report

    def _wait_for_store(self, error: StoreUnavailable) -> None:
        if time.monotonic() - self._last_contact > _STORE_PATIENCE:
            raise error
        self._warn(f"{error}; trying again")
        time.sleep(5 * _POLL_SECONDS)

    def _warn_of_silence(self) -> None:
        if time.monotonic() - self._last_answer > _SILENCE_SECONDS:
            self._last_answer = time.monotonic()
            self._warn(f"waiting: no slice was done for {_SILENCE_SECONDS:.0f} seconds; {NO_WORKER_FIX}")


def _make_failure(task: SliceTask, job: Job) -> Unavailable:
    reason = job.failure.detail if job.failure else "it was cancelled"
    return Unavailable(
        f"slice {task.number} of the pass {task.pass_name!r} failed: {reason}",
        fix="remove the cause and run the command again; the index is as it was",
    )
