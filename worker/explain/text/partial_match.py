"""How much of a phrase a text holds when it does not hold the phrase itself.

Worth is a share of the phrase's words, each weighed by its rarity (idf):

* the word itself counts whole, and so does a part that is written together or apart
  ("meta learning" in "metalearning") or stands for the phrase ("RL" in "reinforcement learning");
* a word of the same family ("personalise", "personalisation") counts ``FAMILY``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from indexer.documents import PAIR
from indexer.model.bm25 import phrase_words, saturation
from indexer.model.phrase_model import PhraseModel
from indexer.text.tokenizer import PAIR_WINDOW
from worker.explain.text.encoded_text import Coded
from worker.explain.text.ngram_counts import Sequences, sequences

FAMILY = 0.8
"""What a word of the same family is worth."""
STEM = 4
"""Words of a family share at least this many first letters (one more where neither begins with the other) ..."""
_SHARED = 0.6
"""... and this share of the longer one."""


class Wording:
    """The words of one side, open to questions about phrases."""

    def __init__(self, coded: Coded, model: PhraseModel) -> None:
        """``coded``: the words of the side's documents."""
        self._coded = coded
        self._model = model
        self._acronyms = model.acronyms
        self._counts: dict[str, int] = {}
        self._held: dict[str, bool] = {}
        self._partials: dict[str, float] = {}
        self._worths: dict[str, float] = {}
        self.words = coded.counts
        self._vocabulary = frozenset(self.words)

    def count(self, phrase: str) -> int:
        """How often the phrase's token sequence occurs, nested and overlapping occurrences included."""
        known = self._counts.get(phrase)
        if known is None:
            known = self._counts[phrase] = self._count(phrase)
        return known

    def _count(self, phrase: str) -> int:
        if PAIR in phrase:
            return sum(len(spots) for spots in (pair_positions(phrase, tokens) for tokens in self._coded.tokens))
        words = phrase.split()
        if not self._vocabulary.issuperset(words):
            return 0
        return self.words[phrase] if len(words) == 1 else self._sequences.count(words)

    def holds(self, phrase: str) -> bool:
        """Whether it occurs at all: of a large set that is told long before it is counted."""
        known = self._held.get(phrase)
        if known is None:
            known = self._held[phrase] = self._holds(phrase)
        return known

    def _holds(self, phrase: str) -> bool:
        if PAIR in phrase:
            return self.count(phrase) > 0
        words = phrase.split()
        if len(words) < 2 or not self._vocabulary.issuperset(words):
            return phrase in self._vocabulary
        return self._sequences.holds(words)

    def partial(self, phrases: Sequence[str]) -> NDArray[np.float64]:
        """The worth of each phrase here, in [0, 1], shape (phrases,); remembered, as the hits of a page share many."""
        new = [phrase for phrase in phrases if phrase not in self._partials]
        if new:
            self._partials.update(zip(new, self._worth(new), strict=True))
        return np.array([self._partials[phrase] for phrase in phrases], dtype=np.float64)

    def _worth(self, phrases: Sequence[str]) -> list[float]:
        words = [phrase_words(phrase) for phrase in phrases]
        known, unseen = self._model.word_ids, len(self._model.words)
        numbers = np.array([known.get(word, unseen) for own in words for word in own], dtype=np.int64)
        rarity = iter(self._model.word_idf[numbers].tolist())
        return [self._partial(own, list(islice(rarity, len(own)))) for own in words]

    def holds_any_word(self, phrase: str) -> bool:
        return not self._vocabulary.isdisjoint(phrase_words(phrase))

    def weights(self, phrases: Iterable[str]) -> NDArray[np.float64]:
        """BM25 of each phrase's words against the side as one text, whether or not it occurs; shape (phrases,)."""
        words = [phrase_words(phrase) for phrase in phrases]
        weights = self._word_weights(set(chain.from_iterable(words)))
        return np.array([sum([weights.get(word, 0.0) for word in own]) for own in words], dtype=np.float64)

    def _word_weights(self, words: Iterable[str]) -> dict[str, float]:
        """BM25 of those of the words that stand here."""
        known, unseen = self._model.word_ids, len(self._model.words)
        held = [word for word in words if word in self._vocabulary]
        rarity = self._model.word_idf[np.array([known.get(word, unseen) for word in held], dtype=np.int64)]
        counts, length = [self.words[word] for word in held], self._coded.size
        weights = rarity * saturation(counts, length, self._model.average_length)
        return dict(zip(held, weights.tolist(), strict=True))

    @cached_property
    def _sequences(self) -> Sequences:
        return sequences(self._coded)

    def _partial(self, words: list[str], rarity: list[float]) -> float:
        if self._holds_otherwise(words):
            return 1.0
        standing = self._covered_by_acronyms(words)
        found = [1.0 if at in standing else self._word(word) for at, word in enumerate(words)]
        if not any(found):  # as most phrases of a hit are to a query
            return 0.0
        total = sum(rarity)
        return sum(r * worth for r, worth in zip(rarity, found, strict=True)) / total if total > 0 else 0.0

    def _word(self, word: str) -> float:
        """The worth of one word; remembered, as the hits of a page ask for the same ones."""
        worth = self._worths.get(word)
        if worth is None:
            worth = self._worths[word] = 1.0 if word in self._vocabulary else FAMILY if self._has_family(word) else 0.0
        return worth

    def _has_family(self, word: str) -> bool:
        return len(word) >= STEM and any(related(word, other) for other in self._families.get(word[:STEM], ()))

    def _holds_otherwise(self, words: list[str]) -> bool:
        """Written together or apart, or by its acronym, or as the acronym of what stands here."""
        if self._holds_joined("".join(words), apart=3):
            return True
        if len(words) == 1 and any(map(self.holds, self._acronyms.get(words[0], ()))):
            return True
        return " ".join(words) in self._stood_for

    def _holds_joined(self, letters: str, apart: int, before: str = "") -> bool:
        """Whether ``letters`` stand here as one word, or as up to ``apart`` neighbours."""
        if letters[:2] not in self._beginnings and letters[:1] not in self._vocabulary:
            return False
        if letters in self._vocabulary and (not before or self.holds(f"{before} {letters}")):
            return True
        if apart < 2:
            return False
        held = self._vocabulary
        for end in range(1, len(letters)):
            head = letters[:end]
            if head in held and self._holds_joined(letters[end:], apart - 1, f"{before} {head}".lstrip()):
                return True
        return False

    def _covered_by_acronyms(self, words: list[str]) -> set[int]:
        """Positions of words that an acronym of this side stands for, or whose long form stands here."""
        covered: set[int] = set()
        for start, word in enumerate(words):
            if word in self._acronyms and any(map(self.holds, self._acronyms[word])):
                covered.add(start)
            if self._stood_for:
                for end in range(start + 2, len(words) + 1):
                    if " ".join(words[start:end]) in self._stood_for:
                        covered.update(range(start, end))
        return covered

    @cached_property
    def _stood_for(self) -> frozenset[str]:
        """Long forms of the acronyms that stand here: most sides have few, or none."""
        held = self._acronyms.keys() & self._vocabulary
        return frozenset([long.replace("\n", " ") for short in held for long in self._acronyms[short]])

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        return frozenset([word[:2] for word in self.words])

    @cached_property
    def _families(self) -> dict[str, list[str]]:
        families: defaultdict[str, list[str]] = defaultdict(list)
        for word in self.words:
            if len(word) >= STEM:
                families[word[:STEM]].append(word)
        return families


