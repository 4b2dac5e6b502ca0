"""How people write a phrase: its most frequent original spelling."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indexer.phrases.corpus import Corpus, batch_tokens, batches
from indexer.phrases.phraseset import PhraseSet
from indexer.phrases.processes import in_order
from indexer.text import Mark, is_ideograph

_ODD = np.uint64(0x9E3779B97F4A7C15)


def spellings(corpus: Corpus, phrases: PhraseSet, processes: int = 1) -> list[str]:
    """The most frequent spelling of each phrase, the first met where two are as frequent."""
    matcher = phrases.matcher(len(corpus.lemmas))

    def read(batch: tuple[int, int]) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
        words, marks = batch_tokens(corpus, *batch)
        start = int(corpus.offsets[batch[0]])
        found = matcher.all(words, marks)
        keys = _keys(corpus.codes[start : start + len(words)], marks, found.position, found.length, found.phrase)
        unique, at, times = np.unique(keys, return_index=True, return_counts=True)
        return unique, times, (found.position[at] + start) << 3 | found.length[at]

    names: list[NDArray[np.uint64]] = []
    counts: list[NDArray[np.int64]] = []
    places: list[NDArray[np.int64]] = []
    for _, found in in_order(read, batches(corpus), processes):
        names.append(found[0])
        counts.append(found[1])
        places.append(found[2])
        names, counts, places = _merged(names, counts, places, limit=8)
    names, counts, places = _merged(names, counts, places, limit=1)
    best = ["" for _ in range(phrases.size)]
    if not names:
        return best
    order = np.lexsort((places[0], -counts[0]))
    phrase = names[0] >> np.uint64(32)
    _, rows = np.unique(phrase[order], return_index=True)
    for row, shown in zip(order[rows].tolist(), _written(corpus, places[0][order[rows]]), strict=True):
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


def _merged(
    names: list[NDArray[np.uint64]], counts: list[NDArray[np.int64]], places: list[NDArray[np.int64]], limit: int
) -> tuple[list[NDArray[np.uint64]], list[NDArray[np.int64]], list[NDArray[np.int64]]]:
    """The lists as one array each once there are more than ``limit``: counts added, the first place kept."""
    if len(names) <= limit:
        return names, counts, places
    everything = np.concatenate(names)
    unique, at, row = np.unique(everything, return_index=True, return_inverse=True)
    total = np.bincount(row, np.concatenate(counts), minlength=len(unique)).astype(np.int64)
    return [unique], [total], [np.concatenate(places)[at]]


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
