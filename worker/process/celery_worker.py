"""The worker process: a Celery worker with one task that runs a job by its id, and a reaper."""

from __future__ import annotations

import os
import resource
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from billiard.exceptions import SoftTimeLimitExceeded
from celery import Celery
from celery.signals import worker_process_init, worker_ready, worker_shutdown
from celery.worker.consumer import Consumer
from celery.worker.state import maybe_shutdown

from indexer.errors import BadSetting, StoreUnavailable
from worker.jobs.celery_queue import TASK_NAME, announce_job, make_celery_app
from worker.jobs.config import WorkConfig, load_work_config
from worker.jobs.job import QUEUES, QueueName, StoredAnswer
from worker.jobs.reaper import Reaper
from worker.jobs.redis_store import RedisJobStore
from worker.jobs.runner import Continue, JobContext, JobHandler, SoftTimeLimitReached, make_owner_name, run_job_chunk
from worker.process.celery_logging import use_application_logging
from worker.redis_connection import connect, wait_for_redis
from worker.service.container import ServiceContainer
from worker.service.job_handlers import make_job_handlers

_lock = threading.Lock()
_config: WorkConfig | None = None
_container: ServiceContainer | None = None


def start_worker(config: WorkConfig, *, concurrency: int = 2, queues: tuple[QueueName, ...] = QUEUES) -> int:
    """Run a worker until it is stopped and return its exit status; SIGTERM lets running jobs finish.

    Raise BadSetting when no Redis is configured, or when it refuses the connection.
    """
    if not config.redis_url:
        raise BadSetting("a worker needs Redis", fix="set PHRASECOM_REDIS_URL, or run phrasecom serve --inline")
    wait_for_redis(config.redis_url)
    configure_process(config)
    app = make_worker_app(config)
    general = ["--quiet"] if use_application_logging() else []
    options = ["--without-gossip", "--without-mingle", "--loglevel=INFO", f"--concurrency={concurrency}"]
    app.worker_main([*general, "worker", *options, "--queues=" + ",".join(queues)])
    return 0


def make_worker_app(config: WorkConfig) -> Celery:
    """Return the Celery app with its task, and with a reaper that lives as long as the worker."""
    app = make_celery_app(config)
    app.conf.worker_consumer = WaitingConsumer

    @app.task(name=TASK_NAME)  # type: ignore[untyped-decorator]
    def run(id: str) -> None:
        container = get_container()
        handlers = {kind: _translate_time_limit(handler) for kind, handler in make_job_handlers(container).items()}
        if run_job_chunk(container.store, id, handlers):
            announce_job(app, id, "bulk")
        durations = container.engine_durations.drain()
        if durations.counts:
            with suppress(StoreUnavailable):  # only measurements are lost
                container.store.record_durations(durations)

    _attach_reaper(app, config)
    if config.memory_bytes:
        _connect_signal(worker_process_init, lambda **_: limit_memory(config.memory_bytes))
    return app


class WaitingConsumer(Consumer):  # type: ignore[misc]
    """A consumer that connects when Redis accepts writes, at first and after each failure.

    Celery's own gives up after a number of attempts, and makes them without a pause if the server answers but refuses.
    """

    def connect(self) -> Any:
        wait_for_redis(str(self.app.conf.broker_url), _pause_or_shut_down)
        return super().connect()


def _pause_or_shut_down(seconds: float) -> None:
    """Sleep; raise what ends the worker if it was stopped meanwhile."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        maybe_shutdown()
        time.sleep(0.2)


def limit_memory(max_bytes: int) -> None:
    """Limit what this process may allocate; files mapped for reading do not count."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    soft = max_bytes if hard == resource.RLIM_INFINITY else min(max_bytes, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def configure_process(config: WorkConfig) -> None:
    """Set the configuration of this process and its children; without it they read the environment."""
    global _config
    _config = config


def get_container() -> ServiceContainer:
    """Return the container of this process; a forked child opens its own."""
    global _container
    with _lock:
        if _container is None:
            _container = ServiceContainer(_config or load_work_config())
        return _container


def _reset_after_fork() -> None:
    global _container, _lock
    _container, _lock = None, threading.Lock()


os.register_at_fork(after_in_child=_reset_after_fork)


def _translate_time_limit(handler: JobHandler) -> JobHandler:
    """Wrap a handler so that Celery's soft time limit becomes SoftTimeLimitReached."""

    def run_limited(context: JobContext) -> StoredAnswer | Continue:
        try:
            return handler(context)
        except SoftTimeLimitExceeded as error:
            raise SoftTimeLimitReached from error

    return run_limited


def _attach_reaper(app: Celery, config: WorkConfig) -> None:
    store = RedisJobStore(connect(config.redis_url), config.limits, config.key_prefix)

    def announce_again(id: str, queue: QueueName) -> None:
        announce_job(app, id, queue, repeated=True)

    reaper = Reaper(store, announce_again, config.reap_interval, make_owner_name())
    _connect_signal(worker_ready, lambda **_: reaper.start())
    _connect_signal(worker_shutdown, lambda **_: reaper.stop())


def _connect_signal(signal: Any, handler: Callable[..., None]) -> None:
    signal.connect(handler, weak=False)
