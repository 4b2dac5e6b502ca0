"""The default preset's way of sorting: evidence for the side that lacks a phrase, in the log domain.

A phrase in both texts is common. For one that a holds and b lacks three kinds of evidence add up:

* the graph: ln(f'_i + m), less its mean over a's salient phrases, m the mean of f' over those that b lacks.
  Relevance to b as Eq. 7 gives it on the neighbourhood, against what the phrases of a get anyway;
* wording: how much of the phrase b holds in some form (its words, their families, acronyms);
* topics: how close b stands to the other documents that hold the phrase.

From ``cut`` on it is common (implied), below it is distinct of its side.

Lists are ranked by salience, common phrases by that on both sides and by how certain they are. A phrase
of very many documents ("training", "accuracy"), or of documents about anything at all ("open question", "special
case"), tells a reader little unless it is what a text is about: such *obvious* phrases stand at the end of their
list. So does a single word, or a phrase of everyday words, of little salience; what a long text says only once; what is
doubtful. Behind these stand words at home anywhere, and single words that are doubtful.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import NamedTuple

import numpy as np

from indexer.bm25 import phrase_words
from indexer.phrases.everyday import everyday
from worker.core.common import solve_common
from worker.core.graph import Flags, Floats, Indices
from worker.core.seeds import Side
from worker.methods.base import NONE, Problem, Ranked, Sorting
from worker.methods.lists import ranked
from worker.methods.relevance import Prepared

FREQUENT = 0.01
"""A phrase in a larger share of the documents is obvious unless it is salient."""
SCATTERED = 0.85
"""So is one whose documents have no more to do with each other than this leaves (1 less their mean cosine)."""
NEVER_OBVIOUS = 12
"""A phrase of no more documents than these is never obvious, however small the corpus."""
NOISE = 0.003
"""Relevance below this share of what every document would get if it spread evenly over the corpus is none."""


AT_HOME = 0.4
"""Of texts whose place has this much to do with that of a word's documents, it is a word of their field."""


class Telling(NamedTuple):
    """From what salience on a phrase tells a reader something."""

    wide: float
    """One of many documents, or of documents about anything."""
    slight: float
    """A word by itself, or everyday words: in passing, a figure of speech or a piece of a name."""
    empty: float
    """An everyday word by itself that is at home anywhere: "system", "approach"."""


COMMON, DISTINCT = Telling(0.3, 0.2, 0.5), Telling(0.98, 0.25, 0.98)
"""That both texts are about a thing says more than that one is."""
SURE = 0.4
"""An implied phrase nearer to the cut than this is often wrong: it stands last."""
SAID = 0.65
"""A phrase of which a text holds this much in some form is nearly said: what the other text alone is to be about
stands last, what both are to be about does not."""
HALF_SAID, NEAR = 0.45, 0.35
"""So does what is said by half, of a text that is near to the documents that hold it."""
REPEATS = 300
"""A text of more words says again what it is about."""
LONG = 1000
"""A text of more words holds nearly any."""
CERTAIN = 4.0
"""Margin of a phrase that both texts hold: above what evidence for an implied one usually adds up to."""


def by_logs(problem: Problem, ready: Prepared) -> Sorting:
    """Common from the cut on, or in both texts; the rest is distinct of its side."""
    found = measured(problem, ready)
    margin = found.margin
    common = (margin >= 0) & problem.candidates
    said_a = _said(problem.worded_a, problem.topic_a, problem.tokens_a, problem.side_a)
    said_b = _said(problem.worded_b, problem.topic_b, problem.tokens_b, problem.side_b)
    once_a = _once(problem.occurs_a, problem.tokens_a, problem.side_a)
    once_b = _once(problem.occurs_b, problem.tokens_b, problem.side_b)
    pieces = _pieces(problem, common & ~problem.shared)
    kinds = _Kinds.of(problem)
    return replace(
        found,
        common=_rank(
            problem, common, _about(problem) * _certainty(margin), kinds.last(COMMON, _doubtful(problem, margin))
        ),
        distinct_a=_rank(
            problem,
            problem.in_a & ~common,
            _known(problem, problem.salience_a),
            kinds.last(DISTINCT, said_b | once_a | pieces),
        ),
        distinct_b=_rank(
            problem,
            problem.in_b & ~common,
            _known(problem, problem.salience_b),
            kinds.last(DISTINCT, said_a | once_b | pieces),
        ),
    )


