"""Makes the corpora that the pairs of tests/quality/data/editor.jsonl are from, for ``phrasecom evaluate editor``.

    python -m tests.tools.make_editor_corpora --data DATA [--kind KIND]... [FOLDER]

DATA has abstracts_ml.jsonl.gz and news.jsonl.gz; FOLDER is by default the one that the command reads. The recipes are
the test pages of two scrapers and those of GNOME Recipes, the legal texts are licences, the manuals are GIMP's; see
``editor_sources`` and ``editor_texts``. They are of others and must not be committed. The same sources give the same
files.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from indexer.readers.docstrings import read_docstrings
from tests.support.paths import ROOT
from tests.tools.editor_texts import (
    CorpusDocument,
    Documents,
    read_german_manual,
    read_licences,
    read_manual,
    read_recipes,
)
from worker.evaluation.sentence_encoder.model_jar import get_cache_root

PAIRS = ROOT / "tests" / "quality" / "data" / "editor.jsonl"
SEED = "editor-1"
SAMPLE_SIZE = 6_000
SMALL_SIZES = (300, 1_500)
"""Documents of the smaller corpora of papers and news."""


def read_data_file(path: Path) -> Iterator[CorpusDocument]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            yield CorpusDocument(row["id"], row["title"], row["text"])


def read_papers(data: Path) -> Documents:
    is_sound = re.compile(r"[^\x80-\x9f]*").fullmatch  # without the marks of a broken encoding
    documents = (d for d in read_data_file(data / "abstracts_ml.jsonl.gz") if d.word_count >= 40 and is_sound(d.text))
    return sample_documents(documents, "papers", SAMPLE_SIZE)


def read_news(data: Path) -> Documents:
    documents = (d for d in read_data_file(data / "news.jsonl.gz") if d.word_count >= 60)
    return sample_documents(documents, "news", SAMPLE_SIZE)


def sample_documents(documents: Documents, name: str, size: int) -> list[CorpusDocument]:
    """Return a random ``size`` of the documents, in their own order; a larger sample has all of a smaller one."""

    def get_key(document: CorpusDocument) -> str:
        return hashlib.sha256("\t".join((SEED, "sample", name, document.id)).encode()).hexdigest()

    documents = list(documents)
    kept = {document.id for document in sorted(documents, key=get_key)[:size]}
    return [document for document in documents if document.id in kept]


READERS: dict[str, Callable[[Path], Documents]] = {
    "papers": read_papers,
    "news": read_news,
    "python": lambda _: (CorpusDocument(d.id, d.title, d.text) for d in read_docstrings()),
    "recipes": lambda _: read_recipes(),
    "legal": lambda _: read_licences(),
    "manuals": lambda _: read_manual("en"),
    "german": lambda _: read_german_manual(),
}
"""The documents of each kind of text, given the folder of data."""


def make_corpora(kinds: Sequence[str], data: Path, folder: Path) -> None:
    """Write the corpora, small ones of papers and news too; fail if a document of a pair is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind in kinds:
        documents = list(READERS[kind](data))
        pairs = [row for row in map(json.loads, PAIRS.read_text("utf-8").splitlines()) if row["kind"] == kind]
        paired = {id for row in pairs for id in (row["a"], row["b"])}
        missing = paired - {document.id for document in documents}
        if missing:
            raise SystemExit(f"{kind}: documents of pairs are missing: {', '.join(sorted(missing))}")
        write_corpus(folder / f"{kind}.jsonl", documents)
        others = [document for document in documents if document.id not in paired]
        for size in SMALL_SIZES if kind in ("papers", "news") else ():
            kept = {*paired, *(d.id for d in sample_documents(others, f"{kind}-small", size - len(paired)))}
            write_corpus(folder / f"{kind}_{size}.jsonl", [d for d in documents if d.id in kept])
        print(f"{kind}: {len(documents)} documents, those of {len(pairs)} pairs among them")


def write_corpus(path: Path, documents: Documents) -> None:
    path.write_text("".join(json.dumps(asdict(d), ensure_ascii=False) + "\n" for d in documents), "utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with abstracts_ml.jsonl.gz and news.jsonl.gz")
    parser.add_argument("--kind", action="append", choices=list(READERS), help="only this kind; may be repeated")
    parser.add_argument("folder", type=Path, nargs="?", default=get_cache_root() / "editor")
    chosen = parser.parse_args()
    make_corpora(chosen.kind or list(READERS), chosen.data, chosen.folder)
