"""An encoder whose vectors count the words of some fields, for tests that need no model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray


class FieldEncoder:
    """Has one dimension for each field, and a last one for all other words."""

    name = "fields"

    def __init__(self, fields: Sequence[str], read_characters: int = 10_000) -> None:
        """``fields``: the words of each, separated by spaces; no more than ``read_characters`` of a text count."""
        self._fields = [set(field.split()) for field in fields]
        self._read_characters = read_characters
        self.encoded: list[str] = []
        """All texts that were encoded."""

    def encode(self, texts: Iterable[str]) -> NDArray[np.float32]:
        return np.stack([self._encode_one(text) for text in texts])

    def find_read_end(self, text: str) -> int:
        return min(len(text), self._read_characters)

    def _encode_one(self, text: str) -> NDArray[np.float32]:
        self.encoded.append(text)
        words = text[: self._read_characters].lower().replace(".", " ").split()
        counts = [sum(word in field for word in words) for field in self._fields]
        vector = np.array([*counts, 0.1 * (1 + len(words) - sum(counts))], dtype=np.float32)
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)
