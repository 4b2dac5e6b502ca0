"""Author keywords as gold: which pairs to compare, and what each keyword of a pair should be.

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
from indexer.text.lemmatizer import Lemmas
from indexer.text.tokenizer import lemmatise, tokens_string, words_and_marks

LABELS = ("surface", "semantic", "distinct_a", "distinct_b")


@dataclass(frozen=True, slots=True)
class GoldDocument:
    document: Document
    tokens: str
    keywords: frozenset[str]
    """Lemmatised as the index is."""

    def holds(self, keyword: str) -> bool:
        return f" {keyword} " in f" {self.tokens} ".replace("\n", " \n ")


@dataclass(frozen=True, slots=True)
class Pair:
    a: GoldDocument
    b: GoldDocument
    labels: dict[str, str]
    """Keyword -> one of LABELS."""


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSON lines file, gzipped or not."""
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as lines:
            for line in lines:
                if line.strip():
                    yield _row(orjson.loads(line))
    except (OSError, EOFError, ValueError) as error:
        raise BadInput(f"cannot read {path}: {error}", fix="give a JSON lines file, gzipped or not") from error


def _row(value: object) -> dict[str, Any]:
    if not isinstance(value, dict) or "id" not in value:
        raise ValueError("every line is an object with an id")
    return value


def gold_documents(paths: Sequence[Path], lemmas: Lemmas) -> list[GoldDocument]:
    """Documents with their keywords: files of objects with id, title, text, keyphrases."""
    return [_gold(row, lemmas) for path in paths for row in read_lines(path) if row.get("text")]


def _gold(row: dict[str, Any], lemmas: Lemmas) -> GoldDocument:
    document = _document(row)
    words, marks, _ = words_and_marks(document)
    tokens = tokens_string([lemmas[word] for word in words], marks)
    keywords = frozenset(k for k in (lemmatise(k, lemmas) for k in row.get("keyphrases") or ()) if k)
    return GoldDocument(document, tokens, keywords)


def background(paths: Sequence[Path], gold: Iterable[GoldDocument], lemmas: Lemmas) -> Iterator[Document]:
    """Further documents for the graph; one whose title is that of a gold document is left out."""
    taken = {lemmatise(g.document.title, lemmas) for g in gold if g.document.title}
    for path in paths:
        for row in read_lines(path):
            title = row.get("title") or ""
            if not title or lemmatise(title, lemmas) not in taken:
                yield _document(row)


def _document(row: dict[str, Any]) -> Document:
    date = row.get("date")
    return Document(
        id=str(row["id"]),
        title=row.get("title") or "",
        text=row.get("text") or "",
        date=None if date is None else str(date),
    )


def sample_pairs(gold: Sequence[GoldDocument], count: int, seed: int) -> list[Pair]:
    """Pairs of documents that share a keyword, drawn uniformly over the shared keywords.

    A draw counts when the keyword occurs in at least one of the two texts: otherwise nothing can find it.
    """
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for i, document in enumerate(gold):
        for keyword in document.keywords:
            holders[keyword].append(i)
    shared = sorted(keyword for keyword, who in holders.items() if len(who) > 1)
    drawn: dict[tuple[int, int], None] = {}
    chance = random.Random(seed)
    for _ in range(50 * count):
        if len(drawn) >= count or not shared:
            break
        keyword = chance.choice(shared)
        a, b = chance.sample(holders[keyword], 2)
        if (b, a) in drawn or gold[a].document.id == gold[b].document.id:
            continue
        if gold[a].holds(keyword) or gold[b].holds(keyword):
            drawn[a, b] = None
    return [label(gold[a], gold[b]) for a, b in drawn]


def random_pairs(gold: Sequence[GoldDocument], count: int, seed: int) -> list[Pair]:
    """Pairs of any two documents, none twice; fewer than asked for where there are not so many."""
    chance = random.Random(seed)
    drawn: dict[tuple[int, int], None] = {}
    for _ in range(50 * count if len(gold) > 1 else 0):
        if len(drawn) == count:
            break
        a, b = chance.sample(range(len(gold)), 2)
        if (b, a) not in drawn:
            drawn[a, b] = None
    return [label(gold[a], gold[b]) for a, b in drawn]


def label(a: GoldDocument, b: GoldDocument) -> Pair:
    labels: dict[str, str] = {}
    for keyword in sorted(a.keywords | b.keywords):
        in_a, in_b = a.holds(keyword), b.holds(keyword)
        if keyword in a.keywords and keyword in b.keywords:
            if in_a or in_b:
                labels[keyword] = "surface" if in_a and in_b else "semantic"
        elif keyword in a.keywords and in_a and not in_b:
            labels[keyword] = "distinct_a"
        elif keyword in b.keywords and in_b and not in_a:
            labels[keyword] = "distinct_b"
    return Pair(a, b, labels)