def positions(phrase: str, tokens: str, most: int | None = None) -> list[int]:
    """Token positions where a phrase (not a pair) begins in a tokens string, the first ``most`` of them."""
    found: list[int] = []
    position = counted = 0
    at = tokens.find(phrase) if phrase else -1
    while at >= 0 and len(found) != most:
        position += tokens.count(" ", counted, at) + tokens.count("\n", counted, at)
        counted, end = at, at + len(phrase)
        if (at == 0 or tokens[at - 1] in " \n") and (end == len(tokens) or tokens[end] in " \n"):
            found.append(position)
        at = tokens.find(phrase, at + 1)
    return found


def pair_positions(pair: str, tokens: str) -> list[tuple[int, int]]:
    """Where a member of a pair begins with the other within reach, and how many words that member has."""
    one, other = pair.split(PAIR)
    if one not in tokens or other not in tokens:
        return []
    starts = [np.array(positions(member, tokens), dtype=np.int64) for member in (one, other)]
    found: dict[int, int] = {}
    for member, here, there in ((one, starts[0], starts[1]), (other, starts[1], starts[0])):
        for start in here[_within(here, there, PAIR_WINDOW)].tolist():
            found.setdefault(start, len(member.split()))
    return sorted(found.items())


def _within(here: NDArray[np.int64], there: NDArray[np.int64], reach: int) -> NDArray[np.bool_]:
    """Which of ``here`` have one of ``there`` (both ascending) at most ``reach`` away."""
    if not len(there):
        return np.zeros(len(here), dtype=bool)
    after = np.searchsorted(there, here)
    right = there[np.minimum(after, len(there) - 1)]
    left = there[np.maximum(after - 1, 0)]
    return np.asarray(np.minimum(np.abs(right - here), np.abs(left - here)) <= reach)


def short_forms(model: PhraseModel) -> dict[str, list[str]]:
    """Long form -> its acronyms, turned round once per model."""
    found: dict[str, list[str]] | None = model.__dict__.get("_short_forms")
    if found is None:
        found = {}
        for short, longs in model.acronyms.items():
            for long in longs:
                found.setdefault(long.replace("\n", " "), []).append(short)
        model.__dict__["_short_forms"] = found
    return found


def related(one: str, other: str) -> bool:
    """Whether two words look like one family: a long enough common beginning."""
    shared = 0
    for x, y in zip(one, other, strict=False):
        if x != y:
            break
        shared += 1
    # "bread" and "break" share as much as "bank" and "banker", but neither begins with the other
    whole = shared == min(len(one), len(other))
    return shared >= STEM + (not whole) and shared >= _SHARED * max(len(one), len(other))
