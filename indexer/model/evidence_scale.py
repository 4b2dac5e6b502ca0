"""Evidence of several sources on one scale: multiples of what random documents reach.

The evidence that 5 % of random documents reach with their best salient phrase is the *floor* of a source. Sources are
added up as multiples of their floors: random documents reach twice as far in topics as in vectors (z-scores of 4.1 and
2.0), so a sum of z-scores would mostly follow the noise of topics. Two questions are asked of a hit:

- Is it about the query? The sum of all sources has a floor of its own, found in the same way.
- Is the phrase the reason? The sum without the closeness of query and hit must be above that of 95 % of the phrases of
  random documents. Otherwise a close hit would be explained by any of its phrases.

The *strength* of a phrase is the mean of these two sums as multiples of their floors: closeness counts for all phrases
of a hit alike, and by the first sum alone, one in six irrelevant hits had a reason that readers were expected to keep.
Strengths compare between corpora, queries and combinations of spaces.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
Source = Literal["vectors", "text", "closeness"]
"""Where evidence comes from: the documents' vectors, spaces of words, and how close query and hit are."""

MAX_NOISE = 0.05
"""A phrase is evidence if at most this share of random documents, and of their phrases, has as much of it."""
MIN_RESERVOIR = 300
"""In a reservoir of fewer documents, 5 % of them are a dozen, some of which are related to any query."""
_MIN_FLOOR = 1.0
"""Evidence of less than a standard deviation stands out from nothing, and a sum of less than one floor neither."""


class EvidenceScale:
    """Measures the evidence for the phrases of hits beside that for the phrases of random documents, for one query."""

    def __init__(
        self, random_evidence: Mapping[Source, Scores], starts: NDArray[np.integer], without_phrases: int = 0
    ) -> None:
        """``random_evidence``: for the salient phrases of one random document after another, (P,).

        ``starts``: the first phrase of each document; ``without_phrases``: number of further documents, without any.
        """
        self._starts, self._without_phrases = starts, without_phrases
        self._floors = dict.fromkeys(random_evidence, 1.0)
        if len(random_evidence) > 1:
            self._floors = {source: _find_floor(self._find_best(own)) for source, own in random_evidence.items()}
        total, about_phrases = self._add_up(random_evidence)
        self._best = np.sort(self._find_best(total))
        self._total_floor = self._phrase_floor = _find_floor(self._best)
        self._has_closeness = "closeness" in random_evidence
        if self._has_closeness:
            self._phrase_floor = _find_floor(self._find_best(about_phrases))
            self._phrases = np.sort(about_phrases)

    def _find_best(self, evidence: Scores) -> Scores:
        """Return the evidence for the best phrase of each random document, (documents,)."""
        best = np.maximum.reduceat(evidence, self._starts) if len(self._starts) else np.zeros(0)
        return np.pad(best.astype(np.float64), (0, self._without_phrases), constant_values=-np.inf)

    def _add_up(self, evidence: Mapping[Source, Scores]) -> tuple[Scores, Scores]:
        """Return the sum of all sources, and that without closeness, (P,); a single source is left as it is."""
        scaled = {source: scores / self._floors[source] for source, scores in evidence.items()}
        about_phrases = np.sum([scores for source, scores in scaled.items() if source != "closeness"], axis=0)
        return np.asarray(about_phrases + scaled.get("closeness", 0.0)), about_phrases

    def compute_strength(self, evidence: Mapping[Source, Scores]) -> Scores:
        """Return the strength of the phrases of a hit, (P,), by the evidence of the same sources for each."""
        total, about_phrases = self._add_up(evidence)
        return np.asarray((total / self._total_floor + about_phrases / self._phrase_floor) / 2)

    def compute_noise(self, evidence: Mapping[Source, Scores]) -> Scores:
        """Return the share of random documents whose best phrase has as much evidence, (P,).

        With closeness, it is at least the share of their phrases that have as much without it.
        """
        total, about_phrases = self._add_up(evidence)
        noise = compute_share_at_least(self._best, total)
        if not self._has_closeness:
            return noise
        return np.maximum(noise, compute_share_at_least(self._phrases, about_phrases))


def _find_floor(best: Scores) -> float:
    """Return the evidence that 5 % of random documents reach; ``best``: of the best phrase of each."""
    return max(float(np.quantile(best, 1 - MAX_NOISE)), _MIN_FLOOR)


def compute_share_at_least(ascending: Scores, values: Scores) -> Scores:
    """Return the share of some numbers, in ascending order, that are at least as large as each of the values."""
    return np.asarray(1.0 - np.searchsorted(ascending, values, side="left") / len(ascending))
