"""Rare phrases: too few occurrences for statistics of their own, made of words the corpus knows well.

An author's keyword may occur three times in a hundred thousand documents. Such patterns are searched only in stretches
without function words, and scored by what needs no counting: their words, and the neighbours of the few occurrences.
The forest learns from the frequent candidates, whose quality is known, without any feature that depends on frequency.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.mining.features import Matrix, build_phrase_features, build_phrase_set, compute_form_factor
from indexer.mining.frequent_patterns import find_frequent_patterns
from indexer.mining.pattern_statistics import LevelStatistics, PatternStatistics
from indexer.mining.phrase_quality import SEED
from indexer.segmentation.phrase_set import PhraseSet

MAX_RARE_LENGTH = 4
MIN_EXAMPLES = 50
"""With fewer frequent candidates to learn from, nothing rare is accepted."""
_MAX_EXAMPLES = 10_000
_TREES = 40
_SLICE_SIZE = 1 << 16
"""Candidates scored at a time."""


def compute_min_rare_count(min_support: int) -> int:
    """Return the count from which a pattern is considered at all."""
    return max(2, round(min_support / 3))


class RareQualityModel:
    """Forest that predicts the quality of a candidate from the features that rare ones have too."""

    def __init__(self, features: Matrix, quality: NDArray[np.float32], threads: int = 1) -> None:
        """Learn from frequent candidates: features (candidates, PHRASE_FEATURES), quality (candidates,)."""
        self.forest: Any = None
        if len(quality) < MIN_EXAMPLES:
            return
        from sklearn.ensemble import ExtraTreesRegressor

        random = np.random.default_rng(SEED)
        rows = np.sort(random.permutation(len(quality))[:_MAX_EXAMPLES])
        self.forest = ExtraTreesRegressor(
            _TREES, min_samples_leaf=3, max_features=0.2, random_state=0, n_jobs=threads
        ).fit(features[rows], quality[rows])
        self.forest.n_jobs = 1  # in parallel the trees' votes would be added up in any order

    def predict_quality(self, features: Matrix) -> NDArray[np.float32]:
        """Return the predicted quality, shape (candidates,); 0 where there was too little to learn from."""
        if self.forest is None or not len(features):
            return np.zeros(len(features), dtype=np.float32)
        return np.asarray(self.forest.predict(features), dtype=np.float32)


def find_rare_phrases(
    statistics: PatternStatistics,
    min_support: int,
    word_scores: Matrix,
    quality_model: RareQualityModel,
    min_quality: float,
) -> list[PhraseSet]:
    """Return the patterns that occur less than ``min_support`` times and have this quality, one set per length.

    They have no function words; ``word_scores`` has shape (words, WORD_SCORES).
    """
    corpus = statistics.corpus
    rare = statistics.create_for_rare_patterns(min_support)
    phrases: list[PhraseSet] = []

    def visit(length: int, pattern_at: NDArray[np.int32]) -> None:
        rare.add_level(length, pattern_at)
        if length > 1:
            phrases.append(_select_good_candidates(rare, rare.levels[-1], word_scores, quality_model, min_quality))
        rare.levels.clear()

    find_frequent_patterns(
        corpus.lemma_ids,
        corpus.marks,
        len(corpus.lemmas),
        compute_min_rare_count(min_support),
        MAX_RARE_LENGTH,
        visit,
        may_contain=statistics.is_edge_word,
    )
    return phrases


def _select_good_candidates(
    rare_statistics: PatternStatistics,
    level: LevelStatistics,
    word_scores: Matrix,
    quality_model: RareQualityModel,
    min_quality: float,
) -> PhraseSet:
    count = level.signal_sums["fit"].astype(np.int32)
    mean_title_share = float(level.signal_sums["title"].sum() / max(int(count.sum()), 1))
    candidates = level.candidate_rows
    accepted, quality = [np.zeros(0, np.int64)], [np.zeros(0, np.float32)]
    for start in range(0, len(candidates), _SLICE_SIZE):
        local = candidates[start : start + _SLICE_SIZE]
        features = build_phrase_features(level, count, local, rare_statistics, word_scores)
        score = quality_model.predict_quality(features) * compute_form_factor(features, mean_title_share)
        accepted.append(local[score >= min_quality])
        quality.append(score[score >= min_quality])
    rows = np.concatenate(accepted)
    lengths = np.full(len(rows), level.length, np.int8)
    return build_phrase_set(
        rare_statistics.corpus, level.example_position[rows], lengths, np.concatenate(quality), count[rows]
    )
