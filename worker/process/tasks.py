"""What a Celery worker does: one task that runs a job by its id, and the reaper beside it."""

from __future__ import annotations

import resource
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from billiard.exceptions import SoftTimeLimitExceeded
from celery import Celery
from celery.signals import worker_process_init, worker_ready, worker_shutdown

from indexer.errors import StoreUnavailable
from worker.jobs.celery_queue import TASK, announce, make_app, service
from worker.jobs.config import WorkConfig
from worker.jobs.job import Answer
from worker.jobs.lease import Reaper
from worker.jobs.redis_store import RedisJobs, connect
from worker.jobs.runner import More, Running, TimeLimit, Work, owner_name, run_job
from worker.service.job_handlers import works


def worker_app(config: WorkConfig) -> Celery:
    """The app with its task, and with a reaper that lives as long as the worker."""
    app = make_app(config)

    @app.task(name=TASK)  # type: ignore[untyped-decorator]
    def run(id: str) -> None:
        ours = service()
        limited = {kind: _limited(work) for kind, work in works(ours).items()}
        if run_job(ours.store, id, limited):
            announce(app, id, "bulk")
        durations = ours.stopwatch.take()
        if durations.counts:
            with suppress(StoreUnavailable):  # a few measurements less
                ours.store.waited(durations)

    _reap_beside(app, config)
    if config.memory:
        _when(worker_process_init, lambda **_: limit_memory(config.memory))
    return app


def limit_memory(most: int) -> None:
    """What this process may allocate; files that are mapped for reading do not count."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _limited(work: Work) -> Work:
    """The same work, its soft time limit told apart from a failure."""

    def inner(running: Running) -> Answer | More:
        try:
            return work(running)
        except SoftTimeLimitExceeded as error:
            raise TimeLimit from error

    return inner


def _reap_beside(app: Celery, config: WorkConfig) -> None:
    store = RedisJobs(connect(config.redis_url), config.limits, config.key_prefix)
    reaper = Reaper(store, lambda id, queue: announce(app, id, queue, again=True), config.reap_every, owner_name())
    _when(worker_ready, lambda **_: reaper.start())
    _when(worker_shutdown, lambda **_: reaper.stop())


def _when(signal: Any, handler: Callable[..., None]) -> None:
    signal.connect(handler, weak=False)
