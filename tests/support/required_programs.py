"""Programs that tests cannot do without: their absence skips a test, and fails it in CI."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

PROGRAMS_USED = pytest.StashKey[list[str]]()
"""Name and version of each server or browser that was started, printed at the end of the run."""


def skip_without(program: str, reason: str) -> NoReturn:
    """Skip the test, naming the missing program; fail it where the environment says ``CI=true``."""
    message = f"no {program}: {reason}"
    if os.environ.get("CI") == "true":
        pytest.fail(message, pytrace=False)
    pytest.skip(message)
