"""The command line as a user meets it, in tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

Result = tuple[int, str, str]
"""Exit status, stdout, stderr."""
Run = Callable[..., Result]


def as_json(result: Result) -> Any:
    status, out, err = result
    assert (status, err) == (0, "")
    return json.loads(out)


def one_line(err: str) -> str:
    """The complaint: one line that begins with our name, and no stack trace."""
    assert err.startswith("phrasecom: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err
