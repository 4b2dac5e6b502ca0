"""Near-duplicates in one list become one entry; the others are named beside it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from rapidfuzz.distance import Levenshtein

from indexer.documents import PAIR
from indexer.model.phrase_model import PhraseModel
from worker.explain.text.partial_match import STEM, related, short_forms
from worker.phrasing.proper_names import Called

ALIKE = 0.85
"""Levenshtein similarity from which two phrases are spellings of one."""

_INITIALS = 3
"""Words whose initials may stand for them, whether or not a text says so."""


def _any(place: int) -> int:
    """As many as there are."""
    return sys.maxsize


def _nothing(phrase: str) -> None:
    """No phrase is called otherwise."""


class Folder:
    """Folds the lists of an answer, or of all those of a page, in which the same phrases come up again and again."""

    def __init__(self, model: PhraseModel) -> None:
        self._model = model
        self._short, self._long = short_forms(model), model.acronyms
        self._shapes: dict[str, _Shape] = {}

    def fold(
        self,
        ranked: Sequence[str],
        most: Callable[[int], int] = _any,
        called: Callable[[str], Called | None] = _nothing,
    ) -> list[tuple[str, tuple[str, ...]]]:
        """Each phrase of a ranked list that is not a near-duplicate of an earlier one, with those that are.

        Cutting the ranked list shortens the result without changing what stays: a phrase is only ever
        compared with the ones before it. ``most``: how many are wanted when the phrase at a place in the list comes up,
        which saves comparing the rest with each other. ``called``: what a phrase is a piece of, which then counts like
        the phrase; asked for only while more are wanted, as finding it takes its time.
        """
        folded: dict[str, list[str]] = {}
        for phrase, leader in self._led(ranked, most, called):
            others = folded.setdefault(leader, [])
            if phrase != leader:
                others.append(phrase)
        return [(leader, tuple(others)) for leader, others in folded.items()]

    def leaders(self, ranked: Sequence[str], most: int) -> tuple[str, ...]:
        """The first so many phrases of a ranked list that are no near-duplicates of an earlier one."""
        led = self._led(ranked, lambda place: most, _nothing)
        return tuple(islice((phrase for phrase, leader in led if phrase == leader), most))

    def _led(
        self, ranked: Sequence[str], most: Callable[[int], int], called: Callable[[str], Called | None]
    ) -> Iterator[tuple[str, str]]:
        """Each phrase with the earlier one it is near to, or itself; at most so many stand for themselves."""
        kept: dict[str, list[_Shape]] = {}
        for place, phrase in enumerate(ranked):
            room = len(kept) < most(place)
            shapes = [self._shape(phrase)]
            leader = _first_near(shapes[0], kept)
            name = called(phrase) if room and leader is None else None
            if name:
                shapes.append(self._shape(name.lemmas))
                leader = _first_near(shapes[1], kept)
            if leader is None and room:
                kept[phrase] = shapes
                leader = phrase
            if leader is not None:
                yield phrase, leader

    def _shape(self, phrase: str) -> _Shape:
        shape = self._shapes.get(phrase)
        if shape is None:
            shape = self._shapes[phrase] = _Shape(phrase, self._shorts(phrase), self._spelt_out(phrase))
        return shape

    def _spelt_out(self, phrase: str) -> list[frozenset[str]]:
        """The words of a phrase with those that an acronym among them stands for, of each that it may stand for."""
        words = phrase.split()
        if self._long.keys().isdisjoint(words):
            return []
        return [frozenset([*words, *form.split()]) for word in words for form in self._long.get(word, ())]

    def _shorts(self, phrase: str) -> list[str]:
        """What may stand for a phrase: its acronyms, and its initials where the corpus writes them in capitals."""
        known, words = self._short.get(phrase, []), phrase.split()
        initials = "".join([word[0] for word in words]) if len(words) >= _INITIALS else ""
        number = self._model.phrase_ids.get(initials)
        return [*known, initials] if number is not None and self._model.displays[number].isupper() else known


class _Shape:
    """A phrase ready to be compared with others, so that what tells most pairs apart is seen at a glance."""

    __slots__ = ("joined", "least", "members", "most", "phrase", "shorts", "spelt_out", "stems", "words")

    def __init__(self, phrase: str, shorts: Sequence[str], spelt_out: Sequence[frozenset[str]]) -> None:
        self.phrase, self.shorts, self.spelt_out = phrase, shorts, spelt_out
        self.members = frozenset(phrase.split(PAIR)) if PAIR in phrase else None
        self.words = phrase.split()
        self.stems = frozenset([word[:STEM] for word in self.words])
        self.joined = "".join(self.words)
        # each letter more or less is an edit; a hair wider than ALIKE
        self.least, self.most = len(self.joined) * ALIKE - 1e-6, len(self.joined) / ALIKE + 1e-6

    def near(self, other: _Shape) -> bool:
        """One inside the other (in words of the same families or acronyms, too), or two spellings."""
        if self.members or other.members:
            ours, theirs = (shape.members or {shape.phrase} for shape in (self, other))
            return ours == theirs or self.phrase in theirs or other.phrase in ours
        return (
            (self.stems <= other.stems and _holds(other.words, self.words))
            or (other.stems <= self.stems and _holds(self.words, other.words))
            or self.phrase in other.shorts
            or other.phrase in self.shorts
            or (self.spelt_out and self._stands_for(other))
            or (other.spelt_out and other._stands_for(self))
            or (
                self.least <= len(other.joined) <= self.most
                and Levenshtein.normalized_similarity(self.joined, other.joined, score_cutoff=ALIKE) >= ALIKE
            )
        )

    def _stands_for(self, other: _Shape) -> bool:
        """Whether an acronym in it says what the other does: "MT systems", "machine translation"."""
        return len(other.words) > 1 and any(reading.issuperset(other.words) for reading in self.spelt_out)


def _first_near(shape: _Shape, kept: Mapping[str, Sequence[_Shape]]) -> str | None:
    for phrase, others in kept.items():
        for other in others:
            if shape.near(other):
                return phrase
    return None


def _holds(long: Sequence[str], short: Sequence[str]) -> bool:
    """Whether a phrase has every word of another, or one of its family: "large language model", "large model"."""
    return all(any(word == held or related(word, held) for held in long) for word in short)
