"""Celery's log lines in the format of the application."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from celery.apps import worker as celery_worker_program
from celery.signals import setup_logging

from indexer.logging_setup import format_as_log_line, is_configured

_STDERR = 2


def use_application_logging() -> bool:
    """Make Celery log through the application's handlers, if those are set up; return whether they are.

    This includes what Celery writes while it handles a signal.
    """
    if not is_configured():
        return False
    setup_logging.connect(_skip_celery_setup, weak=False)
    celery_worker_program.safe_say = _write_line
    return True


def _skip_celery_setup(**_: Any) -> None:
    """Do nothing: Celery configures no logging of its own when this signal has a receiver."""


def _write_line(text: str, stream: object = None) -> None:
    """Write a line past the stream, which may be in the middle of a line when the signal arrives."""
    with suppress(OSError):
        os.write(_STDERR, f"{format_as_log_line('celery.worker', text)}\n".encode())
