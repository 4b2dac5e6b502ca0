"""WordMatch: the top words of each text by TF-IDF; in both tops common, the rest distinct."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from worker.methods.base import Problem, Sorting
from worker.methods.ranked_lists import intersection, top
from worker.methods.tfidf import inverse_frequency, tf_idf


@dataclass(frozen=True)
class WordMatch:
    """Its phrases are single words of its own choice, not the candidates.

    Assumed: TF is the plain count and IDF ``ln(N / df)``; the paper names neither.
    """

    name: str = "word_match"
    words: int = 20
    """How many words a side keeps (the paper's 20)."""

    def sort(self, problem: Problem) -> Sorting:
        weight = inverse_frequency(problem)
        a, b = tf_idf(problem.tokens_a, weight), tf_idf(problem.tokens_b, weight)
        vocabulary = sorted(a.keys() | b.keys())
        score_a = np.array([a.get(word, 0.0) for word in vocabulary])
        score_b = np.array([b.get(word, 0.0) for word in vocabulary])
        every = np.ones(len(vocabulary), dtype=bool)
        top_a, top_b = top(vocabulary, score_a, every, self.words), top(vocabulary, score_b, every, self.words)
        return intersection(vocabulary, top_a, top_b, score_a, score_b)
