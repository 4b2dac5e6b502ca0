"""Memory of long work: the garbage collector's pace, and the C heap.

Documents and arrays hold no reference cycles, so the cyclic garbage collector finds nothing in them and yet walks
through all of them, again and again.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

_RELAXED_GC_THRESHOLD = 200_000
"""New objects between two collections of a build: more than a batch of documents has."""


@contextmanager
def gc_paused() -> Iterator[None]:
    """Run the block without garbage collection.

    Threads may overlap: each one that found the collector on turns it on again, so that it is never off for good.
    """
    was_enabled = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def gc_relaxed() -> Iterator[None]:
    """Run the block with rare garbage collection; at Python's usual pace it took a sixth of the analysis."""
    usual = gc.get_threshold()
    gc.set_threshold(_RELAXED_GC_THRESHOLD, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def disable_gc() -> None:
    """Turn garbage collection off for the rest of a process that only runs parts of some work."""
    gc.disable()


def trim_heap() -> None:
    """Return unused memory to the system, where the C library can (glibc).

    It keeps what large arrays leave behind, in pieces that the arrays of the next step do not fit into: without this
    the peaks of all steps of mining would add up.
    """
    trim = _load_malloc_trim()
    if trim is not None:
        trim(0)


@lru_cache(maxsize=1)
def _load_malloc_trim() -> Any:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # another C library, or none that can be named
        return None
