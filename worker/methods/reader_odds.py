"""How likely a reader keeps a phrase that a list shows: log odds.

Readers struck out what a careful reader would of 150 comparisons, about 4,900 phrases in all, and an editor wrote lists
of thirty by hand. The same seven figures tell what readers keep and what an editor chooses:

* its weight in the text, BM25, as the graph has it: rare words, said again. What is a piece of another phrase has none;
* how close the text stands to the documents that hold it: what a text only mentions is at home elsewhere;
* salience, quality and how often the text says it;
* several words: one by itself says less;
* rarity: what very many documents hold tells little of two.

What is to set a text apart is worth less the more of it the other text holds in some form. A phrase that one text lacks
is kept by who believes that the text is about it all the same: by the evidence for it, by how close the text stands to
its documents, by how much of it the text does hold, and by how much the other text is about it.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from indexer.documents import PAIR
from indexer.model.bm25 import idf, phrase_words
from worker.methods.base import Problem
from worker.solver.subgraph import Flags, Floats, Indices

WEIGHT, TOPIC, SALIENCE, QUALITY, COUNT, SEVERAL, RARITY = 2.0, 2.0, 0.4, 1.2, 0.8, 1.0, 0.35
"""Of the seven; salience, quality, count and rarity are logarithms."""
USUAL = -2.1
"""The odds of a phrase of which all seven are 0."""
SAID = -1.6
"""What a distinct phrase loses that the other text holds all of, in other words."""
IMPLIED, BELIEVED, NEAR, WORDED = -2.3, 0.2, 2.0, 2.2
"""The odds of an implied phrase at the cut, and what evidence above the cut, closeness and wording add to what speaks
for any phrase."""
FAR, TOGETHER = -5.0, 0.25
"""What a common phrase loses for each unit of cosine by which the two texts stand further apart than that: what such
texts both say is an accident."""
_POOR, _SLIGHT = 0.05, 0.02
"""Quality, and salience, below this are all one."""
_DOCUMENTS = 10_000
"""On top of those there are: a corpus of few documents says little of what is rare."""
LONG = 1000
"""A text of more words holds nearly any."""


class _Text(NamedTuple):
    """What one side says of each phrase, (P,)."""

    own: Floats
    """What speaks for it in the text itself."""
    worded: Floats
    """How much of it the side holds in some form; 0 where that says nothing, as a long text or a set holds any word."""


class Worth:
    """Of the candidates of one pair."""

    def __init__(self, problem: Problem) -> None:
        p = self._problem = problem
        # a pair weighs, and is said, as often as its members
        members = np.array([1 + (PAIR in phrase) for phrase in p.phrases])
        rarest = float(idf([1], max(p.documents, 2))[0])
        self._a, self._b = _text(p, "a", members, rarest), _text(p, "b", members, rarest)
        share = np.minimum((p.frequency + 1) / (p.documents + _DOCUMENTS), 1.0)
        self._anywhere = QUALITY * _log(p.quality, _POOR) - RARITY * np.log(share)
        self._several = np.array([SEVERAL * (len(phrase_words(phrase)) > 1) for phrase in p.phrases])

    def common(self, implied: Flags, margin: Floats) -> Floats:
        """As phrases of both texts."""
        p, lacks_b = self._problem, self._problem.occurs_b == 0
        near, held = (np.where(lacks_b, b, a) for a, b in ((p.topic_a, p.topic_b), (self._a.worded, self._b.worded)))
        salience = _log(np.maximum(p.salience_a, p.salience_b), _SLIGHT)
        believed = IMPLIED + BELIEVED * margin + NEAR * near + WORDED * held + SALIENCE * salience
        both = USUAL + self._several + (self._a.own + self._b.own) / 2
        far = FAR * max(TOGETHER - p.nearness, 0.0)
        return np.asarray(self._anywhere + far + np.where(implied, believed, both), dtype=np.float64)

    def distinct_a(self) -> Floats:
        """As phrases that set a apart."""
        return self._distinct(self._a, self._b)

    def distinct_b(self) -> Floats:
        return self._distinct(self._b, self._a)

    def _distinct(self, text: _Text, other: _Text) -> Floats:
        own = self._several + text.own + SAID * other.worded
        return np.asarray(USUAL + self._anywhere + own, dtype=np.float64)


def _text(problem: Problem, side: Literal["a", "b"], members: Indices, rarest: float) -> _Text:
    """``members``: of how many phrases each consists, (P,); ``rarest``: the idf of a word of one document."""

    def known(name: str) -> Any:
        return getattr(problem, f"{name}_{side}")

    size, held = max(len(known("side").columns), 1), known("held")
    # how often it is said; of a set, by how many documents (half a one for a piece): more is asked where there are more
    times = np.maximum(known("occurs") / members, 1.0) if size < 2 else np.maximum(held, 0.5) / size**0.25
    weight = known("edge") / members / (np.maximum(held, 1) * rarest)
    about = SALIENCE * _log(known("salience"), _SLIGHT) + COUNT * np.log(times)
    own = np.asarray(WEIGHT * weight + TOPIC * known("topic") + about, dtype=np.float64)
    return _Text(own, known("worded") * (len(known("tokens")) <= LONG and size < 2))


def _log(values: Floats, least: float) -> Floats:
    return np.asarray(np.log(np.maximum(values, least)), dtype=np.float64)


def chance(odds: Floats) -> Floats:
    """From log odds to (0, 1)."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(odds, -50, 50))), dtype=np.float64)
