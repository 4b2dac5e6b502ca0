"""Vectors of English words: words of related meaning have similar vectors, whether or not any document has both.

The table ships with the package; docs/word_vectors.md says what it is made from. Its files are memory-mapped, so that
the processes of a machine share one copy, and a component of a vector takes 4 bits.
"""

from __future__ import annotations

import hashlib
import json
from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.errors import BadInput

TABLE_FOLDER = Path(__file__).resolve().parent / "data" / "word_vectors"
WORDS_FILE, CODES_FILE, STEPS_FILE, PROVENANCE_FILE = "words.npy", "codes.npy", "steps.npy", "provenance.json"
WORD_VECTOR_LANGUAGE = "en"
"""Language of the words."""
UNKNOWN = -1
"""Row of a word that has no vector."""
_LEVELS = 16
_MIDDLE = (_LEVELS - 1) / 2
_MAX_CACHED_WORDS = 100_000
_BYTES = np.arange(256)
_PAIRS = (np.stack([_BYTES % _LEVELS, _BYTES // _LEVELS], axis=1) - _MIDDLE).astype(np.float32)
"""The two components that a byte stands for, in steps, shape (256, 2)."""


@dataclass(frozen=True)
class WordVectors:
    """A table of words and their vectors."""

    words: NDArray[np.bytes_]
    """Lower-case words, ascending, shape (words,). Each is shorter than the item size."""
    codes: NDArray[np.uint8]
    """Two components a byte, the lower 4 bits first, shape (words, dimensions / 2)."""
    steps: NDArray[np.float32]
    """Distance of two neighbouring values of each component, shape (dimensions,)."""

    def __len__(self) -> int:
        return len(self.words)

    @property
    def dimensions(self) -> int:
        return len(self.steps)

    @cached_property
    def version(self) -> str:
        """Short name of the table's content: two tables with the same steps have the same vectors."""
        return hashlib.sha256(self.steps.tobytes() + len(self).to_bytes(8, "little")).hexdigest()[:16]

    def find_rows(self, words: Sequence[str]) -> NDArray[np.int32]:
        """Return the row of each word, -1 where it has no vector, shape (words,).

        Words are looked up as they are: give lemmas in lower case.
        """
        if not len(words):
            return np.zeros(0, dtype=np.int32)
        # Longer words are cut to the item size, which no word of the table fills. A character NUL would be cut off.
        encoded = [b"" if "\0" in word else word.encode("utf-8", "replace") for word in words]
        wanted = np.array(encoded, dtype=self.words.dtype)
        rows = np.minimum(np.searchsorted(self.words, wanted), len(self.words) - 1)
        return np.where(self.words[rows] == wanted, rows, UNKNOWN).astype(np.int32)

    def get_vectors(self, rows: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return the vectors of rows, shape (rows, dimensions); zeros for the row -1.

        Their mean squared length over the table is 1; the mean of frequent words is 0.
        """
        vectors: NDArray[np.float32] = _PAIRS[self.codes[rows]].reshape(len(rows), self.dimensions) * self.steps
        vectors[np.asarray(rows) == UNKNOWN] = 0
        return vectors

    def measure_specificity(self, words: Sequence[str]) -> NDArray[np.float64]:
        """Return how much longer the vector of each word is than an average one, from -0.4 to 0.2, shape (words,).

        Words of general meaning ("main", "number") are near the mean of frequent words, which is 0. A word without a
        vector has 0: nothing is known of it.
        """
        known: Mapping[str, float] = self._specificity
        if missing := [word for word in dict.fromkeys(words) if word not in known]:
            rows = self.find_rows(missing)
            lengths = np.linalg.norm(self.get_vectors(rows), axis=1)
            found = dict(zip(missing, np.where(rows == UNKNOWN, 0.0, lengths - 1.0).tolist(), strict=True))
            if len(known) < _MAX_CACHED_WORDS:
                self._specificity.update(found)
            else:
                known = ChainMap(found, self._specificity)
        return np.fromiter(map(known.__getitem__, words), dtype=np.float64, count=len(words))

    @cached_property
    def _specificity(self) -> dict[str, float]:
        """That of the first words that were asked for."""
        return {}

    def save(self, folder: Path) -> None:
        """Write the arrays to a folder."""
        for name, array in ((WORDS_FILE, self.words), (CODES_FILE, self.codes), (STEPS_FILE, self.steps)):
            np.save(folder / name, array, allow_pickle=False)


def quantize_vectors(words: NDArray[np.bytes_], vectors: NDArray[np.float32], step: float) -> WordVectors:
    """Make a table of vectors, shape (words, even number of dimensions); ``step`` is in standard deviations."""
    steps = (vectors.std(axis=0, dtype=np.float64) * step).astype(np.float32)
    levels = np.clip(np.floor(vectors / steps) + _LEVELS // 2, 0, _LEVELS - 1).astype(np.uint8)
    return WordVectors(words, levels[:, 0::2] + levels[:, 1::2] * np.uint8(_LEVELS), steps)


@lru_cache(maxsize=1)
def load_word_vectors() -> WordVectors:
    """Return the table of the package, opened once per process."""
    return read_word_vectors(TABLE_FOLDER)


def get_general_vectors(words: Sequence[str]) -> NDArray[np.float32]:
    """Return the vectors of words by the table of the package, shape (words, dimensions); zeros for one without."""
    table = load_word_vectors()
    return table.get_vectors(table.find_rows(words))


def read_word_vectors(folder: Path) -> WordVectors:
    """Open the table in a folder; its files are read as they are used. Raises BadInput if they are no table."""
    try:
        words, codes = (np.asarray(np.load(folder / name, mmap_mode="r")) for name in (WORDS_FILE, CODES_FILE))
        table = WordVectors(words, codes, np.load(folder / STEPS_FILE))
    except (OSError, ValueError) as error:
        raise BadInput(f"no word vectors in {folder}: {error}", fix="install the package again") from error
    if table.codes.shape != (len(table.words), table.dimensions // 2) or table.words.dtype.kind != "S":
        raise BadInput(f"the files in {folder} do not belong together", fix="install the package again")
    return table


def read_provenance(folder: Path = TABLE_FOLDER) -> dict[str, Any]:
    """Return what the table was made from: model, sources of words, their licences, and figures."""
    provenance: dict[str, Any] = json.loads((folder / PROVENANCE_FILE).read_text())
    return provenance
