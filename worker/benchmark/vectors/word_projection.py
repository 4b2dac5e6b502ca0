"""Vectors of texts without a model: random projections of their word counts, the same on every machine."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from indexer.documents import Document
from indexer.vectors import encode_vector

DIMENSIONS = 384
"""As many as a small sentence encoder has."""


class WordProjection:
    """Projects texts; those with words in common have vectors that are near to each other."""

    def __init__(self) -> None:
        self._directions: dict[str, NDArray[np.float32]] = {}

    def project(self, text: str) -> list[float]:
        """Return the sum of the directions of the words."""
        words = text.lower().split() or [""]
        vector: list[float] = np.sum([self._get_direction(word) for word in words], axis=0).tolist()
        return vector

    def add_vectors(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield the documents with vectors of their title and text."""
        for document in documents:
            yield replace(document, vector=encode_vector(self.project(f"{document.title} {document.text}")))

    def _get_direction(self, word: str) -> NDArray[np.float32]:
        if word not in self._directions:
            rng = np.random.default_rng(zlib.crc32(word.encode()))
            self._directions[word] = rng.standard_normal(DIMENSIONS, dtype=np.float32)
        return self._directions[word]
