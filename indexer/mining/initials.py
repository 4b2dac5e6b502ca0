"""Acronyms that the corpus itself explains: "generative adversarial networks (GANs)"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from indexer.mining.encoded_corpus import Corpus, batches
from indexer.text.tokenizer import Mark

_ACRONYM = re.compile(r"([A-Z][A-Za-z]*[A-Z])s?")


def expansions(corpus: Corpus, longest: int = 5) -> Counter[tuple[int, ...]]:
    """Word sequences right before a bracket that opens with their initials, with how often."""
    letters = {
        i: match.group(1).lower()
        for i, surface in enumerate(corpus.surfaces)
        if surface[:1].isupper() and (match := _ACRONYM.fullmatch(surface)) and 2 <= len(match.group(1)) <= longest
    }
    acronym = np.zeros(len(corpus.surfaces), dtype=np.bool_)
    acronym[list(letters)] = True
    opened = np.flatnonzero((corpus.marks[:-1] & Mark.OPEN) != 0)
    found: Counter[tuple[int, ...]] = Counter()
    for position, surface_code in _acronyms(corpus, opened, acronym):
        initials = letters[surface_code]
        start = position - len(initials)
        words = corpus.words[max(start, 0) : position].tolist()
        spelled = "".join([corpus.lemmas[word][0] for word in words])
        if spelled == initials and not (corpus.marks[start + 1 : position] & Mark.BOUNDARY).any():
            found[tuple(words)] += 1
    return found


def _acronyms(corpus: Corpus, opened: NDArray[np.int64], acronym: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Positions after an opening bracket that hold an acronym, with its spelling."""
    for first, last in batches(corpus, 1 << 20):
        start, end = int(corpus.offsets[first]), int(corpus.offsets[last])
        inside = opened[np.searchsorted(opened, start) : np.searchsorted(opened, end)]
        codes = corpus.codes[start:end][inside - start]
        short = acronym[codes]
        yield from zip(inside[short].tolist(), codes[short].tolist(), strict=True)


def explained(
    found: Counter[tuple[int, ...]], word_ids: dict[str, int], lemmas: list[str], times: int = 2
) -> NDArray[np.int64]:
    """Words that are acronyms explained so many times, ascending."""
    counts: Counter[int] = Counter()
    for words, count in found.items():
        name = "".join(lemmas[w][0] for w in words)
        if name in word_ids:
            counts[word_ids[name]] += count
    return np.array(sorted(word for word, count in counts.items() if count >= times), dtype=np.int64)
