"""Sharing the analysis of documents between processes.

What a process finds out travels as plain tuples, and a document never comes back: its owner still has it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from indexer.documents import AnalysedDocument, Document, Salient
from indexer.phrases.choosing import analyse_batch
from indexer.phrases.reading import Reading

_AHEAD = 2
"""Batches in the air per process: bounds memory while a reader is slow."""

Packed = tuple[Any, ...]

_reading: Reading | None = None


def _start(reading: Reading) -> None:
    global _reading
    _reading = reading


def _work(documents: list[Document]) -> list[Packed]:
    assert _reading is not None
    return [_pack(read) for read in analyse_batch(_reading, documents)]


def _pack(read: AnalysedDocument) -> Packed:
    salient = [(one.phrase, one.salience, one.count, one.at) for one in read.salient]
    return read.tokens, read.phrases, read.weights, salient, read.degree, read.version


def _unpack(document: Document, packed: Packed) -> AnalysedDocument:
    tokens, phrases, weights, salient, degree, version = packed
    picked = tuple([Salient(*one) for one in salient])
    return AnalysedDocument(document, tokens, phrases, weights, picked, degree, version)


def spread(reading: Reading, parts: Iterator[list[Document]], processes: int) -> Iterator[list[AnalysedDocument]]:
    """The batches analysed, in order."""
    waiting: deque[tuple[list[Document], Future[list[Packed]]]] = deque()

    def done() -> list[AnalysedDocument]:
        documents, future = waiting.popleft()
        return [_unpack(document, packed) for document, packed in zip(documents, future.result(), strict=True)]

    with ProcessPoolExecutor(processes, get_context("fork"), initializer=_start, initargs=(reading,)) as pool:
        for part in parts:
            waiting.append((part, pool.submit(_work, part)))
            if len(waiting) > _AHEAD * processes:
                yield done()
        while waiting:
            yield done()
