"""What the job room needs to know, taken once from the settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from indexer.engines.factory import engine_options
from indexer.indexing.notifications import KEY_PREFIX
from worker.jobs.job import JobLimits

if TYPE_CHECKING:  # importing the settings takes a while
    from indexer.settings import Settings


@dataclass(frozen=True, slots=True)
class WorkConfig:
    engine: str = ""
    """A folder (embedded) or an Elasticsearch URL."""
    engine_options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """What the engine is told besides its address; may hold a secret."""
    redis_url: str = field(default="", repr=False)
    """Empty: no queue, the web process computes by itself."""
    key_prefix: str = KEY_PREFIX
    """Before every key in Redis; the braces keep them in one slot of a cluster."""
    comparer: str = "worker.comparer:Comparer"
    """``module:factory``; called with the open engine."""
    soft_limit: float = 30.0
    hard_limit: float = 60.0
    visibility: float = 300.0
    """The broker gives an unacknowledged message to another worker after this long."""
    reap_every: float = 2.0
    epoch_ttl: float = 5.0
    document_ttl: float = 60.0
    rights_ttl: float = 4.0
    """How long a caller with limited rights may be told apart by an acl that another program changed."""
    chunk: int = 100
    """Documents a bulk task adds at a time."""
    inline_threads: int = 2
    max_set: int = 1000
    """Most documents in one side."""
    max_text_bytes: int = 2**18
    memory: int = 0
    """Bytes a worker process may take; 0: no limit."""
    limits: JobLimits = field(default_factory=JobLimits)


def work_config(settings: Settings | None = None, *, inline: bool = False, **changes: Any) -> WorkConfig:
    """From the settings (by default those of the environment); ``changes`` name fields of WorkConfig."""
    if settings is None:
        from indexer.settings import load_settings

        settings = load_settings()
    limits = JobLimits(
        answer_ttl=settings.answer_ttl_seconds,
        max_bytes=settings.answers_bytes,
        max_open=settings.max_queue,
        max_per_caller=settings.max_jobs_per_caller,
    )
    config = WorkConfig(
        engine=settings.engine,
        engine_options=engine_options(settings),
        redis_url="" if inline else settings.redis_url.get_secret_value(),
        soft_limit=settings.job_soft_seconds,
        hard_limit=settings.job_hard_seconds,
        inline_threads=settings.concurrency,
        max_set=settings.max_set,
        max_text_bytes=settings.max_text_bytes,
        memory=settings.worker_memory_bytes,
        limits=limits,
    )
    return replace(config, **changes)
