"""Giving memory back between the steps of mining.

The C library keeps what large arrays leave behind, in pieces that the arrays of the next step do not fit into: the
peaks of all steps would add up.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any


def give_back() -> None:
    """Return unused memory to the system, where the C library can (glibc)."""
    trim = _trim()
    if trim is not None:
        trim(0)


@lru_cache(maxsize=1)
def _trim() -> Any:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # another C library, or none that can be named
        return None
