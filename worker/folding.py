"""Near-duplicates in one list become one entry; the others are named beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from rapidfuzz.distance import Levenshtein

from indexer.documents import PAIR
from indexer.phrases.model import PhraseModel
from worker.matching import STEM, related, short_forms

ALIKE = 0.85
"""Levenshtein similarity from which two phrases are spellings of one."""


def fold(ranked: Sequence[str], model: PhraseModel, most: int | None = None) -> list[tuple[str, tuple[str, ...]]]:
    """Each phrase of a ranked list that is not a near-duplicate of an earlier one, with those that are.

    Cutting the ranked list shortens the result without changing what stays: a phrase is only ever
    compared with the ones before it. ``most``: only the first so many are wanted, which saves comparing
    the rest with each other.
    """
    folded: dict[str, list[str]] = {}
    for phrase, leader in _led(ranked, model, most):
        others = folded.setdefault(leader, [])
        if phrase != leader:
            others.append(phrase)
    return [(leader, tuple(others)) for leader, others in folded.items()]


def leaders(ranked: Sequence[str], model: PhraseModel, most: int) -> tuple[str, ...]:
    """The first so many phrases of a ranked list that are no near-duplicates of an earlier one."""
    return tuple(islice((phrase for phrase, leader in _led(ranked, model, most) if phrase == leader), most))


def _led(ranked: Sequence[str], model: PhraseModel, most: int | None) -> Iterator[tuple[str, str]]:
    """Each phrase with the earlier one it is a near-duplicate of, or itself; at most so many stand for themselves."""
    short = short_forms(model)
    kept: list[_Shape] = []
    for phrase in ranked:
        shape = _Shape(phrase, phrase.count(" "), short.get(phrase, ()))
        for leader in kept:
            if shape.may_be_near(leader) and near(phrase, leader.phrase, model):
                yield phrase, leader.phrase
                break
        else:
            if most is None or len(kept) < most:
                kept.append(shape)
                yield phrase, phrase


def near(one: str, other: str, model: PhraseModel) -> bool:
    """One inside the other (in words of the same families, too), one the acronym of the other, or two spellings."""
    if PAIR in one or PAIR in other:
        return set(one.split(PAIR)) == set(other.split(PAIR)) or one in other.split(PAIR) or other in one.split(PAIR)
    if f" {one} " in f" {other} " or f" {other} " in f" {one} ":
        return True
    short = short_forms(model)
    if one in short.get(other, ()) or other in short.get(one, ()) or _holds(one, other) or _holds(other, one):
        return True
    return Levenshtein.normalized_similarity(one.replace(" ", ""), other.replace(" ", "")) >= ALIKE


def _holds(long: str, short: str) -> bool:
    """Whether a phrase has every word of another, or one of its family: "large language model", "large model"."""
    words = long.split()
    return all(any(word == held or related(word, held) for held in words) for word in short.split())


class _Shape:
    """What tells most pairs of phrases apart at a glance."""

    __slots__ = ("least", "letters", "most", "phrase", "shorts", "stems")

    def __init__(self, phrase: str, spaces: int, shorts: Sequence[str]) -> None:
        self.phrase, self.shorts = phrase, shorts
        self.letters = len(phrase) - spaces
        self.stems = frozenset([word[:STEM] for word in phrase.split()])
        # each letter more or less is an edit; a hair wider than ALIKE, which near() has the last word on
        self.least, self.most = self.letters * ALIKE - 1e-6, self.letters / ALIKE + 1e-6

    def may_be_near(self, other: _Shape) -> bool:
        return (
            self.least <= other.letters <= self.most
            or self.stems <= other.stems
            or other.stems <= self.stems
            or self.phrase in other.phrase
            or other.phrase in self.phrase
            or self.phrase in other.shorts
            or other.phrase in self.shorts
        )
