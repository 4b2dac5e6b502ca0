"""Quality of single words: which of them name things.

The neighbours of a word indicate its class: the function words before and after it, its inflection, brackets and
capitals. Forests learn from the last words of known phrases (and from acronyms the corpus explains) what the
neighbours of a name look like; the share of its occurrences in titles indicates whether authors find it worth naming.
"Propose" and "widely" fail both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.int_arrays import count_keys
from indexer.mining.encoded_corpus import EncodedCorpus
from indexer.mining.features import PatternCandidates, collect_word_candidates, compute_mean_title_share
from indexer.mining.frequent_patterns import FrequentPatterns
from indexer.mining.pattern_statistics import PatternStatistics
from indexer.mining.phrase_quality import average_weighted_ranks, score_by_forests
from indexer.text.tokenizer import Mark

PROFILE_WORDS = 40
"""Most frequent function words, each with a column of its own in a neighbour profile."""
UNTITLED_RARE_FACTOR = 0.5
"""Reliability of a rare word that is in no title."""
_PSEUDO_COUNT = 5.0
"""Neighbours of an average word assumed on top of those counted."""
_DRAWS = 4
_CHUNK_TOKENS = 1 << 20
"""Tokens read at a time."""

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class WordScores:
    """Scores of every word, each of shape (words,); 0 for function words."""

    count: NDArray[np.int32]
    """Occurrences in the corpus."""
    noun: Floats
    """Resemblance of its neighbours to those of a name's last word, in [0, 1]."""
    modifier: Floats
    """Resemblance of its neighbours to those of a name's first word, in [0, 1]."""
    title: Floats
    """Frequency in titles, in (0, 1); 0.5 is that of the average word."""
    reliability: Floats
    """Less than 1 for a rare word that is in no title: often a misspelling or a scrap of markup."""

    @property
    def quality(self) -> Floats:
        """Quality of the word as a phrase, shape (words,)."""
        return np.asarray(np.sqrt((self.noun + self.modifier) / 2) * self.title * self.reliability, dtype=np.float32)

    def to_score_columns(self) -> Floats:
        """Return noun, modifier and title as columns, shape (words, 3)."""
        return np.stack([self.noun, self.modifier, self.title], axis=1)


def build_neighbour_profiles(
    corpus: EncodedCorpus,
    is_stopword: NDArray[np.bool_],
    document_frequency: NDArray[np.int32],
    word_rows: NDArray[np.int64],
) -> Floats:
    """Return the kinds of neighbours of the words ``word_rows`` as shares, shape (rows, 2 * (PROFILE_WORDS + 3)).

    Kinds are each of the most frequent function words, other function words, other words, and a boundary; those of
    the left side come first, then those of the right. ``document_frequency``: documents of each word.
    """
    vocabulary, kinds = len(corpus.lemmas), PROFILE_WORDS + 3
    kind = np.where(is_stopword, PROFILE_WORDS, PROFILE_WORDS + 1)
    frequent = np.argsort(-np.where(is_stopword, document_frequency, 0), kind="stable")[:PROFILE_WORDS]
    kind[frequent] = np.arange(len(frequent))
    row_of = np.full(vocabulary, -1, dtype=np.int64)
    row_of[word_rows] = np.arange(len(word_rows))
    sides = []
    for step in (-1, 1):
        total = np.zeros(len(word_rows) * kinds, dtype=np.int32)
        for start in range(0, corpus.token_count, _CHUNK_TOKENS):
            position = np.arange(start, min(start + _CHUNK_TOKENS, corpus.token_count))
            row = row_of[corpus.lemma_ids[position]]
            position, row = position[row >= 0], row[row >= 0]
            is_boundary = (corpus.marks[position + (step == 1)] & Mark.BOUNDARY) != 0
            neighbour = kind[corpus.lemma_ids[np.clip(position + step, 0, corpus.token_count - 1)]]
            neighbour[is_boundary] = PROFILE_WORDS + 2
            keys, times = count_keys(row * kinds + neighbour)
            total[keys] += times.astype(np.int32)
        counts = total.reshape(-1, kinds).astype(np.float32)
        prior = counts.sum(axis=0) / max(float(counts.sum()), 1.0)
        sides.append((counts + _PSEUDO_COUNT * prior) / (counts.sum(axis=1, keepdims=True) + _PSEUDO_COUNT))
    return np.concatenate(sides, axis=1, dtype=np.float32)


def score_words(
    patterns: FrequentPatterns,
    statistics: PatternStatistics,
    is_stopword: NDArray[np.bool_],
    document_frequency: NDArray[np.int32],
    known_heads: NDArray[np.int64],
    known_modifiers: NDArray[np.int64],
    min_support: int,
    processes: int = 1,
) -> WordScores:
    """Score every word of the corpus.

    ``known_heads`` are words known to name something, ``known_modifiers`` words known to begin such names;
    ``document_frequency`` counts the documents of each word. Words that occur less than ``min_support`` times are no
    examples.
    """
    corpus = statistics.corpus
    words = collect_word_candidates(patterns, statistics, min_count=2)
    is_frequent = words.count >= min_support
    profiles = build_neighbour_profiles(corpus, is_stopword, document_frequency, words.rows)
    features = np.concatenate([words.features, profiles], axis=1)
    scores = []
    for known, prior in (
        (known_heads, _compute_noun_prior(words)),
        (known_modifiers, np.full(len(words.rows), 0.5, np.float32)),
    ):
        score = np.zeros(len(corpus.lemmas), dtype=np.float32)
        is_positive = np.isin(words.rows, known) & is_frequent
        score[words.rows] = score_by_forests(features, is_positive, is_frequent, prior, _DRAWS, processes)
        scores.append(score)
    title = np.zeros(len(corpus.lemmas), dtype=np.float32)
    share, mean_share = words.get_signal_share("title"), compute_mean_title_share(words)
    title[words.rows] = share / (share + mean_share) if mean_share > 0 else 0.5
    reliability = np.ones(len(corpus.lemmas), dtype=np.float32)
    is_untitled = statistics.levels[0].signal_sums["title"] == 0
    count = patterns.count[: len(corpus.lemmas)].copy()  # a view would keep the counts of all patterns in memory
    reliability[(count < min_support) & is_untitled] = UNTITLED_RARE_FACTOR
    return WordScores(count, scores[0], scores[1], title, reliability)


def _compute_noun_prior(words: PatternCandidates) -> Floats:
    return average_weighted_ranks(
        [
            (words.get_signal_share("last_ed"), -1.5),
            (words.get_signal_share("last_ing"), -0.5),
            (words.get_signal_share("right_boundary"), 1.0),
            (words.get_signal_share("capital"), 0.5),
            (words.get_signal_share("title"), 0.5),
        ]
    )
