"""Acronyms that the corpus itself explains, and their long forms: "generative adversarial networks (GANs)"."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from indexer.mining.encoded_corpus import EncodedCorpus, iterate_document_ranges
from indexer.text.tokenizer import Mark

MIN_COUNT = 2
"""Minimum number of times the corpus must explain an acronym by the same words."""
MIN_SHARE = 0.2
"""Minimum share of the acronym's explanations: a rare long form would mislead more often than help."""

_ACRONYM = re.compile(r"([A-Z][A-Za-z]*[A-Z])s?")


def count_acronym_expansions(corpus: EncodedCorpus, max_letters: int = 5) -> Counter[tuple[int, ...]]:
    """Count the word sequences right before a bracket that opens with their initials.

    Return lemma ids -> count; acronyms have 2 to ``max_letters`` letters.
    """
    letters_of_surface = {
        i: match.group(1).lower()
        for i, surface in enumerate(corpus.surfaces)
        if surface[:1].isupper() and (match := _ACRONYM.fullmatch(surface)) and 2 <= len(match.group(1)) <= max_letters
    }
    is_acronym = np.zeros(len(corpus.surfaces), dtype=np.bool_)
    is_acronym[list(letters_of_surface)] = True
    opened = np.flatnonzero((corpus.marks[:-1] & Mark.OPEN) != 0)
    expansions: Counter[tuple[int, ...]] = Counter()
    for position, surface_id in _iterate_bracketed_acronyms(corpus, opened, is_acronym):
        letters = letters_of_surface[surface_id]
        start = position - len(letters)
        words = corpus.lemma_ids[max(start, 0) : position].tolist()
        initials = "".join([corpus.lemmas[word][0] for word in words])
        if initials == letters and not (corpus.marks[start + 1 : position] & Mark.BOUNDARY).any():
            expansions[tuple(words)] += 1
    return expansions


def _iterate_bracketed_acronyms(
    corpus: EncodedCorpus, positions_after_bracket: NDArray[np.int64], is_acronym: NDArray[np.bool_]
) -> Iterator[tuple[int, int]]:
    """Yield the position and surface id of each acronym that follows an opening bracket."""
    for first, last in iterate_document_ranges(corpus, 1 << 20):
        start, end = int(corpus.offsets[first]), int(corpus.offsets[last])
        inside = positions_after_bracket[
            np.searchsorted(positions_after_bracket, start) : np.searchsorted(positions_after_bracket, end)
        ]
        surface_ids = corpus.surface_ids[start:end][inside - start]
        short = is_acronym[surface_ids]
        yield from zip(inside[short].tolist(), surface_ids[short].tolist(), strict=True)


def find_explained_acronyms(
    expansion_counts: Mapping[tuple[int, ...], int], word_ids: dict[str, int], lemmas: Sequence[str], min_count: int = 2
) -> NDArray[np.int64]:
    """Return the ids of words that are acronyms explained ``min_count`` times or more, ascending."""
    counts: Counter[int] = Counter()
    for words, count in expansion_counts.items():
        short = "".join(lemmas[w][0] for w in words)
        if short in word_ids:
            counts[word_ids[short]] += count
    return np.array(sorted(word for word, count in counts.items() if count >= min_count), dtype=np.int64)


def select_long_forms(expansion_counts: Mapping[tuple[int, ...], int], lemmas: Sequence[str]) -> dict[str, list[str]]:
    """Return short form -> its long forms, most frequent first, from what ``count_acronym_expansions`` returns."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for word_ids, count in expansion_counts.items():
        words = [lemmas[word] for word in word_ids]
        counts["".join(word[0] for word in words)][" ".join(words)] += count
    long_forms: dict[str, list[str]] = {}
    for short, longs in sorted(counts.items()):
        threshold = max(MIN_COUNT, MIN_SHARE * longs.total())
        forms = [
            long for long, count in sorted(longs.items(), key=lambda item: (-item[1], item[0])) if count >= threshold
        ]
        if forms:
            long_forms[short] = forms
    return long_forms
