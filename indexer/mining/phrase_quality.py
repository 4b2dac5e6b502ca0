"""Quality learnt from lists of well-known titles, by bagged forests.

Positive examples are candidates that stand in the list; negative ones are drawn from the other candidates. Some of
those are good phrases that nobody listed, so every forest gets its own draw, and no single wrong label decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from indexer.errors import BadInput
from indexer.runtime.process_pool import in_order
from indexer.text.lemmatizer import Lemmas
from indexer.text.tokenizer import lemmatise

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
        texts = [(files("indexer.mining") / "known_phrases" / f"{name}.txt").read_text("utf-8") for name in GOOD_LISTS]
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


def judged(
    features: Scores,
    positive: NDArray[np.bool_],
    eligible: NDArray[np.bool_],
    prior: Scores,
    draws: int = DRAWS,
    processes: int = 1,
) -> Scores:
    """Quality in [0, 1]: the mean vote of forests; the prior counts the more the fewer examples there were.

    ``eligible``: may be drawn as a negative example. All arrays by candidate.
    """
    good, others = np.flatnonzero(positive), np.flatnonzero(eligible & ~positive)
    if len(good) < 3 or len(others) < 10:
        return prior
    from sklearn.ensemble import ExtraTreesClassifier

    def vote(lot: tuple[int, NDArray[np.int64]]) -> NDArray[np.float64]:
        seed, bad = lot
        forest = ExtraTreesClassifier(TREES, min_samples_leaf=3, class_weight="balanced", random_state=seed)
        forest.fit(features[np.concatenate([good, bad])], np.repeat([1, 0], [len(good), len(bad)]))
        return np.asarray(forest.predict_proba(features)[:, 1])

    draw = np.random.default_rng(SEED)
    lots = [draw.choice(others, size=min(len(others), NEGATIVES), replace=False) for _ in range(draws)]
    votes = sum(vote for _, vote in in_order(vote, enumerate(lots), processes)) / draws
    trust = len(good) / (len(good) + FEW)
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
