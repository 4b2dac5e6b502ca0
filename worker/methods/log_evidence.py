"""The default preset's way of sorting: evidence for the side that lacks a phrase, in the log domain.

A phrase in both texts is common. For one that a holds and b lacks four kinds of evidence add up:

* the graph: ln(f'_i + m), less its mean over a's salient phrases, m the mean of f' over those that b lacks.
  Relevance to b as Eq. 7 gives it on the neighbourhood, against what the phrases of a get anyway;
* wording: how much of the phrase b holds in some form (its words, their families, acronyms);
* topics: how close b stands to the other documents that hold the phrase;
* the base rate: how many documents hold it.

From ``cut`` on it is common (implied), below it is distinct of its side.

Lists are ranked by how likely a reader keeps a phrase (``worth.py``). What most readers strike out stands at the end,
where it fills up a short list.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import compress
from typing import NamedTuple

import numpy as np

from indexer.documents import PAIR
from indexer.model.bm25 import phrase_words
from indexer.text.stopwords import ENGLISH
from worker.methods.base import NONE, Problem, Ranked, Sorting
from worker.methods.ranked_lists import ranked
from worker.methods.reader_odds import Worth, chance
from worker.methods.relevance import Prepared
from worker.solver.common_problem import solve_common
from worker.solver.parameters import FEW
from worker.solver.subgraph import Flags, Floats

NOISE = 0.003
"""Relevance below this share of what every document would get if it spread evenly over the corpus is none."""


class Bar(NamedTuple):
    """From what worth on ..."""

    telling: float
    """... a phrase tells a reader something."""
    filling: float
    """... it may fill up a short list."""


COMMON, DISTINCT = Bar(0.2, -0.8), Bar(2.3, 0.5)
"""Two texts share few phrases, and each counts; of what one text alone says there is more than a reader wants."""
NOTHING = -9.0
"""Worth of what would contradict another list."""
REPEATED = 0.7
"""What a phrase loses by a word that its list has told already."""
JUST_BELOW = 0.01
"""How far below the cut what must not be common stands at least."""
CERTAIN = 4.0
"""Margin of a phrase that both texts hold: above what evidence for an implied one usually adds up to."""


def by_logs(problem: Problem, ready: Prepared) -> Sorting:
    """Common from the cut on, or in both texts; the rest is distinct of its side."""
    found = measured(problem, ready)
    common = (found.margin >= 0) & problem.candidates
    implied = common & ~problem.shared
    worth, pieces = Worth(problem), _pieces(problem, implied)

    def apart(own: Flags, odds: Floats) -> Ranked:
        alone = own & ~common
        return _rank(problem, alone, _less_repeated(problem, alone, np.where(pieces, NOTHING, odds)), DISTINCT)

    both = _less_repeated(problem, common, worth.common(implied, found.margin))
    return replace(
        found,
        common=_rank(problem, common, _openly(both, implied), COMMON),
        distinct_a=apart(problem.in_a, worth.distinct_a()),
        distinct_b=apart(problem.in_b, worth.distinct_b()),
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
    # what no third document holds is implied by nothing but other words for it; its evidence ranks it all the same
    worded = np.where(problem.occurs_b > 0, problem.worded_a, problem.worded_b)
    value = np.where(_linked(problem) | (worded >= 1), value, np.minimum(value, -JUST_BELOW))
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
    evidence += weights.base_weight * _base(problem)
    # where no path leads, being about the same field is no evidence; other words for the same thing are
    noise = NOISE * float(relevance[others].mean()) / problem.documents if others.any() and problem.documents else 0.0
    return np.where((relevance > noise) | (worded >= 1), evidence, -CERTAIN)


def _linked(problem: Problem) -> Flags:
    """Which phrases a third document of the neighbourhood holds, (P,); of a larger graph that is not asked."""
    graph = problem.graph
    if graph is None or not graph.dense:
        return np.ones(len(problem.phrases), dtype=bool)
    third = np.ones(graph.documents, dtype=bool)
    third[[*problem.side_a.columns, *problem.side_b.columns]] = False
    return np.asarray((graph.block()[:, third] > 0).any(axis=1))


def _base(problem: Problem) -> Floats:
    """How many of ``FEW`` documents hold each phrase, as a logarithm, (P,): what many are about, two are sooner."""
    return np.asarray(np.log(np.maximum(problem.frequency, 1) * FEW / max(problem.documents, FEW)), dtype=np.float64)


def _pieces(problem: Problem, implied: Flags) -> Flags:
    """What stands within an ``implied`` phrase: that one text alone is about it would contradict that both are."""
    wholes = [f" {phrase.replace(PAIR, ' , ')} " for phrase in compress(problem.phrases, implied.tolist())]
    return np.array([any(f" {phrase} " in whole for whole in wholes) for phrase in problem.phrases], dtype=bool)


def _openly(worth: Floats, implied: Flags) -> Floats:
    """Implied phrases, which readers doubt more than their evidence tells, between the bars: they fill up a list that
    has little that both texts say openly, and stand behind that."""
    between = COMMON.filling + (COMMON.telling - COMMON.filling) * chance(worth)
    return np.where(implied & (worth >= COMMON.filling), between, worth)


def _less_repeated(problem: Problem, chosen: Flags, worth: Floats) -> Floats:
    """Less for what repeats a word of a phrase that stands before it: a list is to tell one thing after the other."""
    told: set[str] = set()
    repeats = np.zeros(len(worth), dtype=bool)
    for i in ranked(problem.phrases, chosen, worth).index.tolist():
        words = set(phrase_words(problem.phrases[i])) - ENGLISH
        repeats[i] = not told.isdisjoint(words)
        told |= words
    return worth - REPEATED * repeats


def _relevance(problem: Problem, ready: Prepared) -> tuple[Floats, int, int]:
    """Relevance alone, or with lambda that of the joint problem."""
    p, calibration = problem.parameters, ready.calibration
    if p.lambda_ == 0:
        return calibration.alone.f, int(calibration.alone.iterations[0]), 1
    solution = solve_common(ready.graph, calibration.seeds, ready.in_a, ready.in_b, p).solution
    return solution.f, int(solution.inner[0]), int(solution.outer[0])


def _rank(problem: Problem, chosen: Flags, worth: Floats, bar: Bar) -> Ranked:
    """By worth: what tells a reader something, what may fill up a short list, the rest."""
    found = ranked(problem.phrases, chosen, worth)
    telling, filling = (int((found.score >= least).sum()) for least in bar)
    return Ranked(found.index, chance(found.score), telling=telling, filling=filling)