def measured(problem: Problem, ready: Prepared) -> Sorting:
    """Relevance and margins of all candidates, which are on no list yet."""
    f, iterations, rounds = _relevance(problem, ready)
    relevance = ready.calibration.relative(f)
    return Sorting(
        phrases=problem.phrases,
        common=NONE,
        distinct_a=NONE,
        distinct_b=NONE,
        relevance_a=relevance[:, 0],
        relevance_b=relevance[:, 1],
        margin=margins(problem, f),
        iterations=iterations,
        rounds=rounds,
        notes=tuple(problem.parameters.notes()),
        solved=ready.calibration.unscaled if ready.graph.dense and not problem.parameters.delta else None,
    )


def margins(problem: Problem, f: Floats) -> Floats:
    """How far above (>= 0) or below the cut each phrase is, (P,); ``f`` (P, 2) is relevance to a and b."""
    of_a = _evidence(problem, problem.in_a, problem.in_b, f[:, 1], problem.worded_b, problem.topic_b)
    of_b = _evidence(problem, problem.in_b, problem.in_a, f[:, 0], problem.worded_a, problem.topic_a)
    cut = problem.parameters.cut_at(problem.documents)
    either = np.where(problem.in_b, of_b, of_a)
    value = np.where(problem.in_a & problem.in_b, np.maximum(of_a, of_b), either) - cut
    return np.where(problem.shared, np.maximum(value, CERTAIN), value)


def _evidence(problem: Problem, own: Flags, others: Flags, relevance: Floats, worded: Floats, topic: Floats) -> Floats:
    """Evidence that the side of the ``others`` is about each of a side's ``own`` phrases, (P,)."""
    alone = own & ~problem.shared
    # one more average phrase on each: below the average, small differences are noise
    usual = float(relevance[alone].mean()) if alone.any() else 0.0
    logs = np.log(relevance + usual, out=np.zeros_like(relevance), where=relevance + usual > 0)
    graph = logs - float(logs[own].mean()) if own.any() else logs
    weights = problem.parameters
    evidence = graph + weights.word_weight * worded + weights.topic_weight * topic
    # where no path leads, being about the same field is no evidence; other words for the same thing are
    noise = NOISE * float(relevance[others].mean()) / problem.documents if others.any() and problem.documents else 0.0
    return np.where((relevance > noise) | (worded >= 1), evidence, -CERTAIN)


def _said(worded: Floats, topic: Floats, tokens: Sequence[str], side: Side) -> Flags:
    """Which phrases a text nearly says; the words of a long one, or of a set, say nothing."""
    nearly = (worded >= SAID) | ((worded >= HALF_SAID) & (topic >= NEAR))
    return np.asarray(nearly & (len(tokens) <= LONG and len(side.columns) < 2))


def _once(occurs: Indices, tokens: Sequence[str], side: Side) -> Flags:
    """What a text says in passing that is long enough to say again what it is about."""
    return np.asarray((occurs == 1) & (len(tokens) > REPEATS and len(side.columns) < 2))


def _pieces(problem: Problem, implied: Flags) -> Flags:
    """What stands within an ``implied`` phrase: that one text alone is about it would contradict that both are."""
    wholes = [f" {phrase} " for phrase in compress(problem.phrases, implied.tolist())]
    return np.array([any(f" {phrase} " in whole for whole in wholes) for phrase in problem.phrases], dtype=bool)


def _doubtful(problem: Problem, margin: Floats) -> Flags:
    """Implied phrases that readers strike out: near the cut, or hardly said by the text that lacks them."""
    worded = np.minimum(problem.worded_a, problem.worded_b)
    return np.asarray(~problem.shared & ((margin < SURE) | (worded < SAID)))


