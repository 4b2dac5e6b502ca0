"""Workload of the benchmark: pairs and sets of documents and queries, as users of a search page choose them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from indexer.documents import PAIR_SEPARATOR, AnalysedDocument
from indexer.engines.base import Reader
from indexer.engines.search_types import Selection
from worker.comparer import Comparer
from worker.explain.side import Side
from worker.explain.spec import ComparisonSpec

PAGE_HITS = 10
"""Hits of a result page."""


@dataclass(frozen=True)
class DocumentPair:
    """Ids of a document and of the best other hit of a search for its title."""

    a: str
    b: str

    def build_spec(self, comparer: Comparer, index: str) -> ComparisonSpec:
        return comparer.make_spec(index, Side.from_id(self.a), Side.from_id(self.b))


def draw_workload(
    reader: Reader, ids: Sequence[str], count: int, seed: int = 1
) -> tuple[list[DocumentPair], list[str]]:
    """Draw ``count`` pairs and queries around documents of ``ids``; fewer if there are not enough.

    No query is drawn twice.
    """
    pairs: list[DocumentPair] = []
    queries: dict[str, None] = {}
    for id in random.Random(seed).sample(list(ids), len(ids)):
        (document,) = reader.fetch([id])
        if document is None or not document.salient:
            continue
        others = [hit for hit in _search_similar_ids(reader, document) if hit != id]
        if others:
            pairs.append(DocumentPair(id, others[0]))
            queries[_build_query(document)] = None
        if len(pairs) == count:
            break
    return pairs, list(queries)


def make_two_sets(ids: Sequence[str], size: int) -> tuple[Side, Side]:
    """Return two disjoint sets of at most ``size`` documents."""
    size = min(size, len(ids) // 2)
    first = Side.from_json({"ids": list(ids[:size])})
    return first, replace(first, ids=tuple(ids[size : 2 * size]))


def _build_query(document: AnalysedDocument) -> str:
    """Return the two most salient phrases."""
    return " ".join(salient.phrase.replace(PAIR_SEPARATOR, " ") for salient in document.salient[:2])


def _search_similar_ids(reader: Reader, document: AnalysedDocument) -> list[str]:
    """Return the ids of the hits for the document's title."""
    words = tuple(document.tokens.partition("\n")[0].split()[:12])
    return [hit.id for hit in reader.search(Selection(words=words), size=PAGE_HITS + 1).hits]
