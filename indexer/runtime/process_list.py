"""Keeping secrets out of the process list."""

from __future__ import annotations

import re
from pathlib import Path

_ARGUMENTS_START = 45
"""Position of the address of the arguments in ``/proc/PID/stat``, counted from the field after the name."""


def hide_argument(value: str) -> None:
    """Overwrite a value in the arguments of this process as ``ps`` shows them; do nothing where that is not possible.

    A process list taken before still shows it.
    """
    secret = value.encode("utf-8", "surrogateescape")
    try:
        arguments = Path("/proc/self/cmdline").read_bytes()
        start = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[_ARGUMENTS_START])
        with Path("/proc/self/mem").open("r+b", buffering=0) as memory:
            for found in re.finditer(re.escape(secret), arguments) if secret and start else ():
                memory.seek(start + found.start())
                memory.write(b"*" * len(secret))
    except (OSError, ValueError, IndexError):
        return
