"""ContextFuzzy: common where the words around the phrase, in any document, resemble both texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from worker.methods.base import Method, MethodResult, PairProblem
from worker.methods.lemma_vectors import (
    LemmaText,
    compute_tf_idf,
    cosine_similarity,
    make_idf_function,
    read_neighbour_texts,
)
from worker.methods.method_results import build_result_with_rest_distinct


@dataclass(frozen=True)
class ContextFuzzy(Method):
    """Cosine of TF-IDF vectors: the text, and the phrase's pseudo-document of all its contexts.

    Assumed: a window of 10 words is 5 on each side, without the phrase itself; contexts come from
    the neighbourhood's documents; the threshold, tuned in the paper and not given, is our own.
    """

    name: ClassVar[str] = "context_fuzzy"
    title: ClassVar[str] = "similar contexts"
    needs_neighbour_texts: ClassVar[bool] = True
    window: int = 10
    threshold: float = 0.15

    def sort_phrases(self, problem: PairProblem) -> MethodResult:
        idf, texts = make_idf_function(problem), read_neighbour_texts(problem)
        a, b = compute_tf_idf(problem.a.tokens, idf), compute_tf_idf(problem.b.tokens, idf)
        contexts = [
            compute_tf_idf(collect_context_words(phrase, texts, self.window // 2), idf) for phrase in problem.phrases
        ]
        near_a = np.array([cosine_similarity(context, a) for context in contexts])
        near_b = np.array([cosine_similarity(context, b) for context in contexts])
        smaller = np.minimum(near_a, near_b)
        common = (smaller > self.threshold) & problem.is_candidate
        return build_result_with_rest_distinct(problem, common, smaller, near_a, near_b, smaller - self.threshold)


def collect_context_words(phrase: str, texts: Sequence[LemmaText], distance: int) -> list[str]:
    """Return every word at most ``distance`` positions before or after an occurrence."""
    words: list[str] = []
    for text in texts:
        for start, end in text.find_spans(phrase):
            words.extend(text.tokens[max(start - distance, 0) : start])
            words.extend(text.tokens[end : end + distance])
    return words
