"""Garbage collection kept out of the way of work that makes very many objects."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collecting_later() -> Iterator[None]:
    """No collection meanwhile: it would go through all that a comparison has read, again and again, and find nothing.

    Threads may overlap: whoever began with collection on turns it on again, so that it is never off for good.
    """
    was_on = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if was_on:
            gc.enable()
