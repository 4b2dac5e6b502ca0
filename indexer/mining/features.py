"""Feature rows of candidates, and the form factor of their quality.

Concordance (does it occur more often than its parts suggest), completeness (is it a fragment of a longer pattern),
informativeness (spread, titles, brackets, capitals, boundaries) and word class (inflection and the function words
around, of the pattern and of its first and last word).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.int_arrays import csr_starts, range_positions
from indexer.mining.encoded_corpus import EncodedCorpus
from indexer.mining.frequent_patterns import FrequentPatterns
from indexer.mining.pattern_statistics import SIGNALS, LevelStatistics, PatternStatistics
from indexer.segmentation.phrase_set import PhraseSet

Matrix = NDArray[np.float32]

WORD_SCORES = 3
"""Scores of a word: noun, modifier, title (``WordScores.to_score_columns``)."""
LENGTH = len(SIGNALS)
"""Columns of a multi-word candidate: the shares of the signals, then length, inner function words, the scores of the
first and of the last word and the smallest of all words, then what depends on frequency, concordance and completeness
at the end."""
INNER_FUNCTION_WORDS = LENGTH + 1
FIRST_WORD = LENGTH + 2
LAST_WORD = FIRST_WORD + WORD_SCORES
PHRASE_FEATURES = FIRST_WORD + 3 * WORD_SCORES
"""Number of columns that do not depend on how often the pattern occurs; they come first."""
PMI, KL_DIVERGENCE = -6, -5
NOUN, TITLE = 0, 2
"""Columns among the scores of a word."""

_PSEUDO_COUNT = 3.0
"""Occurrences of an average candidate assumed on top of those counted, so that shares of rare ones say little."""

INNER_FUNCTION_WORD_FACTOR = 0.65
"""Form factor of a candidate with a function word inside."""
ATTRIBUTIVE_PENALTY, PARTICIPLE_PENALTY = 0.7, 0.6
"""Share of the form factor that a candidate loses if it is always used as an adjective, or always ends in "-ed"."""
ATTRIBUTIVE_START, ATTRIBUTIVE_WIDTH = 0.4, 0.3
"""Share of occurrences before another word from which a hyphenated candidate looks like an adjective, and how much
more makes it certain."""
TITLE_RELIEF, TITLE_START, TITLE_WIDTH = 0.6, 0.5, 0.25
"""Share of these penalties that titles lift, the title ratio from which they begin to, and how much more they need."""
UNTITLED_FIRST_FACTOR, USUAL_FIRST_TITLE = 0.5, 0.35
"""Form factor of a candidate whose first word is never in titles, and that word's title score from which it is 1."""
TITLE_FACTOR_BASE, TITLE_FACTOR_SLOPE = 0.75, 0.5
"""Factor of the title ratio: 1 for a candidate that is as often in titles as the average one."""


@dataclass(frozen=True)
class PatternCandidates:
    """Candidates of one or several words: row r of each array describes pattern ``rows[r]``."""

    rows: NDArray[np.int64]
    length: NDArray[np.int8]
    """Words of the pattern."""
    count: NDArray[np.int32]
    example_position: NDArray[np.int64]
    """Token of the corpus where an occurrence begins."""
    features: Matrix

    def get_signal_share(self, signal_name: str) -> Matrix:
        """Share of the occurrences with one of ``SIGNALS``, shape (candidates,)."""
        return self.features[:, SIGNALS.index(signal_name)]

    def mark_known(self, corpus: EncodedCorpus, known_phrases: set[tuple[int, ...]]) -> NDArray[np.bool_]:
        """Return which candidates are among the known phrases (tuples of lemma ids), shape (candidates,)."""
        positions = zip(self.example_position.tolist(), self.length.tolist(), strict=True)
        lemma_ids = (tuple(corpus.lemma_ids[at : at + n].tolist()) for at, n in positions)
        return np.fromiter((ids in known_phrases for ids in lemma_ids), np.bool_, len(self.rows))

    def to_phrase_set(self, corpus: EncodedCorpus, quality: NDArray[np.float32]) -> PhraseSet:
        """Return the candidates with this quality, shape (candidates,), as phrases that are not nested."""
        return build_phrase_set(corpus, self.example_position, self.length, quality, self.count)


def build_phrase_set(
    corpus: EncodedCorpus,
    example_position: NDArray[np.int64],
    length: NDArray[np.int8],
    quality: NDArray[np.float32],
    count: NDArray[np.int32],
) -> PhraseSet:
    """Return phrases spelled by the tokens at an example of each; all arrays have shape (phrases,)."""
    lengths = length.astype(np.int64)
    words = corpus.lemma_ids[range_positions(example_position, lengths)]
    return PhraseSet(csr_starts(lengths), words, quality, count, np.zeros(len(quality), np.bool_))


