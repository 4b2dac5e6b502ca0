"""ContextFuzzy: common where the words around the phrase, wherever it stands, resemble both texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from worker.methods.base import Problem, Sorting
from worker.methods.ranked_lists import rest_is_distinct
from worker.methods.tfidf import Text, corpus, cosine, inverse_frequency, tf_idf


@dataclass(frozen=True)
class ContextFuzzy:
    """Cosine of TF-IDF vectors: the text, and the phrase's pseudo-document of all its contexts.

    Assumed: a window of 10 words is 5 on each side, without the phrase itself; contexts come from
    the neighbourhood's documents; the threshold, tuned in the paper and not given, is our own.
    """

    name: str = "context_fuzzy"
    window: int = 10
    threshold: float = 0.15

    def sort(self, problem: Problem) -> Sorting:
        weight, texts = inverse_frequency(problem), corpus(problem)
        a, b = tf_idf(problem.tokens_a, weight), tf_idf(problem.tokens_b, weight)
        pseudo = [tf_idf(contexts(phrase, texts, self.window // 2), weight) for phrase in problem.phrases]
        near_a = np.array([cosine(vector, a) for vector in pseudo])
        near_b = np.array([cosine(vector, b) for vector in pseudo])
        least = np.minimum(near_a, near_b)
        common = (least > self.threshold) & problem.candidates
        return rest_is_distinct(problem, common, least, near_a, near_b, least - self.threshold)


def contexts(phrase: str, texts: Sequence[Text], reach: int) -> list[str]:
    """Every word at most ``reach`` places before or after an occurrence."""
    words: list[str] = []
    for text in texts:
        for start, end in text.spans(phrase):
            words.extend(text.tokens[max(start - reach, 0) : start])
            words.extend(text.tokens[end : end + reach])
    return words
