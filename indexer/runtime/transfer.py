"""An analysed document on its way between processes.

It travels as plain tuples, and its document never comes back: its owner still has it. What was made ready for an
engine in the process that analysed it comes back as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from indexer.documents import AnalysedDocument, Document, Salient


class _Packed(NamedTuple):
    """An analysed document without the document."""

    tokens: str
    phrases: tuple[str, ...]
    weights: tuple[float, ...]
    salient: list[tuple[Any, ...]]
    degree: float
    version: str


def travelling(ready: Any) -> Any:
    if not isinstance(ready, AnalysedDocument):
        return ready
    salient = [(one.phrase, one.salience, one.count, one.at) for one in ready.salient]
    return _Packed(ready.tokens, ready.phrases, ready.weights, salient, ready.degree, ready.version)


def arrived(documents: Callable[[], Sequence[Document]], ready: list[Any]) -> list[Any]:
    """What was made of each of some documents, as it was before it travelled."""
    if not any(isinstance(one, _Packed) for one in ready):
        return ready
    return [_unpacked(document, one) for document, one in zip(documents(), ready, strict=True)]


def _unpacked(document: Document, ready: Any) -> Any:
    if not isinstance(ready, _Packed):
        return ready
    salient = tuple([Salient(*one) for one in ready.salient])
    return AnalysedDocument(document, ready.tokens, ready.phrases, ready.weights, salient, ready.degree, ready.version)
