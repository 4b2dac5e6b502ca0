"""The weights of the ranking: log odds that a reader keeps a phrase. Used by ``worker.methods.phrase_ranking``.

They are in this module because they are part of ``Parameters``. They were fitted on what readers kept and struck out,
and on what an editor chose, of 63 comparisons of seven kinds of text, each kind with the same weight; which features
there are was decided by how they rank the phrases of a kind that the weights were not fitted on (docs/quality.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class ReaderOddsWeights:
    """Weights, floors and thresholds, all in log odds unless noted otherwise."""

    intercept: float = -1.36
    """Odds of a distinct phrase whose features are all 0."""
    bm25: float = 0.8
    """Per unit of BM25 of a word in the text, in units of the idf of a word of one document: rare words, repeated."""
    topic_cosine: float = 0.55
    """Per unit of cosine of the text with the documents that contain the phrase; low for a mere mention."""
    specificity: float = 2.9
    """Per unit of how specific its words are in general: "full text" says little, whatever the text is."""
    multi_word: float = 0.75
    """For a phrase of several words: a single word says less."""
    known_phrase: float = 0.5
    """For a phrase that the miner found: other documents have it, too."""
    whole_phrase: float = 0.55
    """Per share of the occurrences in which the phrase is no part of a longer one."""
    never_whole: float = -0.4
    """For several words that the text has, but never as a phrase: "poke holes"."""
    log_count: float = 0.35
    """Per e-fold of occurrences in the text; for a set, of documents."""
    log_word_count: float = 0.2
    """Per e-fold of occurrences of its most frequent word: a text repeats the words of its subject."""
    log_earliness: float = 0.4
    """Per e-fold of earliness: a text names its subjects early."""
    title_share: float = 0.55
    """Per share of its words that the title has."""
    log_document_share: float = -0.1
    """Per e-fold of the share of the documents that have the phrase: what many say tells little about two."""
    other_side_match: float = -0.75
    """For a distinct phrase, per share of it that the other text contains in some form."""
    common_intercept: float = -3.37
    """Odds of a common phrase whose features are all 0."""
    common_slope: float = 2.07
    """For a common phrase, factor of its features: readers ask more of what is said to be the subject of both texts."""
    ubiquitous: float = -3.0
    """For a common phrase that at least half of the documents have: any two texts share it."""
    implied_intercept: float = -3.1
    """Odds of an implied phrase at the cut whose features are all 0."""
    implied_margin: float = 0.2
    """For an implied phrase, per unit of evidence above the cut."""
    implied_log_quality: float = 0.7
    """For an implied phrase, per e-fold of the quality that the miner gave it."""
    implied_topic_cosine: float = 2.0
    """For an implied phrase, per unit of cosine between the text that lacks it and the documents that contain it."""
    implied_partial_match: float = 2.2
    """For an implied phrase, per share of it that the text that lacks it contains in some form."""
    repeated_word_penalty: float = 0.45
    """Subtracted from a phrase that repeats a word of a phrase before it: every entry should add something."""
    common_informative: float = 0.2
    """Odds from which a common phrase is listed: a reader rather keeps it."""
    distinct_informative: float = 1.1
    """Odds from which a distinct phrase is listed: of one text there is more to say than a reader wants."""
    distinct_filler: float = 0.4
    """Odds from which a distinct phrase is listed where there is no better one."""
    min_quality: float = 0.05
    """Lower qualities count as this one."""
    max_text_words: float = 1000.0
    """Words of a text above which a partial match says nothing: a long text contains nearly any word."""

    def __post_init__(self) -> None:
        for name in (field.name for field in fields(self)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise ValueError(f"{ODDS_PREFIX}{name} must be a finite number, not {value!r}")
            if value <= 0 and name == "min_quality":
                raise ValueError(f"{ODDS_PREFIX}{name} must be above 0, not {value:g}")


ODDS_PREFIX = "odds_"
"""Option names of these numbers begin with it, as ``odds_bm25``."""
ODDS_OPTIONS = tuple(ODDS_PREFIX + field.name for field in fields(ReaderOddsWeights))

DEFAULT_WEIGHTS = ReaderOddsWeights()
