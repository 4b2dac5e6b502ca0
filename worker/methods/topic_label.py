"""TopicLabel: phrases chosen for each text by first-order relevance, then the intersection model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from worker.methods.base import Problem, Sorting
from worker.methods.ranked_lists import intersection, top
from worker.methods.tfidf import Text, corpus
from worker.solver.subgraph import Floats


@dataclass(frozen=True)
class TopicLabel:
    """The score of phrase p for text d is ``sum over words w of p(w | d) PMI(w, p)``.

    Assumed: p(w | d) is the share of w among the text's tokens; PMI comes from documents of the
    neighbourhood that hold both, and is 0 where none does; a side chooses among the phrases that
    occur in its text.
    """

    name: str = "topic_label"
    labels: int = 20
    """How many phrases a side keeps, as WordMatch does."""

    def sort(self, problem: Problem) -> Sorting:
        texts = corpus(problem)
        holders = [np.array([bool(text.spans(phrase)) for text in texts], dtype=bool) for phrase in problem.phrases]
        score_a = first_order(problem.tokens_a, texts, holders)
        score_b = first_order(problem.tokens_b, texts, holders)
        top_a = top(problem.phrases, score_a, problem.candidates & (problem.occurs_a > 0), self.labels)
        top_b = top(problem.phrases, score_b, problem.candidates & (problem.occurs_b > 0), self.labels)
        return intersection(problem.phrases, top_a, top_b, score_a, score_b)


def first_order(tokens: Sequence[str], texts: Sequence[Text], holders: Sequence[np.ndarray]) -> Floats:
    """Scores (P,) of phrases whose documents are flagged in ``holders``."""
    counts, total = Counter(tokens), max(len(tokens), 1)
    words = sorted(counts)
    share = np.array([counts[word] / total for word in words])
    holds = np.array([[word in text.words for text in texts] for word in words], dtype=bool).reshape(-1, len(texts))
    return np.array([float(share @ pmi(holds, flags)) for flags in holders])


def pmi(holds: np.ndarray, flags: np.ndarray) -> Floats:
    """``ln(n(w, p) n / (n(w) n(p)))`` of every word (rows of holds) with one phrase; 0 where they never meet."""
    together = (holds & flags).sum(axis=1).astype(np.float64)
    expected = holds.sum(axis=1) * int(flags.sum()) / max(flags.size, 1)
    logs: Floats = np.zeros(together.shape)
    met = together > 0
    logs[met] = [math.log(t / e) for t, e in zip(together[met], expected[met], strict=True)]
    return logs
