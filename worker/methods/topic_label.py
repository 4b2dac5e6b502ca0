"""TopicLabel: phrases chosen for each text by first-order relevance, then the intersection model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from worker.methods.base import Method, MethodResult, PairProblem, SideFeatures
from worker.methods.lemma_vectors import LemmaText, read_neighbour_texts
from worker.methods.method_results import build_intersection_result, select_top_indices
from worker.solver.subgraph import Flags, Floats, Indices


@dataclass(frozen=True)
class TopicLabel(Method):
    """The score of phrase p for text d is ``sum over words w of p(w | d) PMI(w, p)``.

    Assumed: p(w | d) is the share of w among the text's tokens; PMI comes from documents of the
    neighbourhood that contain both, and is 0 where none does; a side chooses among the phrases that
    occur in its text.
    """

    name: ClassVar[str] = "topic_label"
    title: ClassVar[str] = "topic labels"
    needs_neighbour_texts: ClassVar[bool] = True
    labels: int = 20
    """Phrases chosen for each side, as many as WordMatch chooses words."""

    def sort_phrases(self, problem: PairProblem) -> MethodResult:
        texts = read_neighbour_texts(problem)
        holders = [
            np.array([bool(text.find_spans(phrase)) for text in texts], dtype=bool) for phrase in problem.phrases
        ]

        def choose_labels(side: SideFeatures, scores: Floats) -> Indices:
            return select_top_indices(problem.phrases, scores, problem.is_candidate & (side.count > 0), self.labels)

        score_a = score_topic_labels(problem.a.tokens, texts, holders)
        score_b = score_topic_labels(problem.b.tokens, texts, holders)
        top_a, top_b = choose_labels(problem.a, score_a), choose_labels(problem.b, score_b)
        return build_intersection_result(problem.phrases, top_a, top_b, score_a, score_b)


def score_topic_labels(
    tokens: Sequence[str], texts: Sequence[LemmaText], documents_with_phrase: Sequence[Flags]
) -> Floats:
    """Return the scores (P,) of phrases for a text; ``documents_with_phrase`` flags the documents (N,) of each."""
    counts, total = Counter(tokens), max(len(tokens), 1)
    words = sorted(counts)
    share = np.array([counts[word] / total for word in words])
    holds = np.array([[word in text.words for text in texts] for word in words], dtype=bool).reshape(-1, len(texts))
    return np.array([float(share @ compute_pmi(holds, flags)) for flags in documents_with_phrase])


def compute_pmi(has_word: Flags, has_phrase: Flags) -> Floats:
    """Return ``ln(n(w, p) n / (n(w) n(p)))`` of W words with one phrase, (W,); 0 where they never meet.

    ``has_word`` (W, N) flags the documents that hold each word, ``has_phrase`` (N,) those that hold the phrase.
    """
    together = (has_word & has_phrase).sum(axis=1).astype(np.float64)
    expected = has_word.sum(axis=1) * int(has_phrase.sum()) / max(has_phrase.size, 1)
    logs: Floats = np.zeros(together.shape)
    met = together > 0
    logs[met] = [math.log(t / e) for t, e in zip(together[met], expected[met], strict=True)]
    return logs
