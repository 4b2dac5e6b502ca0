"""The corpora quality is measured on: gold documents on a background, as an index made once.

Documents are split in three by a hash of their id: weights are fitted on ``tune``, settings are compared on ``choose``,
figures are reported on ``report``, and no pair crosses a line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from indexer.documents import Document
from indexer.engines.base import Engine
from indexer.errors import BadInput, UnknownIndex
from indexer.indexing.build import build_index
from indexer.progress import Progress, no_progress
from indexer.text.lemmatizer import Lemmas
from worker.evaluation.gold import GoldDocument, background, gold_documents

PARTS = ("tune", "choose", "report")
ALL = "all"


@dataclass(frozen=True, slots=True)
class Set:
    """Files of one measurement, relative to a data folder."""

    name: str
    keyphrases: tuple[str, ...]
    background: tuple[str, ...] = ()


SETS = (
    Set("openreview", ("keyphrases/openreview.jsonl.gz",), ("abstracts_ml.jsonl.gz",)),
    Set(
        "pooled",
        tuple(f"keyphrases/{name}.jsonl.gz" for name in ("krapivin", "www", "kdd", "semeval2010")),
        ("abstracts_acl.jsonl.gz",),
    ),
    Set("inspec", ("keyphrases/inspec.jsonl.gz",)),
    Set("pubmed", ("keyphrases/pubmed.jsonl.gz",)),
)


def part_of(id: str) -> str:
    digest = hashlib.sha256(b"parts:" + id.encode()).digest()
    return PARTS[int.from_bytes(digest[:4], "big") % len(PARTS)]


def gold_of(paths: Sequence[Path], part: str, language: str = "en") -> list[GoldDocument]:
    """The gold documents of one part (or of ``all``)."""
    found = gold_documents(paths, Lemmas(language))
    if not found:
        raise BadInput("no document with keyphrases was found", fix="give JSON lines with id, title, text, keyphrases")
    return [gold for gold in found if part in (ALL, part_of(gold.document.id))]


def ensure_index(
    engine: Engine,
    keyphrases: Sequence[Path],
    behind: Sequence[Path],
    *,
    limit: int = 0,
    language: str = "en",
    progress: Progress = no_progress,
) -> str:
    """The index of these files in this engine, built unless it is there; its name comes from the files."""
    stamp = hashlib.sha256()
    for path in (*keyphrases, *behind):
        stamp.update(f"{path.name}:{path.stat().st_size if path.exists() else 0}:".encode())
    stamp.update(f"{limit}:{language}".encode())
    name = f"evaluate-{stamp.hexdigest()[:10]}"
    try:
        engine.open(name)
    except UnknownIndex:
        build_index(_documents(keyphrases, behind, limit, language), engine, name, progress=progress)
    return name


def _documents(keyphrases: Sequence[Path], behind: Sequence[Path], limit: int, language: str) -> Iterator[Document]:
    lemmas = Lemmas(language)
    gold = gold_documents(keyphrases, lemmas)
    others = background(behind, gold, lemmas)
    if limit:
        others = (document for i, document in enumerate(others) if i < limit)
    yield from chain((one.document for one in gold), others)
