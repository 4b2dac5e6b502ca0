"""The Celery app: two queues of messages, JSON only, no result backend.

``interactive`` takes comparisons and pages that a caller waits for; ``bulk`` takes ingestion, cut into short tasks so
that a worker that serves both queues soon returns to the first.

A message carries the id of a job and nothing else; state and answer are in the job store (``redis_store`` says why
Celery's own results were not enough). A message is acknowledged after the work, so that of a lost worker comes back;
one that comes back for a job that has ended or runs elsewhere has no effect.
"""

from __future__ import annotations

from celery import Celery
from kombu.entity import Exchange, Queue
from kombu.exceptions import OperationalError

from indexer.errors import StoreUnavailable
from worker.jobs.config import WorkConfig
from worker.jobs.job import QUEUES, QueueName

TASK_NAME = "phrasecom.run"
_REPLACED_AT_SHARE = 0.75
"""The share of its memory limit at which a worker process is replaced."""
_HIGH_PRIORITY, _NORMAL_PRIORITY = 0, 3
"""Priorities of messages; two of the four steps that Celery has on Redis."""


def make_celery_app(config: WorkConfig) -> Celery:
    """Return an app that can send messages; ``process.celery_worker`` adds the task."""
    app = Celery("phrasecom", broker=config.redis_url or "memory://", set_as_current=False)
    app.conf.update(
        accept_content=["json"],
        task_serializer="json",
        task_ignore_result=True,
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        task_soft_time_limit=config.soft_limit_seconds,
        task_time_limit=config.hard_limit_seconds,
        task_queues=[_make_queue(name) for name in QUEUES],
        task_default_queue="interactive",
        task_create_missing_queues=False,
        worker_prefetch_multiplier=1,
        # A process that has grown is replaced between two jobs, before it reaches its limit.
        worker_max_memory_per_child=int(_REPLACED_AT_SHARE * config.memory_bytes / 1024) or None,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        worker_hijack_root_logger=False,
        broker_connection_retry_on_startup=True,
        broker_channel_error_retry=True,  # a server that refuses commands accepts them again one day
        broker_transport_options={
            "global_keyprefix": config.key_prefix + "broker:",
            "visibility_timeout": config.visibility_timeout,
            # Without these two, Celery looks for lost messages every hundred seconds only.
            "unacked_restore_interval": 1,
            "unacked_restore_throttle": 1,
            "socket_connect_timeout": 2,
        },
    )
    return app


def _make_queue(name: QueueName) -> Queue:
    """Return a queue with its own exchange; on the default exchange each message would go to every queue."""
    return Queue(name, Exchange(name, type="direct"), routing_key=name)  # type: ignore[no-untyped-call]


def announce_job(app: Celery, id: str, queue: QueueName, *, repeated: bool = False) -> None:
    """Send the message of a job; a repeated one goes ahead of the others, since its caller has waited already.

    Raise StoreUnavailable when the broker cannot be reached or refuses the message.
    """
    priority = _HIGH_PRIORITY if repeated else _NORMAL_PRIORITY
    try:
        app.send_task(TASK_NAME, args=[id], queue=queue, priority=priority, ignore_result=True, retry=False)
    except OperationalError as error:
        raise StoreUnavailable(
            "the queue accepts no messages", fix="start Redis, or run phrasecom serve --inline"
        ) from error
