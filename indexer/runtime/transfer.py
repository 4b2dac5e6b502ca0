"""Analysed documents between processes: pickled as plain tuples and without the document, which the receiver has.

Anything else that a process prepared for an engine passes through as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from indexer.documents import AnalysedDocument, Document, SalientPhrase, TextPhrase


class _PackedDocument(NamedTuple):
    """The fields of an ``AnalysedDocument`` but for the document."""

    tokens: str
    phrases: tuple[str, ...]
    weights: tuple[float, ...]
    salient: list[tuple[Any, ...]]
    degree: float
    version: str
    text_phrases: list[tuple[int, ...]]


def pack_for_transfer(prepared: Any) -> Any:
    """Return what to send for an analysed document; anything else is returned unchanged."""
    if not isinstance(prepared, AnalysedDocument):
        return prepared
    salient = [(each.phrase, each.salience, each.count, each.spans) for each in prepared.salient]
    text_phrases: list[tuple[int, ...]] = [tuple(each) for each in prepared.text_phrases]
    return _PackedDocument(
        prepared.tokens, prepared.phrases, prepared.weights, salient, prepared.degree, prepared.version, text_phrases
    )


def unpack_transferred(read_documents: Callable[[], Sequence[Document]], received: list[Any]) -> list[Any]:
    """Return the items that were packed for transfer; ``read_documents`` returns the document of each, if needed."""
    if not any(isinstance(item, _PackedDocument) for item in received):
        return received
    return [_unpack_document(document, item) for document, item in zip(read_documents(), received, strict=True)]


def _unpack_document(document: Document, item: Any) -> Any:
    if not isinstance(item, _PackedDocument):
        return item
    salient = tuple([SalientPhrase(*fields) for fields in item.salient])
    text_phrases = tuple([TextPhrase(*fields) for fields in item.text_phrases])
    return AnalysedDocument(
        document, item.tokens, item.phrases, item.weights, salient, item.degree, item.version, text_phrases
    )
