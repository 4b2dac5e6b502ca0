"""Share work between forked processes.

``ProcessPoolExecutor.map`` would pickle the function with every part and submit all parts at once; here the function
is inherited by the fork and the number of pending parts is bounded.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from itertools import chain, islice
from multiprocessing import get_context
from typing import Any, TypeVar

from indexer.runtime.memory import disable_gc

_MAX_PENDING_PER_PROCESS = 2
"""Parts submitted ahead for each process: bounds memory while the consumer is slow."""

Part = TypeVar("Part")
Result = TypeVar("Result")

_work: Callable[[Any], Any] | None = None


def map_in_order(
    work: Callable[[Part], Result], parts: Iterator[Part], processes: int
) -> Generator[tuple[Part, Result], None, None]:
    """Yield each part, in order, with the result of ``work`` for it.

    Parts and results are pickled; ``work`` is not, so it may refer to anything. A single part, or all of them when
    ``processes`` is below 2, is worked on in this process.
    """
    first = list(islice(parts, 2))
    parts = chain(first, parts)
    if processes < 2 or len(first) < 2:
        yield from ((part, work(part)) for part in parts)
        return
    pending: deque[tuple[Part, Future[Result]]] = deque()

    def wait_for_next() -> tuple[Part, Result]:
        part, future = pending.popleft()
        return part, future.result()

    with _start_pool(processes, work) as pool:
        for part in parts:
            pending.append((part, pool.submit(_run_work, part)))
            if len(pending) > _MAX_PENDING_PER_PROCESS * processes:
                yield wait_for_next()
        while pending:
            yield wait_for_next()


@contextmanager
def run_in_background(work: Callable[[], Result], processes: int) -> Iterator[Callable[[], Result]]:
    """Run ``work`` in another process while the block runs; yield a function that returns its result.

    When ``processes`` is below 2 that function does the work itself.
    """
    if processes < 2:
        yield work
        return
    with _start_pool(1, lambda _: work()) as pool:
        yield pool.submit(_run_work, None).result


def _start_pool(processes: int, work: Callable[[Any], Any]) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(processes, get_context("fork"), initializer=_init_process, initargs=(work, os.getpid()))


def _init_process(work: Callable[[Any], Any], parent_pid: int) -> None:
    global _work
    _work = work
    disable_gc()
    threading.Thread(target=_exit_when_parent_ends, args=(parent_pid,), daemon=True).start()


def _exit_when_parent_ends(parent_pid: int) -> None:
    """End this process once its parent is gone: a pool process whose parent was killed would wait forever."""
    while os.getppid() == parent_pid:
        time.sleep(1)
    os._exit(1)


def _run_work(part: Any) -> Any:
    assert _work is not None
    return _work(part)
