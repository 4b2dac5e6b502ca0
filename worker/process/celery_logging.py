"""Celery's log lines, in the form of all others."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from celery.apps import worker as program
from celery.signals import setup_logging

from indexer.logging_setup import are_set_up, line

_STDERR = 2


def in_one_form() -> bool:
    """Have Celery write no lines of its own, if a form was set up for all: its records take the way of the others,
    and so does what it says while it handles a signal. Whether that is so."""
    if not are_set_up():
        return False
    setup_logging.connect(_leave_as_set_up, weak=False)
    program.safe_say = _say
    return True


def _leave_as_set_up(**_: Any) -> None:
    """Where this is connected, Celery sets nothing up."""


def _say(text: str, stream: object = None) -> None:
    """Past the stream, which the signal may have found in the middle of a line's writing."""
    with suppress(OSError):
        os.write(_STDERR, f"{line('celery.worker', text)}\n".encode())
