"""The Celery app: two queues, nothing but JSON, no result backend (the job store holds results).

``interactive`` takes comparisons and pages somebody waits for; ``bulk`` takes ingestion, cut into
short tasks so that a worker that serves both queues is never long away from the first.

A message carries a job's id and nothing else. It is acknowledged after the work, so a lost worker's
message comes back; what comes back for a job that is done or running elsewhere has no effect.
"""

from __future__ import annotations

import os
import threading
from typing import Any

from celery import Celery
from kombu.entity import Exchange
from kombu.entity import Queue as KombuQueue
from kombu.exceptions import OperationalError

from indexer.errors import BadSetting, StoreUnavailable
from worker.jobs.config import WorkConfig, work_config
from worker.jobs.job import Queue
from worker.service.container import Service

TASK = "phrasecom.run"
_GROWN = 0.75
"""The share of its memory limit at which a worker process is replaced."""
_FIRST, _USUAL = 0, 3
"""Priorities of messages; two of the four steps that Celery has on Redis."""
QUEUES: tuple[Queue, ...] = ("interactive", "bulk")


def make_app(config: WorkConfig) -> Celery:
    app = Celery("phrasecom", broker=config.redis_url or "memory://", set_as_current=False)
    app.conf.update(
        accept_content=["json"],
        task_serializer="json",
        task_ignore_result=True,
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        task_soft_time_limit=config.soft_limit,
        task_time_limit=config.hard_limit,
        task_queues=[_queue(name) for name in QUEUES],
        task_default_queue="interactive",
        task_create_missing_queues=False,
        worker_prefetch_multiplier=1,
        # One that has grown is replaced between two jobs, before it runs into its limit.
        worker_max_memory_per_child=int(_GROWN * config.memory / 1024) or None,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        worker_hijack_root_logger=False,
        broker_connection_retry_on_startup=True,
        broker_transport_options={
            "global_keyprefix": config.key_prefix + "broker:",
            "visibility_timeout": config.visibility,
            # Without these two a lost message is looked for every hundred seconds only.
            "unacked_restore_interval": 1,
            "unacked_restore_throttle": 1,
            "socket_connect_timeout": 2,
        },
    )
    return app


def _queue(name: Queue) -> KombuQueue:
    """With an exchange of its own: Celery would bind every queue to the default one, each message to all of them."""
    return KombuQueue(name, Exchange(name, type="direct"), routing_key=name)  # type: ignore[no-untyped-call]


def announce(app: Celery, id: str, queue: Queue, *, again: bool = False) -> None:
    """Put a job's message on its queue; ``again``: ahead of the others, its caller has waited already."""
    priority = _FIRST if again else _USUAL
    try:
        app.send_task(TASK, args=[id], queue=queue, priority=priority, ignore_result=True, retry=False)
    except OperationalError as error:
        raise StoreUnavailable("the queue cannot be reached", fix="start Redis, or serve with --inline") from error


def start_worker(config: WorkConfig, *, concurrency: int = 2, queues: tuple[Queue, ...] = QUEUES) -> int:
    """Run a worker until it is told to stop (SIGTERM finishes what is running). The exit status."""
    if not config.redis_url:
        raise BadSetting("a worker needs Redis", fix="set PHRASECOM_REDIS_URL, or serve with --inline")
    from worker.process.celery_logging import in_one_form
    from worker.process.tasks import worker_app
    from worker.reaching import wait_for_store

    wait_for_store(config.redis_url)
    use(config)
    app = worker_app(config)
    general = ["--quiet"] if in_one_form() else []
    options = ["--without-gossip", "--without-mingle", "--loglevel=INFO", f"--concurrency={concurrency}"]
    app.worker_main([*general, "worker", *options, "--queues=" + ",".join(queues)])
    return 0


_lock = threading.Lock()
_config: WorkConfig | None = None
_service: Service | None = None


def use(config: WorkConfig) -> None:
    """What this process and its children are to use instead of the environment."""
    global _config
    _config = config


def service() -> Service:
    """This process's service; a forked child opens its own."""
    global _service
    with _lock:
        if _service is None:
            _service = Service(_config or work_config())
        return _service


def comparer() -> Any:
    return service().comparer


def _forked() -> None:
    global _service, _lock
    _service, _lock = None, threading.Lock()


os.register_at_fork(after_in_child=_forked)
