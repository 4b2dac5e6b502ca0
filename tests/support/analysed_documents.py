"""Analysed documents without an index."""

from __future__ import annotations

from indexer.documents import AnalysedDocument, Document
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.tokenizer import lemmatize_document

LEMMATIZER = Lemmatizer("en")


def make_analysed_document(text: str, tokens: str | None = None, *, id: str = "d", title: str = "") -> AnalysedDocument:
    """Return a document with these tokens, by default its own lemmas, and without phrases."""
    document = Document(id, title, text)
    lemmas = lemmatize_document(document, LEMMATIZER) if tokens is None else tokens
    return AnalysedDocument(document, lemmas, (), (), (), 0.0, "")
