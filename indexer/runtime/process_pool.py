"""Sharing work between processes."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from itertools import chain, islice
from multiprocessing import get_context
from typing import Any, TypeVar

_AHEAD = 2
"""Parts in the air per process: bounds memory while a reader is slow."""

Part = TypeVar("Part")
Done = TypeVar("Done")

_work: Callable[[Any], Any] | None = None


def _start(work: Callable[[Any], Any], owner: int) -> None:
    global _work
    _work = work
    gc.disable()  # no document refers to itself, and looking for what does took a sixth of the time
    threading.Thread(target=_end_with, args=(owner,), daemon=True).start()


def _end_with(owner: int) -> None:
    """A process waits for its next part for ever, even from an owner that was killed."""
    while os.getppid() == owner:
        time.sleep(1)
    os._exit(1)


def _call(part: Any) -> Any:
    assert _work is not None
    return _work(part)


def in_order(work: Callable[[Part], Done], parts: Iterator[Part], processes: int) -> Iterator[tuple[Part, Done]]:
    """Each part, in order, with what ``work`` made of it.

    The parts and what is made of them travel between processes, ``work`` never does: it may hold whatever it needs.
    A single part stays where it is.
    """
    first = list(islice(parts, 2))
    parts = chain(first, parts)
    if processes < 2 or len(first) < 2:
        yield from ((part, work(part)) for part in parts)
        return
    waiting: deque[tuple[Part, Future[Done]]] = deque()

    def done() -> tuple[Part, Done]:
        part, future = waiting.popleft()
        return part, future.result()

    with ProcessPoolExecutor(processes, get_context("fork"), initializer=_start, initargs=(work, os.getpid())) as pool:
        for part in parts:
            waiting.append((part, pool.submit(_call, part)))
            if len(waiting) > _AHEAD * processes:
                yield done()
        while waiting:
            yield done()


@contextmanager
def beside(work: Callable[[], Done], processes: int) -> Iterator[Callable[[], Done]]:
    """Has ``work`` done by another process while the block runs, if there may be one; gives what returns its result."""
    if processes < 2:
        yield work
        return

    def begin(_: None) -> Done:
        return work()

    with ProcessPoolExecutor(1, get_context("fork"), initializer=_start, initargs=(begin, os.getpid())) as pool:
        yield pool.submit(_call, None).result
