"""Attribution of relevance to documents and phrases, read off the solved system.

``f_i = sum_j S_ij g_j`` splits over documents, and ``g_j = (sum_k S_kj f_k + alpha g0_j) / (1 + alpha)``
splits each document over the phrases that make it relevant.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from worker.solver.subgraph import Floats, Subgraph


@dataclass(frozen=True, eq=False)
class RelevanceShares:
    """Shares of one phrase's relevance to one side; they sum to 1."""

    own: float
    """Through the documents of the side that contains the phrase: they explain nothing."""
    direct: float
    """Through the documents of the side it is relevant to."""
    via: Floats
    """Through each neighbour, shape (N,); 0 at the documents of both sides."""
    rest: float
    """Not due to any document of the subgraph: documents outside it, and the joint step."""


def split_phrase_relevance(
    graph: Subgraph,
    phrase_relevance: Floats,
    document_relevance: Floats,
    phrase: int,
    *,
    holders: ArrayLike,
    targets: ArrayLike,
) -> RelevanceShares:
    """Split ``phrase_relevance[phrase]``; both relevances, (P,) and (N,), are to the side of the documents ``targets``.

    ``holders`` are the documents of the other side. A document in both counts as a target. Where
    the phrase has no relevance, all of it is ``rest``.
    """
    if phrase_relevance[phrase] <= 0:
        return RelevanceShares(0.0, 0.0, np.zeros(graph.document_count), 1.0)
    parts = graph.get_phrase_row(phrase) * document_relevance / phrase_relevance[phrase]
    direct = _zero_and_sum_documents(parts, targets)
    own = _zero_and_sum_documents(parts, holders)
    return RelevanceShares(own, direct, parts, 1.0 - own - direct - float(parts.sum()))


def split_document_relevance(
    graph: Subgraph, phrase_relevance: Floats, document_relevance: Floats, document: int, alpha: float
) -> tuple[Floats, float]:
    """Split ``document_relevance[document]`` into the share of each phrase, (P,), and that which no phrase brings."""
    if document_relevance[document] <= 0:
        return np.zeros(graph.phrase_count), 1.0
    parts = graph.get_document_column(document) * phrase_relevance / ((1 + alpha) * document_relevance[document])
    return parts, 1.0 - float(parts.sum())


def _zero_and_sum_documents(parts: Floats, documents: ArrayLike) -> float:
    """Set the parts of the documents to 0 and return their sum."""
    chosen = np.sort(np.asarray(documents, dtype=np.int64))  # the sum must not depend on the order they are passed in
    amount = float(parts[chosen].sum())
    parts[chosen] = 0.0
    return amount
