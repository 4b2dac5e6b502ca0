"""Where the relevance of a phrase to a side comes from, read off the solved system.

``f_i = sum_j S_ij g_j`` splits over documents, and ``g_j = (sum_k S_kj f_k + alpha g0_j) / (1 + alpha)``
splits each document over the phrases that make it relevant.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from worker.solver.subgraph import Floats, Subgraph


@dataclass(frozen=True, eq=False)
class Shares:
    """Parts of one phrase's relevance to one side; they sum to 1."""

    own: float
    """Through the documents of the side that holds the phrase: they explain nothing."""
    direct: float
    """Through the documents of the side it is relevant to."""
    via: Floats
    """Through each third document, shape (N,); 0 at the documents of both sides."""
    rest: float
    """What no document of the subgraph accounts for: documents outside it, and the joint step."""

    @property
    def total(self) -> float:
        return self.own + self.direct + float(self.via.sum()) + self.rest


def relevance_shares(
    graph: Subgraph, f: Floats, g: Floats, phrase: int, *, holders: ArrayLike, targets: ArrayLike
) -> Shares:
    """Split ``f[phrase]``, with f (P,) and g (N,) relevance to the side made of the documents ``targets``.

    ``holders`` are the documents of the other side. A document in both counts as a target. Where
    the phrase has no relevance, all of it is ``rest``.
    """
    if f[phrase] <= 0:
        return Shares(0.0, 0.0, np.zeros(graph.documents), 1.0)
    parts = graph.row(phrase) * g / f[phrase]
    direct = _take(parts, targets)
    own = _take(parts, holders)
    return Shares(own, direct, parts, 1.0 - own - direct - float(parts.sum()))


def document_shares(graph: Subgraph, f: Floats, g: Floats, document: int, alpha: float) -> tuple[Floats, float]:
    """Split ``g[document]``: the part each phrase brings, shape (P,), and what comes from elsewhere."""
    if g[document] <= 0:
        return np.zeros(graph.phrases), 1.0
    parts = graph.column(document) * f / ((1 + alpha) * g[document])
    return parts, 1.0 - float(parts.sum())


def _take(parts: Floats, documents: ArrayLike) -> float:
    """Remove the documents from the parts and return what they had."""
    chosen = np.sort(np.asarray(documents, dtype=np.int64))  # the order of a sum must not depend on how they are named
    amount = float(parts[chosen].sum())
    parts[chosen] = 0.0
    return amount
