"""The ranking where one side is a query: which phrases of a hit say why it was found.

Common are the phrases that both texts contain, which is a fact, those of the hit that the query contains in other words
(an acronym, another word of the family), and, unless the hit contains every word of the query, those of the hit that
both are about in the spaces of the index, if the evidence stands out from what random documents show. The rest of the
hit's phrases is distinct of it, except those that repeat a word of the query or of a common phrase. A phrase of the
query that the hit lacks is distinct of the query, unless the hit is about it in other words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import compress
from typing import Literal, NamedTuple

import numpy as np

from indexer.documents import PAIR_SEPARATOR
from indexer.model.bm25 import split_phrase_words
from indexer.model.evidence_scale import MAX_NOISE
from indexer.model.evidence_spaces import PhraseEvidence
from indexer.text.stopwords import ENGLISH_STOPWORDS
from worker.methods.base import PairProblem, RankedList
from worker.methods.log_evidence import rank_distinct_by_odds
from worker.methods.method_results import rank_phrases
from worker.methods.phrase_ranking import ReaderOdds, odds_to_probability
from worker.solver.subgraph import Flags, Floats, Indices

_STRENGTH_WEIGHT, _EVEN_STRENGTH = 2.0, 1.6
"""Log odds for each multiple of the noise floor, and the multiple at which they are even. Fitted on the relevance of
256 hits that an editor judged, in three corpora."""

_RUN_CHANCE = 0.95
"""Least chance of a run of words of the query, and of a whole query, that the hit contains. Of 72 such hits that an
editor judged, in three corpora, none was irrelevant, so it is at least 0.95 with 95 % confidence."""
EVEN_CHANCE = 0.5
"""Chance from which a reader rather keeps a phrase than strikes it out."""
FILLER_CHANCE = 0.4
"""Chance from which a phrase may fill up a list. Of the phrases below, readers of 59 hits struck out half."""
_JUST_ABOVE = 1e-6
"""The smallest difference of two scores that an answer shows."""


class QueryRanking(NamedTuple):
    """The lists of a query and a hit."""

    common: RankedList
    distinct_hit: RankedList
    """Its indices may also be those of phrases of the hit's text, after the candidates."""
    distinct_query: RankedList
    is_meaning: Flags
    """Whether a common phrase is told by the spaces alone, not by the words of the query, (P,)."""


def rank_for_query(
    problem: PairProblem, query_side: Literal["a", "b"], evidence: PhraseEvidence | None
) -> QueryRanking:
    """Rank the candidates for the side ``query_side``, given the evidence for each; see ``QueryRanker``."""
    asked, hit = (problem.b, problem.a) if query_side == "b" else (problem.a, problem.b)
    ranker = QueryRanker(problem, query_side, evidence)
    return ranker.rank(slice(0, len(problem.phrases)), asked.tokens, hit.tokens)


class TextPhrases(NamedTuple):
    """Phrases that only the text of a hit shows."""

    phrases: Sequence[str]
    distinct_odds: Floats
    """Odds that a reader keeps each as distinct of the hit, (P,)."""