def _certainty(margin: Floats) -> Floats:
    """From 0.5 at the cut towards 1."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(margin, -50, 50))), dtype=np.float64)


def _relevance(problem: Problem, ready: Prepared) -> tuple[Floats, int, int]:
    """Relevance alone, or with lambda that of the joint problem."""
    p, calibration = problem.parameters, ready.calibration
    if p.lambda_ == 0:
        return calibration.alone.f, int(calibration.alone.iterations[0]), 1
    solution = solve_common(ready.graph, calibration.seeds, ready.in_a, ready.in_b, p).solution
    return solution.f, int(solution.inner[0]), int(solution.outer[0])


def _about(problem: Problem) -> Floats:
    """How much both sides are about each phrase, in [0, 1]: the larger salience counts twice the smaller."""
    a, b = problem.salience_a, problem.salience_b
    return np.asarray((2 * np.maximum(a, b) + np.minimum(a, b)) / 3, dtype=np.float64)


def _known(problem: Problem, salience: Floats) -> Floats:
    """Salience, a little lower for a phrase that hardly any other document has: it says nothing to a reader."""
    spread = np.sqrt(np.log(2.0 + problem.frequency))
    return np.asarray(salience * spread / max(float(spread.max(initial=1.0)), 1.0), dtype=np.float64)


class _Last(NamedTuple):
    last: Flags
    """What stands last: the obvious and the doubtful."""
    behind: Flags
    """What stands even behind that: words by themselves that are empty or doubtful."""


@dataclass(frozen=True, eq=False)
class _Kinds:
    """What tells a reader little of itself, by phrase."""

    salience: Floats
    wide: Flags
    """Of many documents, or of documents about anything."""
    bare: Flags
    """A word by itself."""
    everyday: Flags
    """Everyday words, one or more."""
    foreign: Flags
    """Of another field than the two texts', or of any."""

    @classmethod
    def of(cls, problem: Problem) -> _Kinds:
        wide = (problem.frequency > FREQUENT * problem.documents) | (problem.scatter > SCATTERED)
        asked = problem.candidates.tolist()
        words = [phrase_words(phrase) if own else [] for phrase, own in zip(problem.phrases, asked, strict=True)]
        rarest = np.array([min(map(problem.word_frequency, own), default=0) for own in words], dtype=np.int64)
        return cls(
            salience=np.maximum(problem.salience_a, problem.salience_b),
            wide=wide & (problem.frequency > NEVER_OBVIOUS),
            bare=np.array([len(own) == 1 for own in words], dtype=bool),
            everyday=everyday(rarest, problem.documents),
            foreign=np.asarray((problem.topic_a + problem.topic_b) / 2 < AT_HOME),
        )

    def last(self, telling: Telling, doubtful: Flags) -> _Last:
        """What tells a reader of a list little, the ``doubtful`` included."""
        slight = (self.bare | self.everyday) & (self.salience < telling.slight)
        obvious = (self.wide & (self.salience < telling.wide)) | slight
        empty = self.wide & self.everyday & self.foreign & (self.salience < telling.empty)
        return _Last(obvious | doubtful, self.bare & (empty | doubtful))


def _rank(problem: Problem, chosen: Flags, score: Floats, last: _Last) -> Ranked:
    """By score, in three tiers: what tells a reader something, what may fill up a short list, and what is behind."""
    tiers: list[Ranked] = []
    for tier in (~last.last & ~last.behind, last.last & ~last.behind, last.behind):
        lowest = min([1.0, *(float(above.score[-1]) for above in tiers if len(above))])
        tiers.append(ranked(problem.phrases, chosen & tier, score * lowest))
    first, second, _ = map(len, tiers)
    return Ranked(
        np.concatenate([tier.index for tier in tiers]),
        np.concatenate([tier.score for tier in tiers]),
        telling=first,
        filling=first + second,
    )
