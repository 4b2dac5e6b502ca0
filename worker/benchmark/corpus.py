"""Corpus of the benchmark: documents on disk, and the indexes built from its first documents."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from indexer.documents import Document
from indexer.engines.base import Engine
from indexer.errors import BadInput, UnknownIndex
from indexer.indexing.build import build_index
from indexer.progress import Progress, no_progress
from indexer.readers.registry import read_documents
from indexer.readers.rejects import Rejects
from indexer.runtime.document_spool import decode_document, encode_document
from worker.benchmark.generated_corpus import SEED, generate_documents

SMALL_DOCUMENTS = 10_000
"""Size of the small corpus that growth is measured from; a corpus that is not larger has a quarter of its own."""

MIN_DOCUMENTS = 8
AddVectors = Callable[[Iterable[Document]], Iterator[Document]]


@dataclass
class BenchCorpus:
    """Documents on disk, one a line; a smaller corpus is the beginning of the file."""

    path: Path
    name: str
    document_count: int
    progress: Progress = no_progress
    _built: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    def create(
        cls, folder: Path, files: Sequence[str], count: int, progress: Progress = no_progress, language_size: int = 1
    ) -> BenchCorpus:
        """Write the first ``count`` documents (0 for all) of the files, or generated ones, to a file in the folder.

        ``language_size`` multiplies the vocabulary of generated ones. Raises BadInput if there are too few documents.
        """
        source = read_documents(files, Rejects()) if files else generate_documents(count, language_size=language_size)
        path = folder / "documents.jsonl"
        digest = hashlib.sha256()
        total = 0
        with path.open("wb") as out:
            for document in islice(source, count or None):
                line = encode_document(document)
                out.write(line)
                digest.update(line)
                total += 1
                if total % 1000 == 0:
                    progress("collect", total, count)
        if total < MIN_DOCUMENTS:
            raise BadInput(f"{total} documents are too few", fix="give a larger --corpus or --documents")
        return cls(path, f"bench-{digest.hexdigest()[:8]}", total, progress)

    def read(self, count: int = 0) -> Iterator[Document]:
        """Yield the first ``count`` documents; 0 for all."""
        return read_corpus_file(self.path, count)

    @property
    def small_count(self) -> int:
        """Number of documents of the small corpus."""
        return SMALL_DOCUMENTS if self.document_count > SMALL_DOCUMENTS else max(self.document_count // 4, 4)

    @property
    def sizes(self) -> list[int]:
        """Sizes of the growth chart: the small corpus, the whole one, and their geometric mean."""
        middle = round((self.small_count * self.document_count) ** 0.5)
        return [self.small_count, middle, self.document_count]

    def ensure_index(self, engine: Engine, size: int, add_vectors: AddVectors | None = None) -> str:
        """Return the name of the index of the first ``size`` documents in an engine; build it if it is missing.

        ``add_vectors``: gives the documents vectors; the index with them has a name of its own.
        """
        name = f"{self.name}-{size}{'-vectors' * (add_vectors is not None)}"
        if (engine.address, name) in self._built:
            return name
        try:
            engine.open_reader(name)
        except UnknownIndex:
            documents = self.read(size) if add_vectors is None else add_vectors(self.read(size))
            build_index(documents, engine, name, progress=self.progress)
        self._built.add((engine.address, name))
        return name

    def describe(self, files: Sequence[str]) -> dict[str, object]:
        """Return origin, name and size as they are reported."""
        origin: dict[str, object] = {"files": [Path(name).name for name in files]} if files else {"generated": SEED}
        return origin | {"name": self.name, "documents": self.document_count, "bytes": self.path.stat().st_size}


def read_corpus_file(path: str | Path, count: int = 0) -> Iterator[Document]:
    """Yield the first ``count`` documents of a corpus on disk; 0 for all."""
    with Path(path).open("rb") as lines:
        for line in islice(lines, count or None):
            yield decode_document(line)
