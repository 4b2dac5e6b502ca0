"""Waiting for what other processes and threads do."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], object], timeout_seconds: float = 120, explain: Callable[[], str] = str) -> None:
    """Return once the condition is true; fail with the explanation if it is not in time."""
    deadline = time.monotonic() + timeout_seconds
    while not condition():
        assert time.monotonic() < deadline, explain()
        time.sleep(0.02)
