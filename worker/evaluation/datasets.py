"""Datasets that quality is measured on: gold documents and background documents, indexed once.

Gold documents are split in three parts by a hash of their id: weights are fitted on ``tune``, settings are compared on
``choose``, figures are reported on ``report``, and both documents of a pair are of the same part.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from indexer.documents import Document
from indexer.engines.base import Engine
from indexer.errors import BadInput, UnknownIndex
from indexer.indexing.build import build_index
from indexer.progress import Progress, no_progress
from indexer.text.lemmatizer import Lemmatizer
from worker.evaluation.gold import GoldDocument, read_background_documents, read_gold_documents

PARTS = ("tune", "choose", "report")
ALL_PARTS = "all"


@dataclass(frozen=True, slots=True)
class Dataset:
    """Files of a dataset, relative to a data folder."""

    name: str
    keyphrase_files: tuple[str, ...]
    background_files: tuple[str, ...] = ()


DATASETS = (
    Dataset("openreview", ("keyphrases/openreview.jsonl.gz",), ("abstracts_ml.jsonl.gz",)),
    Dataset(
        "pooled",
        tuple(f"keyphrases/{name}.jsonl.gz" for name in ("krapivin", "www", "kdd", "semeval2010")),
        ("abstracts_acl.jsonl.gz",),
    ),
    Dataset("inspec", ("keyphrases/inspec.jsonl.gz",)),
    Dataset("pubmed", ("keyphrases/pubmed.jsonl.gz",)),
)


def choose_dataset_part(document_id: str) -> str:
    """Return the part that a document id belongs to."""
    digest = hashlib.sha256(b"parts:" + document_id.encode()).digest()
    return PARTS[int.from_bytes(digest[:4], "big") % len(PARTS)]


def load_gold(paths: Sequence[Path], part: str, language: str = "en") -> list[GoldDocument]:
    """Read the gold documents of one part (or of ``all``); raise BadInput if the files have none."""
    documents = read_gold_documents(paths, Lemmatizer(language))
    if not documents:
        raise BadInput("no document with keyphrases was found", fix="give JSON lines with id, title, text, keyphrases")
    return [gold for gold in documents if part in (ALL_PARTS, choose_dataset_part(gold.document.id))]


def ensure_index(
    engine: Engine,
    keyphrases: Sequence[Path],
    background: Sequence[Path],
    *,
    limit: int = 0,
    language: str = "en",
    progress: Progress = no_progress,
) -> str:
    """Return the name, derived from the files, of their index in this engine; build the index if it is missing."""
    digest = hashlib.sha256()
    for path in (*keyphrases, *background):
        digest.update(f"{path.name}:{path.stat().st_size if path.exists() else 0}:".encode())
    digest.update(f"{limit}:{language}".encode())
    name = f"evaluate-{digest.hexdigest()[:10]}"
    try:
        engine.open_reader(name)
    except UnknownIndex:
        build_index(_read_documents(keyphrases, background, limit, language), engine, name, progress=progress)
    return name


def _read_documents(
    keyphrases: Sequence[Path], background: Sequence[Path], limit: int, language: str
) -> Iterator[Document]:
    lemmas = Lemmatizer(language)
    gold = read_gold_documents(keyphrases, lemmas)
    yield from (document.document for document in gold)
    yield from islice(read_background_documents(background, gold, lemmas), limit or None)