def collect_word_candidates(
    patterns: FrequentPatterns, statistics: PatternStatistics, min_count: int = 1
) -> PatternCandidates:
    """Return every word that may begin or end a phrase and occurs ``min_count`` times or more."""
    level = statistics.levels[0]
    count = patterns.count[: level.size]
    rows = level.candidate_rows
    rows = rows[count[rows] >= min_count]
    return PatternCandidates(
        rows=rows,
        length=np.ones(len(rows), np.int8),
        count=count[rows],
        example_position=level.example_position[rows],
        features=np.concatenate(
            [
                compute_smoothed_signal_shares(level, count, rows),
                _compute_frequency_features(level, count, rows, statistics),
            ],
            axis=1,
            dtype=np.float32,
        ),
    )


def collect_phrase_candidates(
    patterns: FrequentPatterns, statistics: PatternStatistics, word_scores: Matrix
) -> PatternCandidates:
    """Return every pattern of several words that may begin and end a phrase, by length.

    ``word_scores`` has shape (words, WORD_SCORES).
    """
    concordance = compute_concordance(patterns, statistics.corpus.token_count)
    completeness = compute_completeness(patterns)
    parts: list[PatternCandidates] = []
    for level, base in zip(statistics.levels[1:], statistics.level_starts[1:], strict=False):
        local = level.candidate_rows
        count = patterns.count[base : base + level.size]
        parts.append(
            PatternCandidates(
                rows=local + base,
                length=np.full(len(local), level.length, np.int8),
                count=count[local],
                example_position=level.example_position[local],
                features=np.concatenate(
                    [
                        build_phrase_features(level, count, local, statistics, word_scores),
                        _compute_frequency_features(level, count, local, statistics)[:, 2:],
                        compute_title_lift(level, count, local),
                        concordance[local + base],
                        completeness[local + base],
                    ],
                    axis=1,
                ),
            )
        )
    return PatternCandidates(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in PatternCandidates.__dataclass_fields__)
    )


def compute_smoothed_signal_shares(
    level: LevelStatistics, pattern_counts: NDArray[np.int32], rows: NDArray[np.int64]
) -> Matrix:
    """Return the sums of the signals as smoothed shares of the occurrences, shape (rows, len(SIGNALS))."""
    columns = []
    for name in SIGNALS:
        total = level.signal_sums[name]
        prior = total.sum() / max(float(pattern_counts[level.candidate_rows].sum()), 1.0)
        columns.append((total[rows] + _PSEUDO_COUNT * prior) / (pattern_counts[rows] + _PSEUDO_COUNT))
    return np.stack(columns, axis=1).astype(np.float32)


def _compute_frequency_features(
    level: LevelStatistics, pattern_counts: NDArray[np.int32], rows: NDArray[np.int64], statistics: PatternStatistics
) -> Matrix:
    """Return log count, idf, documents per occurrence and the letters of the first word, shape (rows, 4)."""
    corpus, frequency = statistics.corpus, level.document_frequency[rows]
    idf = np.log(max(corpus.document_count, 1) / np.maximum(frequency, 1))
    letters = np.fromiter(map(len, corpus.lemmas), np.float32, len(corpus.lemmas))
    first_letters = letters[corpus.lemma_ids[level.example_position[rows]]] if len(corpus.lemma_ids) else idf
    occurrences = np.maximum(pattern_counts[rows], 1)
    return np.stack([np.log(occurrences), idf, frequency / occurrences, first_letters], axis=1)


def build_phrase_features(
    level: LevelStatistics,
    pattern_counts: NDArray[np.int32],
    rows: NDArray[np.int64],
    statistics: PatternStatistics,
    word_scores: Matrix,
) -> Matrix:
    """Return the features that do not depend on how often a pattern occurs, shape (local, PHRASE_FEATURES).

    ``rows`` are rows of the level, ``pattern_counts`` the occurrences of each row.
    """
    words = statistics.corpus.lemma_ids[level.example_position[rows][:, None] + np.arange(level.length)]
    inner = (~statistics.is_edge_word[words]).sum(axis=1, keepdims=True)
    scores = word_scores[words]
    lengths = np.full((len(rows), 1), level.length)
    return np.concatenate(
        [
            compute_smoothed_signal_shares(level, pattern_counts, rows),
            lengths,
            inner,
            scores[:, 0],
            scores[:, -1],
            scores.min(axis=1),
        ],
        axis=1,
    ).astype(np.float32)


