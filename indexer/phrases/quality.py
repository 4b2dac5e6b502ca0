"""Quality learnt from lists of well-known titles, by bagged forests.

Positive examples are candidates that stand in the list; negative ones are drawn from the other candidates. Some of
those are good phrases that nobody listed, so every forest gets its own draw, and no single wrong label decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.errors import BadInput
from indexer.lemmas import Lemmas
from indexer.text import lemmatise

GOOD_LISTS = ("science", "news", "software")
DRAWS = 8
TREES = 16
"""Trees a draw."""
NEGATIVES = 3000
"""Negative examples a draw."""
SEED = 20150811
FEW = 10
"""With so many positive examples the forests have half the say, the prior the other half."""

Scores = NDArray[np.float32]


def good_phrases(path: str | Path | None = None) -> list[str]:
    """The shipped titles, or those of a file, one a line."""
    if path is None:
        texts = [(files("indexer.phrases") / "good" / f"{name}.txt").read_text("utf-8") for name in GOOD_LISTS]
    else:
        try:
            texts = [Path(path).read_text("utf-8")]
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"cannot read good phrases from {path}", fix="give a text file, a phrase a line") from error
    lines = (line.strip() for text in texts for line in text.splitlines())
    return sorted({line for line in lines if line and not line.startswith("#")})


def known_phrases(titles: Iterable[str], lemmas: Lemmas, word_ids: dict[str, int]) -> set[tuple[int, ...]]:
    """Titles as lemma numbers; those with a word the corpus lacks are left out."""
    known = set()
    for title in titles:
        words = lemmatise(title, lemmas).split()
        if words and all(word in word_ids for word in words):
            known.add(tuple(word_ids[word] for word in words))
    return known


class Judge:
    """Forests taught by examples; scores are in [0, 1]."""

    def __init__(
        self, features: Scores, positive: NDArray[np.bool_], eligible: NDArray[np.bool_], draws: int = DRAWS
    ) -> None:
        """``eligible``: may be drawn as a negative example. All arrays by candidate."""
        self.positives = int(positive.sum())
        self.forests: list[Any] = []
        good, others = np.flatnonzero(positive), np.flatnonzero(eligible & ~positive)
        if len(good) < 3 or len(others) < 10:
            return
        from sklearn.ensemble import ExtraTreesClassifier

        draw = np.random.default_rng(SEED)
        for seed in range(draws):
            bad = draw.choice(others, size=min(len(others), NEGATIVES), replace=False)
            forest = ExtraTreesClassifier(TREES, min_samples_leaf=3, class_weight="balanced", random_state=seed)
            label = np.repeat([1, 0], [len(good), len(bad)])
            self.forests.append(forest.fit(features[np.concatenate([good, bad])], label))

    def score(self, features: Scores, prior: Scores) -> Scores:
        """The forests' mean vote; the prior counts the more the fewer examples there were."""
        if not self.forests or not len(features):
            return prior
        votes = sum(forest.predict_proba(features)[:, 1] for forest in self.forests) / len(self.forests)
        trust = self.positives / (self.positives + FEW)
        return np.asarray(trust * votes + (1 - trust) * prior, dtype=np.float32)


def rank_prior(signals: Sequence[tuple[Scores, float]]) -> Scores:
    """A guess without examples: weighted mean of the ranks of signals, in [0, 1]."""
    size = len(signals[0][0])
    total = np.zeros(size)
    for values, weight in signals:
        _, rank, counts = np.unique(values, return_inverse=True, return_counts=True)
        middle = (np.cumsum(counts) - counts / 2)[rank] / max(size, 1)
        total += abs(weight) * (middle if weight > 0 else 1 - middle)
    return np.asarray(total / sum(abs(weight) for _, weight in signals), dtype=np.float32)
