"""Single words: which of them name things.

A word's company tells its class: what function words stand before and after it, how it is inflected, whether it
stands in brackets or capitals. Forests learn from the last words of listed titles (and from acronyms the corpus
explains) what the company of a name looks like; the share of its occurrences in titles tells whether authors
find it worth naming. "Propose" and "widely" fail both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.int_arrays import counted
from indexer.mining.encoded_corpus import Corpus
from indexer.mining.features import Candidates, column, word_candidates
from indexer.mining.frequent_patterns import Patterns
from indexer.mining.pattern_statistics import Evidence
from indexer.mining.phrase_quality import judged, rank_prior
from indexer.text.tokenizer import Mark

COMPANY = 40
"""Function words told apart."""
DOUBT = 0.5
_SMOOTH = 5.0
_DRAWS = 4

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class WordScores:
    """Of every word, shape (words,); zero for function words."""

    noun: Floats
    """How much its company is that of a name's last word, in [0, 1]."""
    modifier: Floats
    """How much its company is that of a name's first word, in [0, 1]."""
    title: Floats
    """How much more than others it stands in titles, in (0, 1); 0.5: no more, no less."""
    doubt: Floats
    """Less than 1 for a rare word that no title holds: often a misspelling or a scrap of markup."""

    @property
    def quality(self) -> Floats:
        return np.asarray(np.sqrt((self.noun + self.modifier) / 2) * self.title * self.doubt, dtype=np.float32)

    def table(self) -> Floats:
        """Shape (words, 3)."""
        return np.stack([self.noun, self.modifier, self.title], axis=1)


def company(corpus: Corpus, stop: NDArray[np.bool_], frequency: NDArray[np.int32], rows: NDArray[np.int64]) -> Floats:
    """Shares of the neighbours of words ``rows``: each frequent function word, other words, a boundary; first of the
    left side, then of the right. Shape (rows, 2 * (COMPANY + 3))."""
    vocabulary, kinds = len(corpus.lemmas), COMPANY + 3
    kind = np.where(stop, COMPANY, COMPANY + 1)
    frequent = np.argsort(-np.where(stop, frequency, 0), kind="stable")[:COMPANY]
    kind[frequent] = np.arange(len(frequent))
    row_of = np.full(vocabulary, -1, dtype=np.int64)
    row_of[rows] = np.arange(len(rows))
    sides = []
    for step in (-1, 1):
        total = np.zeros(len(rows) * kinds, dtype=np.int32)
        for start in range(0, corpus.tokens, 1 << 20):
            at = np.arange(start, min(start + (1 << 20), corpus.tokens))
            own = row_of[corpus.words[at]]
            at, own = at[own >= 0], own[own >= 0]
            boundary = (corpus.marks[at + (step == 1)] & Mark.BOUNDARY) != 0
            near = kind[corpus.words[np.clip(at + step, 0, corpus.tokens - 1)]]
            near[boundary] = COMPANY + 2
            keys, times = counted(own * kinds + near)
            total[keys] += times.astype(np.int32)
        counts = total.reshape(-1, kinds).astype(np.float32)
        prior = counts.sum(axis=0) / max(float(counts.sum()), 1.0)
        sides.append((counts + _SMOOTH * prior) / (counts.sum(axis=1, keepdims=True) + _SMOOTH))
    return np.concatenate(sides, axis=1, dtype=np.float32)


def judge_words(
    corpus: Corpus,
    patterns: Patterns,
    evidence: Evidence,
    stop: NDArray[np.bool_],
    frequency: NDArray[np.int32],
    heads: NDArray[np.int64],
    modifiers: NDArray[np.int64],
    support: int,
    processes: int = 1,
) -> WordScores:
    """``heads``: words known to name something; ``modifiers``: words known to begin such names."""
    words = word_candidates(patterns, evidence, least=2)
    often = words.count >= support
    features = np.concatenate([words.features, company(corpus, stop, frequency, words.rows)], axis=1)
    scores = []
    for known, prior in ((heads, _prior(words)), (modifiers, np.full(len(words.rows), 0.5, np.float32))):
        score = np.zeros(len(corpus.lemmas), dtype=np.float32)
        positive = np.isin(words.rows, known) & often
        score[words.rows] = judged(features, positive, often, prior, _DRAWS, processes)
        scores.append(score)
    title = np.zeros(len(corpus.lemmas), dtype=np.float32)
    share = column(words, "title")
    usual = float((share * words.count).sum() / max(words.count.sum(), 1))
    title[words.rows] = share / (share + usual) if usual > 0 else 0.5
    doubt = np.ones(len(corpus.lemmas), dtype=np.float32)
    doubt[(patterns.count[: len(doubt)] < support) & (evidence.levels[0].sums["title"] == 0)] = DOUBT
    return WordScores(scores[0], scores[1], title, doubt)


def _prior(words: Candidates) -> Floats:
    return rank_prior(
        [
            (column(words, "last_ed"), -1.5),
            (column(words, "last_ing"), -0.5),
            (column(words, "right_boundary"), 1.0),
            (column(words, "capital"), 0.5),
            (column(words, "title"), 0.5),
        ]
    )
