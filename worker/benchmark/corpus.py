"""The documents measured on, and the indexes made from them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from indexer.documents import Document
from indexer.engines.base import Engine
from indexer.errors import BadInput, UnknownIndex
from indexer.indexing.build import build_index
from indexer.progress import Progress, no_progress
from indexer.readers import Rejects, read_documents
from indexer.runtime.document_spool import pack, unpack
from worker.benchmark.generated_corpus import SEED, generated

FIRST = 10_000
"""Documents of the small corpus that growth is measured from; a quarter of a corpus that is not larger."""


@dataclass
class Corpus:
    """Documents on disk, one a line; a smaller corpus is the beginning of it."""

    path: Path
    name: str
    documents: int
    """How many there are."""
    progress: Progress = no_progress
    _built: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    def of(
        cls, folder: Path, files: Sequence[str], count: int, progress: Progress = no_progress, language: int = 1
    ) -> Corpus:
        """From files (``count`` 0: all of them), or generated in a language so many times as large."""
        source = read_documents(files, Rejects()) if files else generated(count, size=language)
        path = folder / "documents.jsonl"
        digest = hashlib.sha256()
        total = 0
        with path.open("wb") as out:
            for document in islice(source, count or None):
                line = pack(document)
                out.write(line)
                digest.update(line)
                total += 1
                if total % 1000 == 0:
                    progress("collect", total, count)
        if total < 8:
            raise BadInput(f"{total} documents are too few to measure on", fix="give a larger --corpus or --documents")
        return cls(path, f"bench-{digest.hexdigest()[:8]}", total, progress)

    def read(self, count: int = 0) -> Iterator[Document]:
        """The first so many documents; 0 for all."""
        return documents_of(self.path, count)

    @property
    def small(self) -> int:
        """Documents of the small corpus."""
        return FIRST if self.documents > FIRST else max(self.documents // 4, 4)

    @property
    def sizes(self) -> list[int]:
        """For the plot: from the small corpus to the whole in steps of about the same ratio."""
        middle = round((self.small * self.documents) ** 0.5)
        return [self.small, middle, self.documents]

    def index(self, engine: Engine, size: int) -> str:
        """The index of the first ``size`` documents in this engine, built unless it is there."""
        name = f"{self.name}-{size}"
        if (engine.address, name) in self._built:
            return name
        try:
            engine.open(name)
        except UnknownIndex:
            build_index(self.read(size), engine, name, progress=self.progress)
        self._built.add((engine.address, name))
        return name

    def about(self, files: Sequence[str]) -> dict[str, object]:
        made: dict[str, object] = {"files": [Path(name).name for name in files]} if files else {"generated": SEED}
        return made | {"name": self.name, "documents": self.documents, "bytes": self.path.stat().st_size}


def documents_of(path: str | Path, count: int = 0) -> Iterator[Document]:
    """The first so many documents of a corpus on disk; 0 for all."""
    with Path(path).open("rb") as lines:
        for line in islice(lines, count or None):
            yield unpack(line)
