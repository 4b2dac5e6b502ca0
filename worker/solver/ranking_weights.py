"""The weights of the ranking: log odds that a reader keeps a phrase. Used by ``worker.methods.phrase_ranking``.

They are in this module because they are part of ``Parameters``. Fitted together on readers' choices: about 4,900
phrases of 150 comparisons, and lists of thirty comparisons that an editor wrote by hand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class ReaderOddsWeights:
    """Weights, floors and thresholds, all in log odds unless noted otherwise."""

    intercept: float = -2.1
    """Odds of a phrase whose features are all 0."""
    bm25: float = 2.0
    """Per unit of BM25 in the text, in units of the idf of a word of one document: rare words that are repeated."""
    topic_cosine: float = 2.0
    """Per unit of cosine of the text with the documents that contain the phrase; low for a mere mention."""
    log_quality: float = 1.2
    """Per e-fold of the quality that the miner gave the phrase."""
    multi_word: float = 1.0
    """For a phrase of several words: a single word says less."""
    log_count: float = 0.8
    """Per e-fold of occurrences in the text; for a set, of documents."""
    log_salience: float = 0.4
    """Per e-fold of salience."""
    log_rarity: float = 0.35
    """Per e-fold of rarity: a phrase of very many documents says little about two."""
    other_side_match: float = -1.6
    """For a distinct phrase, per share of it that the other text contains in some form."""
    implied_intercept: float = -2.3
    """Odds of an implied phrase at the cut whose features are all 0."""
    implied_margin: float = 0.2
    """For an implied phrase, per unit of evidence above the cut."""
    implied_topic_cosine: float = 2.0
    """For an implied phrase, per unit of cosine between the text that lacks it and the documents that contain it."""
    implied_partial_match: float = 2.2
    """For an implied phrase, per share of it that the text that lacks it contains in some form."""
    dissimilarity: float = -5.0
    """For a common phrase, per unit of cosine of the two texts below ``min_similarity``."""
    min_similarity: float = 0.25
    """Cosine of two texts below which a phrase of both is likely to be an accident."""
    repeated_word_penalty: float = 0.7
    """Subtracted from a phrase that repeats a word of a phrase before it: every entry should add something."""
    common_informative: float = 0.2
    """Odds from which a common phrase informs a reader; low, as two texts share few phrases and each counts."""
    common_filler: float = -0.8
    """Odds from which a common phrase may fill up a short list."""
    distinct_informative: float = 2.3
    """Odds from which a distinct phrase informs a reader; high, as one text alone says more than a reader wants."""
    distinct_filler: float = 0.5
    """Odds from which a distinct phrase may fill up a short list."""
    min_quality: float = 0.05
    """Lower qualities count as this one."""
    min_salience: float = 0.02
    """Lower saliences count as this one."""
    extra_documents: float = 10_000.0
    """Documents added to those of the corpus where rarity is measured: a small corpus says little about it."""
    max_text_words: float = 1000.0
    """Words of a text above which a partial match says nothing: a long text contains nearly any word."""

    def __post_init__(self) -> None:
        for name in (field.name for field in fields(self)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise ValueError(f"{ODDS_PREFIX}{name} must be a finite number, not {value!r}")
            if value <= 0 and name in ("min_quality", "min_salience", "extra_documents"):
                raise ValueError(f"{ODDS_PREFIX}{name} must be above 0, not {value:g}")


ODDS_PREFIX = "odds_"
"""Option names of these numbers begin with it, as ``odds_bm25``."""
ODDS_OPTIONS = tuple(ODDS_PREFIX + field.name for field in fields(ReaderOddsWeights))

DEFAULT_WEIGHTS = ReaderOddsWeights()
