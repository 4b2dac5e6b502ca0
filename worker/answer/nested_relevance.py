"""The relevance shown for a phrase that occurs in a side's text without an edge to it.

Edges are segments: if "matrix" occurs only within "covariance matrix", the document has no edge to it, and the graph
gives it almost no relevance to a text that is full of it. As users see the count next to the relevance, such a
phrase is shown the relevance of its words, weighted like an edge: S_ij g0_j summed over the side's documents, in units
of the mean over the side's salient phrases. This first-order part is nearly all of the relevance of a phrase with an
edge. Ranking does not use it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indexer.model.bm25 import Bm25Scorer
from indexer.text.phrase_search import find_occurrences
from worker.explain.candidates import PairCandidates
from worker.explain.resolved_side import ResolvedSide


def compute_word_relevance(
    side: ResolvedSide, edge_weights: NDArray[np.float64], candidates: PairCandidates, candidate_row: int
) -> float:
    """Return the relevance of a candidate to a side by its words; 0 if the side has no edges to compare with.

    ``edge_weights``: BM25 of the candidates in the side's documents, shape (phrases, documents).
    """
    degrees = np.array([document.degree for document in side.documents])
    factors = np.divide(1.0, np.sqrt(degrees), out=np.zeros(len(degrees)), where=degrees > 0)
    members = [i for i, phrase in enumerate(candidates.phrases) if phrase in side.salience]
    if not members:
        return 0.0
    mean = float(_divide_by_root_degrees(edge_weights[members] @ factors, candidates.degrees[members]).mean())
    weight = np.atleast_1d(_compute_phrase_bm25_by_document(side, candidates.phrases[candidate_row]) @ factors)
    return float(_divide_by_root_degrees(weight, candidates.degrees[[candidate_row]])[0]) / mean if mean > 0 else 0.0


def _divide_by_root_degrees(weights: NDArray[np.float64], degrees: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(weights, np.sqrt(degrees), out=np.zeros(len(weights)), where=degrees > 0)


def _compute_phrase_bm25_by_document(side: ResolvedSide, phrase: str) -> NDArray[np.float64]:
    """Return the BM25 of the phrase's words in each document that contains it, else 0; shape (documents,)."""
    scorer = Bm25Scorer(side.reader.model)
    return np.array(
        [
            scorer.score_phrases(document.tokens.split(), [phrase])[0]
            if find_occurrences(phrase, document.tokens)
            else 0.0
            for document in side.documents
        ]
    )
