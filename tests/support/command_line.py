"""Types and checks for tests that run the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

CommandResult = tuple[int, str, str]
"""Exit status, stdout, stderr."""
RunCommand = Callable[..., CommandResult]


def parse_json_output(result: CommandResult) -> Any:
    """Return the JSON that a command printed; it must have succeeded in silence."""
    status, out, err = result
    assert (status, err) == (0, "")
    return json.loads(out)


def require_one_line(err: str) -> str:
    """Return the error output if it is one line that begins with the program's name, without a stack trace."""
    assert err.startswith("phrasecom: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err
