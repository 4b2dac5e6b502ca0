"""The relevance to show for a phrase that stands in a side's text without an edge to it.

Edges are segments: where "matrix" stands only within "covariance matrix", the document has no edge to it, and the graph
gives it next to no relevance to a text that speaks of it throughout. A reader sees the count beside the relevance, so
such a phrase is shown the relevance that its words give it, weighed as an edge is: S_ij g0_j summed over the side's
documents, in units of the mean over the side's salient phrases. That first-order part is nearly all of the relevance
of a phrase with an edge. Sorting is not touched by it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indexer.model.bm25 import Weigher
from indexer.text.tokenizer import occurrences
from worker.explain.candidates import Candidates
from worker.explain.resolver import Resolved


def relevance_by_words(side: Resolved, edges: NDArray[np.float64], candidates: Candidates, row: int) -> float:
    """Of candidate ``row`` to a side with these ``edges`` (phrases, documents); 0 where nothing can be said."""
    degrees = np.array([document.degree for document in side.documents])
    sends = np.divide(1.0, np.sqrt(degrees), out=np.zeros(len(degrees)), where=degrees > 0)
    members = [i for i, phrase in enumerate(candidates.phrases) if phrase in side.salience]
    usual = float(_received(edges[members] @ sends, candidates.degrees[members]).mean()) if members else 0.0
    own = _received(np.atleast_1d(_weights(side, candidates.phrases[row]) @ sends), candidates.degrees[[row]])
    return float(own[0]) / usual if usual > 0 else 0.0


def _received(sent: NDArray[np.float64], degrees: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(sent, np.sqrt(degrees), out=np.zeros(len(sent)), where=degrees > 0)


def _weights(side: Resolved, phrase: str) -> NDArray[np.float64]:
    """BM25 of the phrase's words in each document that holds it, else 0; shape (documents,)."""
    weigher = Weigher(side.reader.model)
    return np.array(
        [
            weigher.phrases(document.tokens.split(), [phrase])[0] if occurrences(phrase, document.tokens) else 0.0
            for document in side.documents
        ]
    )
