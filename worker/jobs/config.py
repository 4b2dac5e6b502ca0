"""Configuration of the job system, taken once from the settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from indexer.engines.factory import make_engine_options
from indexer.indexing.notifications import (
    ACL_TTL_SECONDS,
    DOCUMENT_TTL_SECONDS,
    EPOCH_TTL_SECONDS,
    KEY_PREFIX,
)

if TYPE_CHECKING:  # importing the settings takes 0.4 s
    from indexer.settings import Settings


def get_setting_default(name: str) -> Any:
    """Return the default of a setting. Imports the settings when called: importing them takes 0.4 s."""
    from indexer.settings import Settings

    return Settings.model_fields[name].default


@dataclass(frozen=True, slots=True)
class JobLimits:
    """How long jobs may take and how much is stored; seconds and bytes."""

    lease_seconds: float = 10.0
    """A running job whose lease was not renewed for this long is queued again."""
    max_lost_workers: int = 3
    """A job that was running when this many workers were lost is given up."""
    max_attempts: int = 6
    """Attempts at a job that meets a temporary error: for half a minute, with growing pauses."""
    resend_seconds: float = 15.0
    """A job queued for this long is announced again (its message may be lost); doubles each time."""
    answer_ttl: float = field(default_factory=partial(get_setting_default, "answer_ttl_seconds"))
    tombstone_ttl: float = 86_400.0
    """How long an expired, failed or cancelled job is remembered."""
    failure_ttl: float = 60.0
    """For this long a permanent failure is returned instead of running the same job again."""
    max_answer_bytes: int = field(default_factory=partial(get_setting_default, "answers_bytes"))
    """Bytes of all stored answers; the least recently read are removed first."""
    max_open_jobs: int = field(default_factory=partial(get_setting_default, "max_queue"))
    """Jobs queued or running; more are refused."""
    max_jobs_per_caller: int = field(default_factory=partial(get_setting_default, "max_jobs_per_caller"))
    """Jobs queued or running for one caller; 0: no limit."""


@dataclass(frozen=True, slots=True)
class WorkConfig:
    """What web and worker processes need to run jobs; times in seconds."""

    engine: str = ""
    """A folder (embedded) or an Elasticsearch URL."""
    engine_options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Keyword arguments of ``open_engine``; may contain a secret."""
    source_api_key: str = field(default="", repr=False)
    """API key for the sources of builds that are shared out to workers."""
    redis_url: str = field(default="", repr=False)
    """Empty: no queue, the web process runs the jobs."""
    key_prefix: str = KEY_PREFIX
    """Prefix of every key in Redis; the braces keep them in one slot of a cluster."""
    comparer: str = "worker.comparer:Comparer"
    """``module:factory``, called with the open engine; tests put a double here."""
    soft_limit_seconds: float = field(default_factory=partial(get_setting_default, "job_soft_seconds"))
    hard_limit_seconds: float = field(default_factory=partial(get_setting_default, "job_hard_seconds"))
    visibility_timeout: float = 300.0
    """After this long the broker gives an unacknowledged message to another worker."""
    reap_interval: float = 2.0
    epoch_ttl: float = EPOCH_TTL_SECONDS
    document_ttl: float = DOCUMENT_TTL_SECONDS
    acl_ttl: float = ACL_TTL_SECONDS
    """How long an acl that another program changed may still decide what a caller with limited groups reads."""
    chunk_size: int = 100
    """Documents that one ingest task adds."""
    inline_threads: int = field(default_factory=partial(get_setting_default, "concurrency"))
    max_set: int = field(default_factory=partial(get_setting_default, "max_set"))
    """Most documents in one side."""
    max_text_bytes: int = field(default_factory=partial(get_setting_default, "max_text_bytes"))
    memory_bytes: int = field(default_factory=partial(get_setting_default, "worker_memory_bytes"))
    """Bytes a worker process may allocate; 0: no limit."""
    limits: JobLimits = field(default_factory=JobLimits)


def load_work_config(settings: Settings | None = None, *, inline: bool = False, **changes: Any) -> WorkConfig:
    """Build the configuration from the settings (by default those of the environment).

    ``inline`` leaves Redis out; ``changes`` replace fields of the result.
    """
    if settings is None:
        from indexer.settings import load_settings

        settings = load_settings()
    limits = JobLimits(
        answer_ttl=settings.answer_ttl_seconds,
        max_answer_bytes=settings.answers_bytes,
        max_open_jobs=settings.max_queue,
        max_jobs_per_caller=settings.max_jobs_per_caller,
    )
    config = WorkConfig(
        engine=settings.engine,
        engine_options=make_engine_options(settings),
        source_api_key=settings.source_api_key.get_secret_value(),
        redis_url="" if inline else settings.redis_url.get_secret_value(),
        soft_limit_seconds=settings.job_soft_seconds,
        hard_limit_seconds=settings.job_hard_seconds,
        inline_threads=settings.concurrency,
        max_set=settings.max_set,
        max_text_bytes=settings.max_text_bytes,
        memory_bytes=settings.worker_memory_bytes,
        limits=limits,
    )
    return replace(config, **changes)
