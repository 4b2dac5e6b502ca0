"""The weights of the ranking: log odds that a reader keeps a phrase. Used by ``worker.methods.phrase_ranking``.

They are in this module because they are part of ``Parameters``. Their ratios were fitted on the verdicts of two readers
on 921 phrases of 28 comparisons of papers, news and documentation of Python, and on what an editor chose for these.
Their scale was fitted on the verdicts of two others on 1,230 phrases of six kinds of text: the chances were too high
for texts of other kinds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class ReaderOddsWeights:
    """Weights, floors and thresholds, all in log odds unless noted otherwise."""

    intercept: float = -1.65
    """Odds of a distinct phrase whose features are all 0."""
    bm25: float = 1.0
    """Per unit of BM25 of a word in the text, in units of the idf of a word of one document: rare words, repeated."""
    topic_cosine: float = 1.1
    """Per unit of cosine of the text with the documents that contain the phrase; low for a mere mention."""
    log_quality: float = 0.7
    """Per e-fold of the quality that the miner gave the phrase."""
    multi_word: float = 1.05
    """For a phrase of several words: a single word says less."""
    known_phrase: float = 0.7
    """For a phrase that the miner found: other documents have it, too."""
    whole_phrase: float = 0.3
    """Per share of the occurrences in which the phrase is no part of a longer one."""
    log_count: float = 0.45
    """Per e-fold of occurrences in the text; for a set, of documents."""
    log_earliness: float = 0.55
    """Per e-fold of earliness: a text names its subjects early."""
    log_rarity: float = 0.12
    """Per e-fold of rarity: a phrase of very many documents says little about two."""
    other_side_match: float = -1.05
    """For a distinct phrase, per share of it that the other text contains in some form."""
    common_intercept: float = -1.85
    """Odds of a common phrase whose features are all 0."""
    common_slope: float = 1.3
    """For a common phrase, factor of its features: readers ask more of what is said to be the subject of both texts."""
    implied_intercept: float = -3.7
    """Odds of an implied phrase at the cut whose features are all 0."""
    implied_margin: float = 0.2
    """For an implied phrase, per unit of evidence above the cut."""
    implied_topic_cosine: float = 2.0
    """For an implied phrase, per unit of cosine between the text that lacks it and the documents that contain it."""
    implied_partial_match: float = 2.2
    """For an implied phrase, per share of it that the text that lacks it contains in some form."""
    repeated_word_penalty: float = 0.45
    """Subtracted from a phrase that repeats a word of a phrase before it: every entry should add something."""
    common_informative: float = 0.0
    """Odds from which a common phrase is listed: a reader rather keeps it."""
    distinct_informative: float = 0.6
    """Odds from which a distinct phrase is listed: of one text there is more to say than a reader wants."""
    distinct_filler: float = 0.0
    """Odds from which a distinct phrase is listed where there is no better one."""
    min_quality: float = 0.05
    """Lower qualities count as this one."""
    extra_documents: float = 10_000.0
    """Documents added to those of the corpus where rarity is measured: a small corpus says little about it."""
    max_text_words: float = 1000.0
    """Words of a text above which a partial match says nothing: a long text contains nearly any word."""

    def __post_init__(self) -> None:
        for name in (field.name for field in fields(self)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise ValueError(f"{ODDS_PREFIX}{name} must be a finite number, not {value!r}")
            if value <= 0 and name in ("min_quality", "extra_documents"):
                raise ValueError(f"{ODDS_PREFIX}{name} must be above 0, not {value:g}")


ODDS_PREFIX = "odds_"
"""Option names of these numbers begin with it, as ``odds_bm25``."""
ODDS_OPTIONS = tuple(ODDS_PREFIX + field.name for field in fields(ReaderOddsWeights))

DEFAULT_WEIGHTS = ReaderOddsWeights()
