"""Limits of jobs: lease, attempts, life time of answers, number of open jobs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any


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
