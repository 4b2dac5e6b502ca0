"""Rare phrases: too few occurrences for statistics of their own, made of words the corpus knows well.

An author's keyword may occur three times in a hundred thousand documents. Such patterns are looked for only in
stretches without function words, and judged by what needs no counting: their words, and the company of the few
occurrences. The judge learns from the frequent candidates, whose quality is known, with everything that depends on
frequency hidden from it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.mining.features import Candidates, Matrix, phrase_features, soundness
from indexer.mining.frequent_patterns import frequent_patterns
from indexer.mining.pattern_statistics import Evidence, Level
from indexer.mining.phrase_quality import SEED

MAX_LENGTH = 4
_EXAMPLES = 10_000
_TREES = 40
_SLICE = 1 << 16
"""Candidates judged at a time."""


def rare_support(support: int) -> int:
    """From which count on a pattern is looked at at all."""
    return max(2, round(support / 3))


class RareJudge:
    """Predicts the quality of frequent candidates from the features that rare ones have too."""

    def __init__(self, features: Matrix, quality: NDArray[np.float32], threads: int = 1) -> None:
        self.model: Any = None
        if len(quality) < 50:
            return
        from sklearn.ensemble import ExtraTreesRegressor

        draw = np.random.default_rng(SEED)
        rows = np.sort(draw.permutation(len(quality))[:_EXAMPLES])
        self.model = ExtraTreesRegressor(
            _TREES, min_samples_leaf=3, max_features=0.2, random_state=0, n_jobs=threads
        ).fit(features[rows], quality[rows])
        self.model.n_jobs = 1  # side by side the trees' votes would be added up in any order

    def score(self, features: Matrix) -> NDArray[np.float32]:
        if self.model is None or not len(features):
            return np.zeros(len(features), dtype=np.float32)
        return np.asarray(self.model.predict(features), dtype=np.float32)


def rare_phrases(
    evidence: Evidence, support: int, word_scores: Matrix, judge: RareJudge, least: float
) -> list[Candidates]:
    """Patterns of possible words only that occur less than ``support`` times and are judged ``least`` or better, by
    length; their only feature is the quality."""
    corpus = evidence.corpus
    rare = evidence.for_rare(support)
    found: list[Candidates] = []

    def visit(n: int, at: NDArray[np.int32]) -> None:
        rare.visit(n, at)
        if n > 1:
            found.append(_accepted(rare, rare.levels[-1], word_scores, judge, least))
        rare.levels.clear()

    least_count = rare_support(support)
    frequent_patterns(
        corpus.words, corpus.marks, len(corpus.lemmas), least_count, MAX_LENGTH, visit, allowed=evidence.edge
    )
    return found


def _accepted(rare: Evidence, level: Level, word_scores: Matrix, judge: RareJudge, least: float) -> Candidates:
    count = level.sums["fit"].astype(np.int32)
    usual = float(level.sums["title"].sum() / max(int(count.sum()), 1))
    rows, quality = [np.zeros(0, np.int64)], [np.zeros(0, np.float32)]
    for start in range(0, len(level.rows), _SLICE):
        local = level.rows[start : start + _SLICE]
        features = phrase_features(level, count, local, rare, word_scores)
        score = judge.score(features) * soundness(features, usual)
        rows.append(local[score >= least])
        quality.append(score[score >= least])
    kept = np.concatenate(rows)
    return Candidates(
        rows=kept,
        length=np.full(len(kept), level.n, np.int8),
        count=count[kept],
        documents=level.documents[kept],
        example=level.example[kept],
        features=np.concatenate(quality)[:, None],
    )
