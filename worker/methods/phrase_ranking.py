"""How likely a reader keeps a phrase of a list: log odds, weighed by ``ReaderOddsWeights``.

One set of features serves phrases that the miner found and those that only the texts show, in both kinds of lists:

* the weight of its words in the text, BM25;
* the cosine of the text with the documents that contain the phrase: low for a phrase that is only mentioned;
* how specific its words are in general, whether it has several, whether other documents have it, and how many;
* how often, how early, and whether as a whole phrase the text has it, and its words in the title.

A distinct phrase scores lower, the more of it the other text contains in some form. Whether an implied phrase is kept
depends on whether the reader believes that the text that lacks it is about it: on the evidence for that, the cosine of
that text with the documents that contain the phrase, and how much of it the text contains.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from indexer.documents import PAIR_SEPARATOR
from indexer.model.bm25 import idf
from worker.methods.base import PairProblem, SideFeatures
from worker.solver.parameters import MIN_DOCUMENTS_FOR_GRAPH
from worker.solver.ranking_weights import ReaderOddsWeights
from worker.solver.subgraph import Flags, Floats, Indices

_UBIQUITOUS_SHARE = 0.5
"""Share of the documents from which a phrase is what most texts of the corpus say, such as a salutation."""


class _SideOdds(NamedTuple):
    """Parts of the log odds of each phrase that one side alone decides, (P,)."""

    own: Floats
    """Log odds from the features of the phrase in the side's text."""
    partial_match: Floats
    """Share of the phrase that the side contains in some form; 0 for a long text or a set, which contain any word."""


class ReaderOdds:
    """Log odds, (P,), that a reader keeps each candidate of one pair in a list."""

    def __init__(self, problem: PairProblem) -> None:
        self._problem = problem
        weights = self._weights = problem.parameters.reader_odds
        # the weight and the occurrences of a phrase pair are those of its members together
        members = np.array([1 + (PAIR_SEPARATOR in phrase) for phrase in problem.phrases])
        max_idf = float(idf([1], max(problem.corpus_size, 2))[0])
        words = members + [phrase.count(" ") for phrase in problem.phrases]
        self._a = _compute_side_odds(problem.a, weights, members, words, max_idf)
        self._b = _compute_side_odds(problem.b, weights, members, words, max_idf)
        share = (problem.document_frequency + 1) / (problem.corpus_size + 1)
        self._rarity = weights.log_document_share * np.log(np.minimum(share, 1.0))
        is_ubiquitous = (share >= _UBIQUITOUS_SHARE) & (problem.corpus_size >= MIN_DOCUMENTS_FOR_GRAPH)
        self._ubiquity = weights.ubiquitous * is_ubiquitous
        self._anywhere = (
            self._rarity + weights.specificity * problem.specificity + weights.multi_word * (words > 1)
            + weights.known_phrase * (problem.document_frequency > 0)
        )  # fmt: skip
        """From features that do not depend on the texts."""

    def compute_common_odds(self, is_implied: Flags, margin: Floats) -> Floats:
        """Return the odds in the common list; ``is_implied`` flags the phrases that one text lacks."""
        a, b, weights = self._problem.a, self._problem.b, self._weights
        lacks_b = b.count == 0
        cosine = np.where(lacks_b, b.topic_cosine, a.topic_cosine)
        match = np.where(lacks_b, self._b.partial_match, self._a.partial_match)
        implied_odds = (
            weights.implied_intercept + weights.implied_margin * margin + weights.implied_topic_cosine * cosine
            + weights.implied_partial_match * match + self._rarity
            + weights.implied_log_quality * _log_at_least(self._problem.quality, weights.min_quality)
        )  # fmt: skip
        features = self._anywhere + (self._a.own + self._b.own) / 2
        shared_odds = weights.common_intercept + weights.common_slope * features + self._ubiquity
        return np.asarray(np.where(is_implied, implied_odds, shared_odds), dtype=np.float64)

    def compute_distinct_odds_a(self) -> Floats:
        """Return the odds in the list of phrases distinct of a."""
        return self._compute_distinct_odds(self._a, self._b)

    def compute_distinct_odds_b(self) -> Floats:
        """Return the odds in the list of phrases distinct of b."""
        return self._compute_distinct_odds(self._b, self._a)

    def _compute_distinct_odds(self, side: _SideOdds, other: _SideOdds) -> Floats:
        own = side.own + self._weights.other_side_match * other.partial_match
        return np.asarray(self._weights.intercept + self._anywhere + own, dtype=np.float64)


def _compute_side_odds(
    side: SideFeatures, weights: ReaderOddsWeights, member_counts: Indices, word_counts: Indices, max_idf: float
) -> _SideOdds:
    """``member_counts``: number of phrases each consists of, (P,); ``word_counts``: of words; ``max_idf``: the idf of a
    word of one document."""
    size = max(len(side.seed.columns), 1)
    # occurrences; of a set, documents (half a one for a part of another phrase), relative to the size of the set
    if size < 2:
        times, word_times = np.maximum(side.count / member_counts, 1.0), np.maximum(side.word_count, 1)
    else:
        times = word_times = np.maximum(side.document_count, 0.5) / size**0.25
    bm25 = side.bm25 / word_counts / (np.maximum(side.document_count, 1) * max_idf)
    own = (
        weights.bm25 * bm25 + weights.topic_cosine * side.topic_cosine + weights.log_count * np.log(times)
        + weights.log_word_count * np.log(word_times) + weights.title_share * side.title_share
        + weights.whole_phrase * side.whole_share + weights.never_whole * side.never_whole
        + weights.log_earliness * np.log(side.earliness, out=np.zeros(len(bm25)), where=side.earliness > 0)
    )  # fmt: skip
    own = np.asarray(own, dtype=np.float64)
    return _SideOdds(own, side.partial_match * ((side.text_length <= weights.max_text_words) & (size < 2)))


def _log_at_least(values: Floats, minimum: float) -> Floats:
    """Return the logarithm of values, lower ones counting as the minimum."""
    return np.asarray(np.log(np.maximum(values, minimum)), dtype=np.float64)


def odds_to_probability(log_odds: Floats) -> Floats:
    """Return probabilities in (0, 1) from log odds."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(log_odds, -50, 50))), dtype=np.float64)
