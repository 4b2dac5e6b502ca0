"""WordMatch: the top words of each text by TF-IDF; in both tops common, the rest distinct."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from worker.methods.base import Method, MethodResult, PairProblem
from worker.methods.lemma_vectors import compute_tf_idf, make_idf_function
from worker.methods.method_results import build_intersection_result, select_top_indices


@dataclass(frozen=True)
class WordMatch(Method):
    """Its phrases are single words of its own choice, not the candidates.

    Assumed: TF is the plain count and IDF ``ln(N / df)``; the paper names neither.
    """

    name: ClassVar[str] = "word_match"
    title: ClassVar[str] = "word match"
    words: int = 20
    """Words chosen for each side (the paper's 20)."""

    def sort_phrases(self, problem: PairProblem) -> MethodResult:
        idf = make_idf_function(problem)
        a, b = compute_tf_idf(problem.a.tokens, idf), compute_tf_idf(problem.b.tokens, idf)
        vocabulary = sorted(a.keys() | b.keys())
        score_a = np.array([a.get(word, 0.0) for word in vocabulary])
        score_b = np.array([b.get(word, 0.0) for word in vocabulary])
        every = np.ones(len(vocabulary), dtype=bool)
        top_a = select_top_indices(vocabulary, score_a, every, self.words)
        top_b = select_top_indices(vocabulary, score_b, every, self.words)
        return build_intersection_result(vocabulary, top_a, top_b, score_a, score_b)
