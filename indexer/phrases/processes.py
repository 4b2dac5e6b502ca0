"""Sharing the analysis of documents between processes.

What a process finds out travels as plain tuples, and a document never comes back: its owner still has it. What was
made ready for an engine in the process that analysed it comes back as it is.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple

from indexer.documents import AnalysedDocument, Document, Salient
from indexer.phrases.choosing import analyse_batch
from indexer.phrases.reading import Reading

_AHEAD = 2
"""Batches in the air per process: bounds memory while a reader is slow."""

Prepare = Callable[[AnalysedDocument], Any]


class _Packed(NamedTuple):
    """An analysed document without the document."""

    tokens: str
    phrases: tuple[str, ...]
    weights: tuple[float, ...]
    salient: list[tuple[Any, ...]]
    degree: float
    version: str


_task: tuple[Reading, Prepare] | None = None


def _start(reading: Reading, prepare: Prepare) -> None:
    global _task
    _task = reading, prepare
    gc.disable()  # no document refers to itself, and looking for what does took a sixth of the time


def _work(documents: list[Document]) -> list[Any]:
    assert _task is not None
    reading, prepare = _task
    return [_travelling(prepare(read)) for read in analyse_batch(reading, documents)]


def _travelling(ready: Any) -> Any:
    if not isinstance(ready, AnalysedDocument):
        return ready
    salient = [(one.phrase, one.salience, one.count, one.at) for one in ready.salient]
    return _Packed(ready.tokens, ready.phrases, ready.weights, salient, ready.degree, ready.version)


def _arrived(document: Document, ready: Any) -> Any:
    if not isinstance(ready, _Packed):
        return ready
    salient = tuple([Salient(*one) for one in ready.salient])
    return AnalysedDocument(document, ready.tokens, ready.phrases, ready.weights, salient, ready.degree, ready.version)


def spread(reading: Reading, parts: Iterator[list[Document]], processes: int, prepare: Prepare) -> Iterator[list[Any]]:
    """The batches analysed, in order, each document as ``prepare`` gave it."""
    waiting: deque[tuple[list[Document], Future[list[Any]]]] = deque()

    def done() -> list[Any]:
        documents, future = waiting.popleft()
        return [_arrived(document, ready) for document, ready in zip(documents, future.result(), strict=True)]

    with ProcessPoolExecutor(processes, get_context("fork"), initializer=_start, initargs=(reading, prepare)) as pool:
        for part in parts:
            waiting.append((part, pool.submit(_work, part)))
            if len(waiting) > _AHEAD * processes:
                yield done()
        while waiting:
            yield done()
