"""Vectors of documents and queries by an encoder, kept on disk so that each text is encoded once."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from indexer.documents import Document
from indexer.progress import Progress, no_progress
from indexer.vectors import encode_vector
from worker.evaluation.sentence_encoder.model_jar import get_cache_root

_SAVE_EVERY = 1000
"""Texts after which new vectors are written, so that an interrupted run continues from there."""


class TextEncoder(Protocol):
    """Turns texts into vectors whose inner product says how close their meanings are."""

    name: str
    """Part of the names of the indexes and files that hold its vectors."""

    def encode(self, texts: Iterable[str]) -> NDArray[np.float32]:
        """Return the vectors of texts, shape (texts, dimensions), each of length 1."""
        ...

    def find_read_end(self, text: str) -> int:
        """Return the number of characters of a text, from its beginning, that its vector depends on."""
        ...


class VectorFile:
    """Vectors by text in one file; a text that is not in it is encoded and added."""

    def __init__(self, path: Path, encoder: TextEncoder) -> None:
        self._path, self._encoder = path, encoder
        self._vectors: dict[str, NDArray[np.float32]] = {}
        if path.exists():
            with np.load(path, allow_pickle=False) as arrays:
                self._vectors = dict(zip(arrays["keys"].tolist(), arrays["vectors"], strict=True))

    def encode_all(self, texts: Sequence[str], progress: Progress = no_progress) -> Iterator[NDArray[np.float32]]:
        """Yield the vector of each text; ``progress`` is told of them as the stage ``encode``."""
        added = 0
        for done, text in enumerate(texts):
            key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
            if key not in self._vectors:
                self._vectors[key] = self._encoder.encode([text])[0]
                added += 1
                if added % _SAVE_EVERY == 0:
                    self._save()
            progress("encode", done + 1, len(texts))
            yield self._vectors[key]
        if added % _SAVE_EVERY:
            self._save()

    def _save(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self._path.with_suffix(f".{os.getpid()}.npz")
        np.savez(unfinished, keys=np.array(list(self._vectors)), vectors=np.stack(list(self._vectors.values())))
        unfinished.replace(self._path)


def add_vectors(
    documents: Sequence[Document], file: VectorFile, progress: Progress = no_progress
) -> Iterator[Document]:
    """Yield the documents with the vectors of their title and text."""
    texts = [join_title_and_text(document) for document in documents]
    for document, vector in zip(documents, file.encode_all(texts, progress), strict=True):
        yield replace(document, vector=encode_vector(vector.tolist()))


def join_title_and_text(document: Document) -> str:
    """Return the text that a document's vector is made of."""
    return f"{document.title}. {document.text}" if document.title else document.text


def get_vector_folder() -> Path:
    """Return the folder of vector files."""
    return get_cache_root() / "text_vectors"
