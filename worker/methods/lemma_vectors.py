"""Lists of lemmas: spans of phrases in them, and TF-IDF vectors."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from worker.methods.base import PairProblem

Vector = Mapping[str, float]


def split_into_member_words(phrase: str) -> list[list[str]]:
    """Return the words of each member of a phrase: two members of a phrase pair ``x@@y``, else one."""
    return [part.split() for part in phrase.split("@@")]


class LemmaText:
    """One list of lemmas, indexed for finding phrases."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens = tokens
        self.words = frozenset(tokens)
        self._positions: dict[str, list[int]] = {}
        for position, token in enumerate(tokens):
            self._positions.setdefault(token, []).append(position)

    def find_spans(self, phrase: str) -> list[tuple[int, int]]:
        """Return the occurrences as (start, end); of a phrase pair those of both members, if both occur."""
        spans = [self._find_sequence(words) for words in split_into_member_words(phrase)]
        return [span for own in spans for span in own] if all(spans) else []

    def _find_sequence(self, words: Sequence[str]) -> list[tuple[int, int]]:
        if not words:
            return []
        size = len(words)
        return [(p, p + size) for p in self._positions.get(words[0], ()) if list(self.tokens[p : p + size]) == words]


def read_neighbour_texts(problem: PairProblem) -> list[LemmaText]:
    """Return the neighbourhood's documents, or the two texts where there are none."""
    return [LemmaText(tokens) for tokens in (problem.neighbour_texts or (problem.a.tokens, problem.b.tokens))]


def make_idf_function(problem: PairProblem) -> Callable[[str], float]:
    """Return the function ``ln(N / df)`` of a word, never below 0; an unknown word counts as one of one document."""
    total = max(problem.corpus_size, 1)
    return lambda word: max(math.log(total / max(problem.word_document_frequency(word), 1)), 0.0)


def compute_tf_idf(tokens: Iterable[str], idf: Callable[[str], float]) -> dict[str, float]:
    """Return the weight of each word: its plain count times idf."""
    return {word: count * idf(word) for word, count in Counter(tokens).items()}


def cosine_similarity(a: Vector, b: Vector) -> float:
    """Return the cosine of two vectors; 0 if one is empty."""
    small, large = (a, b) if len(a) <= len(b) else (b, a)
    dot = math.fsum(value * large[word] for word, value in small.items() if word in large)
    size = math.sqrt(math.fsum(v * v for v in a.values())) * math.sqrt(math.fsum(v * v for v in b.values()))
    return dot / size if size > 0 else 0.0
