"""A corpus so small that a comparison takes milliseconds, with a request for every pair of its documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

from indexer.documents import Document
from indexer.engines import open_engine
from indexer.indexing.build import build_index
from tests.support.corpora.acl_corpus import make_acl_corpus

INDEX = "papers"
SIZE = 66


def make_documents() -> list[Document]:
    return [replace(document, acl=()) for document in make_acl_corpus(7, SIZE).documents.values()]


def build_corpus(address: str, **options: Any) -> None:
    with open_engine(address, **options) as engine:
        build_index(make_documents(), engine, INDEX, processes=1)


def list_requests() -> Iterator[dict[str, Any]]:
    """Yield 2,145 different requests."""
    for a, b in combinations(range(SIZE), 2):
        yield {"index": INDEX, "a": {"id": f"d{a}"}, "b": {"id": f"d{b}"}}