class QueryRanker:
    """Ranks the candidates of one query and one hit or, stacked, of several hits, each by its rows."""

    def __init__(self, problem: PairProblem, query_side: Literal["a", "b"], evidence: PhraseEvidence | None) -> None:
        """``evidence``: for each candidate; without it (None) the common phrases are ranked like those of two texts."""
        self._phrases, self._weights = problem.phrases, problem.parameters.reader_odds
        asked, hit = (problem.b, problem.a) if query_side == "b" else (problem.a, problem.b)
        noise = evidence.noise if evidence else np.ones(len(problem.phrases))
        is_pair = np.array([PAIR_SEPARATOR in phrase for phrase in problem.phrases], dtype=bool)
        self._is_shared = problem.is_shared
        common = self._is_shared | (hit.is_salient & ((noise <= MAX_NOISE) | (asked.partial_match >= 1)))
        self._common = common & problem.is_candidate & ~is_pair
        self._distinct_odds = compute_distinct_odds(problem, query_side)
        if evidence is None:
            is_implied = self._common & ~self._is_shared
            odds = ReaderOdds(problem).compute_common_odds(is_implied, np.zeros(len(problem.phrases)))
            chance = odds_to_probability(odds)
        else:
            chance = odds_to_probability(_STRENGTH_WEIGHT * (evidence.strength - _EVEN_STRENGTH))
        is_run = self._is_shared & _mark_runs(problem.phrases, asked.text_length)
        self._chance = np.where(is_run, np.maximum(chance, _RUN_CHANCE), chance)
        self._is_certain = self._is_shared | (asked.partial_match >= 1)
        self._is_meaning = self._common & ~self._is_certain
        self._is_likely = self._is_shared | (self._chance >= EVEN_CHANCE)
        self._in_hit, self._in_query, self._is_noise = hit.is_salient, asked.is_salient, noise > MAX_NOISE
        self._query_salience = asked.salience

    def rank(
        self,
        rows: slice,
        query_words: Sequence[str],
        hit_words: Sequence[str],
        excluded: Flags | None = None,
        *,
        text_phrases: TextPhrases | None = None,
        with_unlisted: bool = True,
    ) -> QueryRanking:
        """Return the lists of one hit, as indices into its rows.

        ``excluded`` flags those of its phrases that are not to be distinct of it; ``text_phrases`` are phrases of its
        text that may be, too; ``with_unlisted`` is that of ``rank_distinct_by_odds``.
        """
        phrases, common = self._phrases[rows], self._common[rows]
        asked_words = set(query_words) - ENGLISH_STOPWORDS
        if asked_words and asked_words.issubset(hit_words):  # they say all there is to say about why the hit was found
            common = common & self._is_certain[rows]
        elif not asked_words.isdisjoint(hit_words):
            common = common & self._is_likely[rows]
        words = {word for phrase in compress(phrases, common.tolist()) for word in split_phrase_words(phrase)}
        words -= ENGLISH_STOPWORDS
        distinct_hit = self._in_hit[rows] & ~common
        if excluded is not None:
            distinct_hit &= ~excluded
        distinct_query = self._in_query[rows] & ~common & self._is_noise[rows]
        of_hit, odds = phrases, self._distinct_odds[rows]
        if text_phrases is not None:
            of_hit = [*phrases, *text_phrases.phrases]
            distinct_hit = np.concatenate([distinct_hit, np.ones(len(text_phrases.phrases), dtype=bool)])
            odds = np.concatenate([odds, text_phrases.distinct_odds])
        return QueryRanking(
            _rank_by_chance(phrases, common, self._is_shared[rows], self._chance[rows]),
            rank_distinct_by_odds(
                of_hit,
                self._weights,
                _leave_out_phrases_with(words | asked_words, of_hit, distinct_hit),
                odds,
                with_unlisted=with_unlisted,
            ),
            rank_phrases(phrases, _leave_out_phrases_with(words, phrases, distinct_query), self._query_salience[rows]),
            self._is_meaning[rows],
        )


def compute_distinct_odds(problem: PairProblem, query_side: Literal["a", "b"]) -> Floats:
    """Return the odds that a reader keeps each phrase as distinct of the hit, (P,)."""
    odds = ReaderOdds(problem)
    return odds.compute_distinct_odds_b() if query_side == "a" else odds.compute_distinct_odds_a()


def _mark_runs(phrases: Sequence[str], query_lengths: Indices) -> Flags:
    """Return which phrases have several words, or as many as their query, (P,); ``query_lengths``: words, (P,)."""
    lengths = np.array([phrase.count(" ") + 1 for phrase in phrases], dtype=np.int64)
    return np.asarray((lengths > 1) | (lengths == query_lengths), dtype=bool)


def _rank_by_chance(phrases: Sequence[str], common: Flags, is_shared: Flags, chance: Floats) -> RankedList:
    """Rank the common phrases.

    Those that a reader rather strikes out than keeps only fill up a short list; an unlikely one is listed alone.
    """
    chance = _raise_longer_phrases(phrases, is_shared & common, chance)
    ranking = rank_phrases(phrases, common, chance)
    likely = int(np.count_nonzero(ranking.scores >= FILLER_CHANCE))
    return replace(ranking, informative=int(np.count_nonzero(ranking.scores >= EVEN_CHANCE)), fillers=max(1, likely))


def _raise_longer_phrases(phrases: Sequence[str], is_shared: Flags, chance: Floats) -> Floats:
    """Return the chances, (P,), with each phrase of both texts just above those of both texts that are part of it.

    "connection pool" says more than "pool" where both texts contain it, even if the pool alone is rarer.
    """
    raised = chance.copy()
    by_length = sorted(np.flatnonzero(is_shared).tolist(), key=lambda i: len(phrases[i]))
    for position, longer in enumerate(by_length):
        parts = [i for i in by_length[:position] if f" {phrases[i]} " in f" {phrases[longer]} "]
        if parts:
            raised[longer] = max(raised[longer], min(raised[parts].max() + _JUST_ABOVE, 1.0))
    return raised


def _leave_out_phrases_with(words: set[str], phrases: Sequence[str], flags: Flags) -> Flags:
    """Return the flags, (P,), without those of phrases that have one of the words."""
    kept = flags.copy()
    for i in np.flatnonzero(flags).tolist():
        kept[i] = words.isdisjoint(split_phrase_words(phrases[i]))
    return kept
