"""Gold documents with author keywords, the pairs drawn from them, and the label of each keyword of a pair.

A shared keyword that occurs in at least one text is common: *surface* if it occurs in both, *semantic*
if in one only. A keyword of a that occurs in text a, and is neither in text b nor among b's keywords,
is *distinct_a*; likewise b.
"""

from __future__ import annotations

import gzip
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from indexer.documents import Document
from indexer.errors import BadInput
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.phrase_search import find_phrase
from indexer.text.tokenizer import lemmatize_document, lemmatize_text


@dataclass(frozen=True, slots=True)
class GoldDocument:
    """A document with the keywords its authors gave it."""

    document: Document
    tokens: str
    """Lemmatised title and text."""
    keywords: frozenset[str]
    """Lemmatised as in the index."""

    def contains(self, keyword: str) -> bool:
        """Return whether the lemmatised keyword occurs in the text."""
        return bool(find_phrase(keyword, self.tokens, max_count=1))


@dataclass(frozen=True, slots=True)
class GoldPair:
    """Two documents to compare, with the list each keyword belongs to."""

    a: GoldDocument
    b: GoldDocument
    labels: dict[str, str]
    """Keyword -> ``surface``, ``semantic``, ``distinct_a`` or ``distinct_b``."""


def read_json_lines(path: Path, required: Sequence[str] = ("id",)) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON lines file, gzipped or not; raise BadInput if it is not one.

    ``required``: the fields that every object must have.
    """
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as lines:
            for line in lines:
                if line.strip():
                    yield _require_record(orjson.loads(line), required)
    except (OSError, EOFError, ValueError) as error:
        raise BadInput(f"cannot read {path}: {error}", fix="give a JSON lines file, gzipped or not") from error


def _require_record(value: object, required: Sequence[str]) -> dict[str, Any]:
    if not isinstance(value, dict) or not value.keys() >= set(required):
        raise ValueError(f"every line must be an object with {', '.join(required)}")
    return value


def read_gold_documents(paths: Sequence[Path], lemmatizer: Lemmatizer) -> list[GoldDocument]:
    """Read JSON lines files of objects with id, title, text and keyphrases; objects without text are left out."""
    return [build_gold_document(row, lemmatizer) for path in paths for row in read_json_lines(path) if row.get("text")]


def build_gold_document(row: dict[str, Any], lemmatizer: Lemmatizer) -> GoldDocument:
    """Build a gold document from an object with id, title, text and keyphrases."""
    document = _build_document(row)
    keywords = frozenset(k for k in (lemmatize_text(k, lemmatizer) for k in row.get("keyphrases") or ()) if k)
    return GoldDocument(document, lemmatize_document(document, lemmatizer), keywords)


def read_background_documents(
    paths: Sequence[Path], gold: Iterable[GoldDocument], lemmatizer: Lemmatizer
) -> Iterator[Document]:
    """Yield further documents for the graph, except those with the title of a gold document."""
    gold_titles = {lemmatize_text(g.document.title, lemmatizer) for g in gold if g.document.title}
    for path in paths:
        for row in read_json_lines(path):
            title = row.get("title") or ""
            if not title or lemmatize_text(title, lemmatizer) not in gold_titles:
                yield _build_document(row)


def _build_document(row: dict[str, Any]) -> Document:
    date = row.get("date")
    return Document(
        id=str(row["id"]),
        title=row.get("title") or "",
        text=row.get("text") or "",
        date=None if date is None else str(date),
    )


def draw_keyword_pairs(gold: Sequence[GoldDocument], count: int, seed: int) -> list[GoldPair]:
    """Draw up to ``count`` pairs of documents that share a keyword, uniformly over the shared keywords.

    A draw counts if the keyword occurs in at least one of the two texts: otherwise no method can find it.
    """
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for i, document in enumerate(gold):
        for keyword in document.keywords:
            holders[keyword].append(i)
    shared = sorted(keyword for keyword, rows in holders.items() if len(rows) > 1)
    drawn: dict[tuple[int, int], None] = {}
    rng = random.Random(seed)
    for _ in range(50 * count):
        if len(drawn) >= count or not shared:
            break
        keyword = rng.choice(shared)
        a, b = rng.sample(holders[keyword], 2)
        if (b, a) in drawn or gold[a].document.id == gold[b].document.id:
            continue
        if gold[a].contains(keyword) or gold[b].contains(keyword):
            drawn[a, b] = None
    return [label_pair(gold[a], gold[b]) for a, b in drawn]


def draw_random_pairs(gold: Sequence[GoldDocument], count: int, seed: int) -> list[GoldPair]:
    """Draw up to ``count`` pairs of any two documents, none of them twice."""
    rng = random.Random(seed)
    drawn: dict[tuple[int, int], None] = {}
    for _ in range(50 * count if len(gold) > 1 else 0):
        if len(drawn) == count:
            break
        a, b = rng.sample(range(len(gold)), 2)
        if (b, a) not in drawn:
            drawn[a, b] = None
    return [label_pair(gold[a], gold[b]) for a, b in drawn]


def label_pair(a: GoldDocument, b: GoldDocument) -> GoldPair:
    """Label the keywords of two documents; those that fit no label are left out."""
    labels: dict[str, str] = {}
    for keyword in sorted(a.keywords | b.keywords):
        in_a, in_b = a.contains(keyword), b.contains(keyword)
        if keyword in a.keywords and keyword in b.keywords:
            if in_a or in_b:
                labels[keyword] = "surface" if in_a and in_b else "semantic"
        elif keyword in a.keywords and in_a and not in_b:
            labels[keyword] = "distinct_a"
        elif keyword in b.keywords and in_b and not in_a:
            labels[keyword] = "distinct_b"
    return GoldPair(a, b, labels)
