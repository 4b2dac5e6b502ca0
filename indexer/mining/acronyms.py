"""Acronyms and what they stand for, as a model keeps them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

LEAST = 2
"""How often the corpus must explain an acronym by the same words."""
SHARE = 0.2
"""And in what share of its explanations: a rare reading would mislead more often than help."""


def readings(found: Mapping[tuple[int, ...], int], lemmas: Sequence[str]) -> dict[str, list[str]]:
    """Short form -> its long forms, most frequent first, from explained word sequences and how often each was."""
    seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for words, count in found.items():
        spelled = [lemmas[word] for word in words]
        seen["".join(word[0] for word in spelled)][" ".join(spelled)] += count
    kept: dict[str, list[str]] = {}
    for short, longs in sorted(seen.items()):
        enough = max(LEAST, SHARE * longs.total())
        forms = [long for long, count in sorted(longs.items(), key=lambda one: (-one[1], one[0])) if count >= enough]
        if forms:
            kept[short] = forms
    return kept


def as_lines(acronyms: Mapping[str, list[str]]) -> list[str]:
    """One string per pair, ``short<tab>long``."""
    return [f"{short}\t{long}" for short, longs in sorted(acronyms.items()) for long in longs]


def from_lines(lines: list[str]) -> dict[str, list[str]]:
    acronyms: dict[str, list[str]] = {}
    for line in lines:
        short, _, long = line.partition("\t")
        acronyms.setdefault(short, []).append(long)
    return acronyms
