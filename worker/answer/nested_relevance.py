"""The relevance shown for a phrase that occurs in a side's text without an edge to it.

Edges are segments: if "matrix" occurs only within "covariance matrix", the document has no edge to it, and the graph
gives it almost no relevance to a text that is full of it. As users see the count next to the relevance, such a
phrase is shown the relevance of its words, weighted like an edge: S_ij g0_j summed over the side's documents, in units
of the mean over the side's salient phrases. This first-order part is nearly all of the relevance of a phrase with an
edge. Ranking does not use it.
"""

from __future__ import annotations

from functools import cached_property
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from indexer.model.bm25 import Bm25Scorer
from indexer.text.phrase_search import find_occurrences
from worker.explain.candidates import PairCandidates
from worker.explain.resolved_side import ResolvedSide


class WordRelevance:
    """Relevance of phrases to one side by their words."""

    def __init__(self, side: ResolvedSide, edge_weights: NDArray[np.float64], candidates: PairCandidates) -> None:
        """``edge_weights``: BM25 of the candidates in the side's documents, shape (phrases, documents)."""
        self._side, self._edge_weights, self._candidates = side, edge_weights, candidates
        degrees = np.array([document.degree for document in side.documents])
        self._factors = np.divide(1.0, np.sqrt(degrees), out=np.zeros(len(degrees)), where=degrees > 0)

    def compute(self, phrase: str, degree: float) -> float:
        """Return the relevance of a phrase that occurs; 0 if the side has no edges to compare with.

        ``degree``: of the phrase, 0 for one that the model does not know, which has no edges but these.
        """
        if self._mean <= 0:
            return 0.0
        weights = self._compute_bm25_by_document(phrase)
        degree = degree or float(weights.sum())
        return float(weights @ self._factors) / sqrt(degree) / self._mean if degree > 0 else 0.0

    @cached_property
    def _mean(self) -> float:
        """Mean over the side's salient phrases of the same by their edges; 0 without any."""
        members = [i for i, phrase in enumerate(self._candidates.phrases) if phrase in self._side.salience]
        weights, degrees = self._edge_weights[members] @ self._factors, self._candidates.degrees[members]
        shares = np.divide(weights, np.sqrt(degrees), out=np.zeros(len(weights)), where=degrees > 0)
        return float(shares.sum()) / max(len(members), 1)

    def _compute_bm25_by_document(self, phrase: str) -> NDArray[np.float64]:
        """Return the BM25 of the phrase's words in each document that contains it, else 0; shape (documents,)."""
        if len(self._side.documents) == 1:
            return self._side.text.compute_word_bm25([phrase])
        scorer = Bm25Scorer(self._side.reader.model)
        return np.array(
            [
                scorer.score_phrases(document.tokens.split(), [phrase])[0]
                if find_occurrences(phrase, document.tokens)
                else 0.0
                for document in self._side.documents
            ]
        )