def compute_form_factor(features: Matrix, mean_title_share: float) -> NDArray[np.float32]:
    """Return a factor of the quality, about 1, shape (candidates,): less for what is no name by its form.

    What follows a hyphen is half a word ("driven approach"); a hyphenated pattern before another word is used as an
    adjective ("worst-case"); a name seldom ends in a participle, contains function words, or begins with a word that
    authors keep out of titles ("earlier methods"). What is in titles more often than the mean may look like an
    adjective: authors find it worth naming ("zero-shot", "self-supervised").
    """

    def share(name: str) -> NDArray[np.float32]:
        return features[:, SIGNALS.index(name)]

    if mean_title_share > 0:
        title_ratio = share("title") / (share("title") + mean_title_share)
    else:
        title_ratio = np.full(len(features), 0.5)
    doubt = 1 - TITLE_RELIEF * _ramp(title_ratio - TITLE_START, TITLE_WIDTH)
    before_word = share("right_word") + share("right_hyphen")
    attributive = share("hyphen") * _ramp(before_word - ATTRIBUTIVE_START, ATTRIBUTIVE_WIDTH)
    inner = np.where(features[:, INNER_FUNCTION_WORDS] > 0, INNER_FUNCTION_WORD_FACTOR, 1.0)
    first_title = features[:, FIRST_WORD + TITLE]
    # a function word can only be first where a hyphen ties it to the rest: that says nothing about titles
    first = np.where(
        first_title > 0,
        UNTITLED_FIRST_FACTOR + (1 - UNTITLED_FIRST_FACTOR) * _ramp(first_title, USUAL_FIRST_TITLE),
        1.0,
    )
    whole = (1 - share("left_hyphen")) * share("fit")
    penalties = (1 - ATTRIBUTIVE_PENALTY * doubt * attributive) * (1 - PARTICIPLE_PENALTY * doubt * share("last_ed"))
    form = penalties * inner * first
    return np.asarray(whole * form * (TITLE_FACTOR_BASE + TITLE_FACTOR_SLOPE * title_ratio), dtype=np.float32)


def _ramp(values: NDArray[np.floating], width: float) -> NDArray[np.floating]:
    """Map 0 to 0 and ``width`` to 1, linear between and constant outside."""
    return np.asarray(np.clip(values / width, 0, 1))


def compute_mean_title_share(candidates: PatternCandidates) -> float:
    """Return the share of all occurrences that are in titles."""
    count = candidates.count
    return float((candidates.get_signal_share("title") * count).sum() / max(int(count.sum()), 1))


def compute_title_lift(level: LevelStatistics, pattern_counts: NDArray[np.int32], rows: NDArray[np.int64]) -> Matrix:
    """Return the log ratio of occurrences in titles to those expected of any candidate, shape (local, 1)."""
    titles = level.signal_sums["title"]
    usual = titles.sum() / max(float(pattern_counts[level.candidate_rows].sum()), 1.0)
    lift = np.log((titles[rows] + 0.5) / (pattern_counts[rows] * usual + 0.5))
    return np.asarray(lift[:, None], dtype=np.float32)


def compute_concordance(patterns: FrequentPatterns, token_count: int) -> Matrix:
    """Return PMI and pointwise KL divergence of the least surprising split, shape (patterns, 2)."""
    log_p = np.log(np.maximum(patterns.count, 1) / max(token_count, 1))
    best = np.full(patterns.size, -np.inf)
    for n in range(2, len(patterns.level_starts)):
        rows = np.arange(patterns.level_starts[n - 1], patterns.level_starts[n])
        head = rows
        for left in range(n - 1, 0, -1):
            head = patterns.prefix[head].astype(np.int64)
            tail = rows
            for _ in range(left):
                tail = patterns.suffix[tail].astype(np.int64)
            best[rows] = np.maximum(best[rows], log_p[head] + log_p[tail])
    pmi = np.where(np.isfinite(best), log_p - best, 0.0)
    return np.stack([pmi, pmi * patterns.count / np.sqrt(np.maximum(patterns.count, 1))], axis=1).astype(np.float32)


def compute_completeness(patterns: FrequentPatterns) -> Matrix:
    """Return how much of a pattern is more than a fragment, shape (patterns, 4).

    Columns: the largest share of its occurrences inside one pattern longer to the right, and to the left; its own
    share of the occurrences of its rarer, and of its more frequent part.
    """
    count = patterns.count.astype(np.float64)
    longer = np.zeros((patterns.size, 2))
    multi = slice(int(patterns.level_starts[1]), patterns.size)
    np.maximum.at(longer[:, 0], patterns.prefix[multi], count[multi])
    np.maximum.at(longer[:, 1], patterns.suffix[multi], count[multi])
    parts = np.stack([count[patterns.prefix], count[patterns.suffix]], axis=1)
    of_parts = count[:, None] / np.maximum(np.stack([parts.min(axis=1), parts.max(axis=1)], axis=1), 1)
    return np.concatenate([longer / np.maximum(count, 1)[:, None], of_parts], axis=1).astype(np.float32)
