"""Which documents are compared: pairs, pages and sets as somebody with a search page would come by them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from indexer.documents import AnalysedDocument
from indexer.engines.base import Reader, Selection
from worker.comparer import Comparer
from worker.explain.side import Side
from worker.explain.spec import Question

HITS = 10


@dataclass(frozen=True)
class Pair:
    """A document and what a search for its title finds beside it."""

    a: str
    b: str

    def question(self, comparer: Comparer, index: str) -> Question:
        return comparer.question(index, Side.document(self.a), Side.document(self.b))


@dataclass(frozen=True)
class Page:
    """A query and its first hits."""

    query: str
    hits: tuple[str, ...]

    def questions(self, comparer: Comparer, index: str) -> list[Question]:
        query = Side.from_text(f"query:{self.query}")
        return [comparer.question(index, query, Side.document(hit)) for hit in self.hits]


def draw(reader: Reader, ids: Sequence[str], count: int, seed: int = 1) -> tuple[list[Pair], list[Page]]:
    """Pairs and pages around documents drawn from ``ids``."""
    pairs: list[Pair] = []
    pages: list[Page] = []
    for id in random.Random(seed).sample(list(ids), len(ids)):
        (document,) = reader.fetch([id])
        if document is None or not document.salient:
            continue
        hits = _found(reader, document)
        others = [hit for hit in hits if hit != id]
        if others:
            pairs.append(Pair(id, others[0]))
            pages.append(Page(_query(document), tuple(hits[:HITS])))
        if len(pairs) == count:
            break
    return pairs, pages


def sets(ids: Sequence[str], size: int) -> tuple[Side, Side]:
    """Two sets of documents that have none in common."""
    size = min(size, len(ids) // 2)
    one = Side.from_json({"ids": list(ids[:size])})
    return one, replace(one, ids=tuple(ids[size : 2 * size]))


def _query(document: AnalysedDocument) -> str:
    return " ".join(salient.phrase.replace("@@", " ") for salient in document.salient[:2])


def _found(reader: Reader, document: AnalysedDocument) -> list[str]:
    words = tuple(document.tokens.partition("\n")[0].split()[:12])
    return [hit.id for hit in reader.search(Selection(words=words), size=HITS + 1).hits]
