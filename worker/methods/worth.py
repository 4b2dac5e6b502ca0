"""How likely a reader keeps a phrase that a list shows: log odds.

Two readers read 120 comparisons and struck out what a careful reader would, about 4,000 phrases in all. A logistic
regression on five figures tells what they struck out as well as one on thirty did:

* quality, as the miner gave it: fragments have little;
* several words: one by itself says less;
* how often the text says it: what it is about, it says again;
* rarity: what very many documents hold tells little of two. Readers mind that half as much as it is weighed here;
* how much of it the other text holds in some form, where it is to set a text apart.

A phrase that one text lacks is kept by who believes that the text is about it all the same: by the evidence for it, by
how much of it the text does hold, and by how much the other text is about it. Of what one says in passing nobody
believes that both are about it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from indexer.bm25 import phrase_words
from worker.core.graph import Flags, Floats, Indices
from worker.core.seeds import Side
from worker.methods.base import Problem

QUALITY, SEVERAL, COUNT, RARITY, SAID = 1.2, 1.4, 1.0, 0.6, -2.5
"""Weights of the five; quality, count and rarity are logarithms."""
USUAL = -2.55
"""The odds of a phrase of which all five are 0."""
IMPLIED, MARGIN, WORDED, SALIENT = 0.05, 0.5, 1.2, 1.0
"""The odds of an implied phrase at the cut that one text is all about and the other holds nothing of, and what evidence
above the cut, wording and salience (a logarithm) add."""
_PASSING = 0.1
"""What is less salient in a set is said by few of its documents."""
_POOR, _SLIGHT = 0.05, 0.02
"""Quality, and salience, below this are all one."""
_DOCUMENTS = 10_000
"""On top of those there are: a corpus of few documents says little of what is rare."""
LONG = 1000
"""A text of more words holds nearly any."""


class Worth:
    """Of the candidates of one pair; every array has shape (P,)."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        several = np.array([len(phrase_words(phrase)) > 1 for phrase in problem.phrases], dtype=bool)
        share = np.minimum((problem.frequency + 1) / (problem.documents + _DOCUMENTS), 1.0)
        quality = np.log(np.maximum(problem.quality, _POOR))
        self._anywhere = USUAL + QUALITY * quality + SEVERAL * several - RARITY * np.log(share)

    def common(self, implied: Flags, margin: Floats) -> Floats:
        """As phrases of both texts."""
        p = self._problem
        held, salience = np.minimum(p.worded_a, p.worded_b), np.maximum(p.salience_a, p.salience_b)
        believed = IMPLIED + MARGIN * margin + WORDED * held + SALIENT * np.log(np.maximum(salience, _SLIGHT))
        said = np.maximum(_said(p.occurs_a, p.salience_a, p.side_a), _said(p.occurs_b, p.salience_b, p.side_b))
        return np.where(implied, believed, self._anywhere + said)

    def distinct_a(self) -> Floats:
        """As phrases that set a apart."""
        p = self._problem
        said = _said(p.occurs_a, p.salience_a, p.side_a)
        return self._anywhere + said + _nearly_said(p.worded_b, p.tokens_b, p.side_b)

    def distinct_b(self) -> Floats:
        p = self._problem
        said = _said(p.occurs_b, p.salience_b, p.side_b)
        return self._anywhere + said + _nearly_said(p.worded_a, p.tokens_a, p.side_a)


def _said(occurs: Indices, salience: Floats, side: Side) -> Floats:
    """More for what a text says again. In a set that is not counted: what is foremost there, each document says."""
    size = len(side.columns)
    times = np.maximum(occurs, 1) if size < 2 else np.where(salience < _PASSING, _PASSING, size * salience)
    return np.asarray(COUNT * np.log(times), dtype=np.float64)


def _nearly_said(worded: Floats, tokens: Sequence[str], side: Side) -> Floats:
    """Less for what the text holds in part; the words of a long one, or of a set, say nothing."""
    telling = len(tokens) <= LONG and len(side.columns) < 2
    return np.asarray(SAID * worded * telling, dtype=np.float64)


def chance(odds: Floats) -> Floats:
    """From log odds to (0, 1)."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(odds, -50, 50))), dtype=np.float64)
