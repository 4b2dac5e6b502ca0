"""The ranking where one side is a query: which phrases of a hit say why it was found.

Common are the phrases that both texts contain, which is a fact, and those phrases of the hit that both are about in
topic space, if the evidence stands out from what random documents show. The rest of the hit's phrases is distinct of
it, except those that repeat a word of a common phrase. A phrase of the query that the hit lacks is distinct of the
query, unless the hit is about it in other words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import compress
from typing import Literal

import numpy as np

from indexer.documents import PAIR_SEPARATOR
from indexer.model.bm25 import split_phrase_words
from indexer.text.stopwords import ENGLISH_STOPWORDS
from worker.methods.base import MethodResult, PairProblem
from worker.methods.method_results import rank_phrases
from worker.methods.phrase_ranking import odds_to_probability
from worker.solver.subgraph import Flags, Floats

MAX_NOISE = 0.05
"""A phrase that only one text contains is shown if at most this share of random documents has one as good."""
_STRENGTH_WEIGHT, _EVEN_STRENGTH = 0.6, 6.0
"""Log odds for each standard deviation of evidence, and the evidence at which they are even. Fitted on the relevance
of 260 hits that an editor judged, in three corpora; each corpus alone gives 0.5 to 0.8 and 5.8 to 5.9."""


def estimate_chance(strength: Floats) -> Floats:
    """Return the chance that a reader keeps a phrase with this much evidence."""
    return odds_to_probability(_STRENGTH_WEIGHT * (strength - _EVEN_STRENGTH))


def choose_common(phrases: Sequence[str], is_shared: Flags, noise: Floats) -> Flags:
    """Return which phrases are common to a query and a hit, (P,), given those that both contain."""
    is_pair = np.array([PAIR_SEPARATOR in phrase for phrase in phrases], dtype=bool)
    return np.asarray((is_shared | (noise <= MAX_NOISE)) & ~is_pair)


def flag_repeated_words(phrases: Sequence[str], chosen: Flags) -> Flags:
    """Return which phrases have a content word of one of the chosen phrases, (P,)."""
    used = {word for phrase in compress(phrases, chosen.tolist()) for word in split_phrase_words(phrase)}
    used -= ENGLISH_STOPWORDS
    return np.array([not used.isdisjoint(split_phrase_words(phrase)) for phrase in phrases], dtype=bool)


def rank_for_query(
    problem: PairProblem, measured: MethodResult, query_side: Literal["a", "b"], strength: Floats, noise: Floats
) -> MethodResult:
    """Rank the candidates for the side ``query_side``, given the evidence for each and its noise, (P,).

    ``measured`` has the relevance and the margins of the candidates.
    """
    asked, hit = (problem.b, problem.a) if query_side == "b" else (problem.a, problem.b)
    common = choose_common(problem.phrases, problem.is_shared, np.where(hit.is_salient, noise, 1.0))
    common &= problem.is_candidate
    repeats = flag_repeated_words(problem.phrases, common)
    distinct_hit = rank_phrases(problem.phrases, hit.is_salient & ~common & ~repeats, hit.salience)
    lacking = asked.is_salient & ~common & ~repeats & (noise > MAX_NOISE)
    distinct_query = rank_phrases(problem.phrases, lacking, asked.salience)
    return replace(
        measured,
        common=rank_phrases(problem.phrases, common, estimate_chance(strength)),
        distinct_a=distinct_hit if query_side == "b" else distinct_query,
        distinct_b=distinct_query if query_side == "b" else distinct_hit,
        margin=np.where(common, np.maximum(measured.margin, 0.0), np.minimum(measured.margin, -1e-6)),
        noise=noise,
    )
