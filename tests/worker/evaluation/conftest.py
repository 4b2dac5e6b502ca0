"""Pairs of the planted corpus with gold labels."""

from __future__ import annotations

import pytest

from indexer.documents import Document
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.tokenizer import lemmatize_document
from tests.support.corpora.planted_pairs import PHRASES
from worker.evaluation.gold import GoldDocument, GoldPair, label_pair


@pytest.fixture(scope="session")
def gold_pairs(documents: dict[str, Document]) -> list[GoldPair]:
    """Thirty pairs; the keywords of a document are the planted phrases it contains and one phrase of its field."""
    lemmatizer = Lemmatizer("en")

    def make_gold(document: Document) -> GoldDocument:
        tokens = lemmatize_document(document, lemmatizer)
        contained = {phrase for phrases in PHRASES.values() for phrase in phrases if f" {phrase} " in f" {tokens} "}
        (field,) = document.facets["source"]
        return GoldDocument(document, tokens, frozenset({*contained, PHRASES[field][1]}))

    ids = [(f"d{n:04}", f"d{n + 6:04}") for n in range(0, 60, 2)]
    return [label_pair(make_gold(documents[a]), make_gold(documents[b])) for a, b in ids]
