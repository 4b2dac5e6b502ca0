"""Datasets that quality is measured on: gold documents, background documents and corpora to query, indexed once.

Gold documents are split in three parts by a hash of their id: weights are fitted on ``tune``, settings are compared on
``choose``, figures are reported on ``report``, and both documents of a pair are of the same part.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from indexer.documents import Document
from indexer.engines.base import Engine
from indexer.errors import BadInput, UnknownIndex
from indexer.indexing.build import AnalysisOptions, build_index
from indexer.progress import Progress, no_progress
from indexer.readers.docstrings import read_docstrings
from indexer.text.lemmatizer import Lemmatizer
from worker.evaluation.gold import GoldDocument, read_background_documents, read_gold_documents
from worker.evaluation.sentence_encoder.text_vectors import TextEncoder, VectorFile, add_vectors, get_vector_folder

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


@dataclass(frozen=True, slots=True)
class QueryDataset:
    """A corpus that queries are explained on."""

    name: str
    file: str | None = None
    """Relative to a data folder; None for the docstrings of the demo."""
    one_in: int = 1
    """Indexed is one in so many of the file's documents."""

    def find_judged_file(self) -> Path | None:
        """Return the file of judged hits that a source tree of this project has; None elsewhere."""
        path = Path(__file__).resolve().parents[2] / "tests" / "quality" / "data" / f"queries_{self.name}.jsonl"
        return path if path.exists() else None


QUERY_DATASETS = {
    dataset.name: dataset
    for dataset in (
        QueryDataset("python"),
        QueryDataset("news", "news.jsonl.gz", one_in=3),
        QueryDataset("ml", "abstracts_ml.jsonl.gz", one_in=14),
    )
}


def choose_dataset_part(document_id: str) -> str:
    """Return the part that a document id belongs to."""
    digest = hashlib.sha256(b"parts:" + document_id.encode()).digest()
    return PARTS[int.from_bytes(digest[:4], "big") % len(PARTS)]


def load_gold(paths: Sequence[Path], part: str, lemmatizer: Lemmatizer) -> list[GoldDocument]:
    """Read the gold documents of one part (or of ``all``); raise BadInput if the files have none.

    ``lemmatizer`` is that of the index whose phrases the keywords are compared with.
    """
    documents = read_gold_documents(paths, lemmatizer)
    if not documents:
        raise BadInput("no document with keyphrases was found", fix="give JSON lines with id, title, text, keyphrases")
    return [gold for gold in documents if part in (ALL_PARTS, choose_dataset_part(gold.document.id))]


def ensure_index(
    engine: Engine,
    keyphrases: Sequence[Path],
    background: Sequence[Path],
    *,
    limit: int = 0,
    one_in: int = 1,
    language: str = "en",
    encoder: TextEncoder | None = None,
    progress: Progress = no_progress,
) -> str:
    """Return the name, derived from the files, of their index in this engine; build the index if it is missing.

    ``limit``: the most background documents, 0 for all; ``one_in``: index one in so many of them, by a hash of the id;
    ``encoder``: makes the vectors of the documents, which have none without it.
    """
    digest = hashlib.sha256()
    for path in (*keyphrases, *background):
        digest.update(f"{path.name}:{path.stat().st_size if path.exists() else 0}:".encode())
    digest.update(f"{limit}:{language}{f':{one_in}' * (one_in > 1)}".encode())
    name = f"evaluate-{digest.hexdigest()[:10]}"
    documents = _read_documents(keyphrases, background, limit, one_in, language)
    return _build_if_missing(engine, name, documents, encoder, progress, language)


def ensure_docstring_index(engine: Engine, progress: Progress = no_progress, encoder: TextEncoder | None = None) -> str:
    """Return the name of the index of the demo's docstrings; build the index if it is missing."""
    return _build_if_missing(engine, "evaluate-docstrings", read_docstrings(), encoder, progress)


def ensure_query_index(
    engine: Engine,
    dataset: QueryDataset,
    data: Path | None,
    progress: Progress = no_progress,
    encoder: TextEncoder | None = None,
) -> str:
    """Return the name of the index of a corpus to query, with vectors if there is an encoder; build it if it is
    missing.

    Raises BadInput if the data folder lacks the file.
    """
    if dataset.file is None:
        return ensure_docstring_index(engine, progress, encoder)
    if data is None or not (data / dataset.file).exists():
        raise BadInput(
            f"no {dataset.file} in {data or 'any folder'}", fix="set --data to the folder with the data sets"
        )
    return ensure_index(engine, [], [data / dataset.file], one_in=dataset.one_in, encoder=encoder, progress=progress)


def is_in_sample(document_id: str, one_in: int) -> bool:
    """Return whether a document is one of the ``one_in``-th part of a corpus, by a hash of its id."""
    digest = hashlib.sha256(b"q:" + document_id.encode()).digest()
    return int.from_bytes(digest[:4], "big") % one_in == 0


def _build_if_missing(
    engine: Engine,
    name: str,
    documents: Iterable[Document],
    encoder: TextEncoder | None,
    progress: Progress,
    language: str = "en",
) -> str:
    if encoder is not None:
        name = f"{name}-{encoder.name}"
    try:
        engine.open_reader(name)
    except UnknownIndex:
        if encoder is not None:
            file = VectorFile(get_vector_folder() / f"{name}.npz", encoder)
            documents = add_vectors(list(documents), file, progress)
        build_index(documents, engine, name, AnalysisOptions(language=language), progress)
    return name


def _read_documents(
    keyphrases: Sequence[Path], background: Sequence[Path], limit: int, one_in: int, language: str
) -> Iterator[Document]:
    lemmas = Lemmatizer(language)
    gold = read_gold_documents(keyphrases, lemmas)
    yield from (document.document for document in gold)
    sample = (d for d in read_background_documents(background, gold, lemmas) if is_in_sample(d.id, one_in))
    yield from islice(sample, limit or None)
