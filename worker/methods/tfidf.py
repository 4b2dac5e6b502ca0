"""Words and phrases in lists of lemmas: where a phrase stands, and TF-IDF."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from worker.methods.base import Problem

Vector = Mapping[str, float]


def members(phrase: str) -> list[list[str]]:
    """The words of a phrase; a pair ``x@@y`` has two lists."""
    return [part.split() for part in phrase.split("@@")]


class Text:
    """One list of lemmas, ready to be asked where a phrase stands."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens = tokens
        self.words = frozenset(tokens)
        self._places: dict[str, list[int]] = {}
        for place, token in enumerate(tokens):
            self._places.setdefault(token, []).append(place)

    def spans(self, phrase: str) -> list[tuple[int, int]]:
        """Where the phrase stands, as (start, end); of a pair, where either member does if both do."""
        found = [self._sequence(words) for words in members(phrase)]
        return [span for spans in found for span in spans] if all(found) else []

    def _sequence(self, words: Sequence[str]) -> list[tuple[int, int]]:
        if not words:
            return []
        size = len(words)
        return [(p, p + size) for p in self._places.get(words[0], ()) if list(self.tokens[p : p + size]) == words]


def corpus(problem: Problem) -> list[Text]:
    """The neighbourhood's documents, or the two texts where there are none."""
    return [Text(tokens) for tokens in (problem.texts or (problem.tokens_a, problem.tokens_b))]


def inverse_frequency(problem: Problem) -> Callable[[str], float]:
    """``ln(N / df)``, never below 0; an unseen word counts as found in one document."""
    total = max(problem.documents, 1)
    return lambda word: max(math.log(total / max(problem.word_frequency(word), 1)), 0.0)


def tf_idf(tokens: Iterable[str], weight: Callable[[str], float]) -> dict[str, float]:
    return {word: count * weight(word) for word, count in Counter(tokens).items()}


def cosine(one: Vector, other: Vector) -> float:
    small, large = (one, other) if len(one) <= len(other) else (other, one)
    dot = math.fsum(value * large[word] for word, value in small.items() if word in large)
    size = math.sqrt(math.fsum(v * v for v in one.values())) * math.sqrt(math.fsum(v * v for v in other.values()))
    return dot / size if size > 0 else 0.0
