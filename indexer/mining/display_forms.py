"""How people write a phrase: its most frequent original spelling."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.mining.encoded_corpus import Corpus, batch_tokens
from indexer.segmentation.matcher import Found
from indexer.text.tokenizer import Mark, is_ideograph

_ODD = np.uint64(0x9E3779B97F4A7C15)


class Spelled(NamedTuple):
    """Spellings of phrases in a batch, each of shape (spellings,)."""

    names: NDArray[np.uint64]
    """Phrase in the upper half, a hash of its spelling in the lower; ascending."""
    counts: NDArray[np.int64]
    places: NDArray[np.int64]
    """Where it stands first: position << 3 | length."""


def spelled(corpus: Corpus, batch: tuple[int, int], found: Found) -> Spelled:
    """How the phrases ``found`` in the batch are written there."""
    _, marks = batch_tokens(corpus, *batch)
    start, end = corpus.offsets[list(batch)].tolist()
    keys = _keys(corpus.codes[start:end], marks, found.position, found.length, found.phrase)
    unique, at, times = np.unique(keys, return_index=True, return_counts=True)
    return Spelled(unique, times, (found.position[at] + start) << 3 | found.length[at])


class Spellings:
    """Adds up the spellings of batches, in order."""

    def __init__(self) -> None:
        self._parts: list[Spelled] = []

    def add(self, found: Spelled) -> None:
        self._parts = _merged([*self._parts, found], limit=8)

    def best(self, corpus: Corpus, phrases: int) -> list[str]:
        """The most frequent spelling of each phrase, the first met where two are as frequent."""
        best = ["" for _ in range(phrases)]
        for names, counts, places in _merged(self._parts, limit=1):
            order = np.lexsort((places, -counts))
            phrase = names >> np.uint64(32)
            _, rows = np.unique(phrase[order], return_index=True)
            for row, shown in zip(order[rows].tolist(), _written(corpus, places[order[rows]]), strict=True):
                best[int(phrase[row])] = shown
        return best


def _keys(
    codes: NDArray[np.int32],
    marks: NDArray[np.uint8],
    position: NDArray[np.int64],
    length: NDArray[np.int64],
    phrase: NDArray[np.int32],
) -> NDArray[np.uint64]:
    """Phrase in the upper half, a hash of its spelling in the lower."""
    spelled = np.zeros(len(position), dtype=np.uint64)
    for i in range(int(length.max(initial=1))):
        rows = np.flatnonzero(length > i)
        at = position[rows] + i
        hyphen = ((marks[at] & Mark.HYPHEN) != 0) & (i > 0)
        token = codes[at].astype(np.uint64) << np.uint64(1) | hyphen.astype(np.uint64)
        spelled[rows] = (spelled[rows] ^ token) * _ODD
    return phrase.astype(np.uint64) << np.uint64(32) | spelled >> np.uint64(32)


def _merged(parts: list[Spelled], limit: int) -> list[Spelled]:
    """The parts as one once there are more than ``limit``: counts added, the first place kept."""
    if len(parts) <= limit:
        return parts
    names, counts, places = (np.concatenate(column) for column in zip(*parts, strict=True))
    unique, at, row = np.unique(names, return_index=True, return_inverse=True)
    total = np.bincount(row, counts, minlength=len(unique)).astype(np.int64)
    return [Spelled(unique, total, places[at])]


def _written(corpus: Corpus, places: NDArray[np.int64]) -> list[str]:
    """Tokens at places (position << 3 | length) as they were written."""
    starts, lengths = places >> 3, places & 7
    ends = np.cumsum(lengths)
    at = np.arange(lengths.sum()) - np.repeat(ends - lengths, lengths) + np.repeat(starts, lengths)
    codes = corpus.codes.take(at).tolist()
    hyphens = ((corpus.marks[at] & Mark.HYPHEN) != 0).tolist()
    return [
        _joined([corpus.surfaces[code] for code in codes[end - n : end]], hyphens[end - n : end])
        for n, end in zip(lengths.tolist(), ends.tolist(), strict=True)
    ]


def _joined(words: list[str], hyphens: list[bool]) -> str:
    """Hyphens kept, ideographs together, else a space between."""
    pieces = words[:1]
    for word, hyphen in zip(words[1:], hyphens[1:], strict=True):
        apart = not (is_ideograph(word) and is_ideograph(pieces[-1]))
        pieces += ["-" if hyphen else " " if apart else "", word]
    return "".join(pieces)
