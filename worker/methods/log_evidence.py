"""Sorting of the default preset: evidence that a side is about a phrase it lacks, in the log domain.

A phrase in both texts is common. For one that a holds and b lacks four kinds of evidence add up:

* the graph: ln(f'_i + m), less its mean over a's salient phrases, m the mean of f' over those that b lacks.
  Relevance to b as Eq. 7 gives it on the neighbourhood, against what the phrases of a get anyway;
* partial match: how much of the phrase b holds in some form (its words, their families, acronyms);
* topics: the cosine of b with the other documents that contain the phrase;
* the base rate: how many documents contain it.

From ``cut`` on it is common (implied), below it is distinct of its side.

Lists are ranked by the odds that a reader keeps a phrase (``phrase_ranking.py``), those of the texts themselves
(``text_problem``) among the others, and end where these are too low.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import compress
from typing import NamedTuple

import numpy as np

from indexer.documents import PAIR_SEPARATOR
from indexer.model.bm25 import split_phrase_words
from indexer.text.stopwords import ENGLISH_STOPWORDS
from worker.methods.base import EMPTY_LIST, MethodResult, PairProblem, RankedList, SideFeatures
from worker.methods.method_results import rank_phrases
from worker.methods.phrase_ranking import ReaderOdds, odds_to_probability
from worker.methods.relevance import PreparedPair
from worker.solver.paper_common import solve_common
from worker.solver.parameters import MIN_DOCUMENTS_FOR_GRAPH
from worker.solver.ranking_weights import ReaderOddsWeights
from worker.solver.subgraph import Flags, Floats

NOISE_SHARE = 0.003
"""Relevance below this share of what every document would get if it spread evenly over the corpus counts as none."""
CONTRADICTION_ODDS = -9.0
"""Log odds of a phrase that would contradict another list."""
MIN_DISTANCE_BELOW_CUT = 0.01
"""Distance below the cut of a phrase that must not be common."""
SHARED_MARGIN = 4.0
"""Minimum margin of a phrase in both texts: above what the evidence for an implied one usually adds up to."""


def sort_by_evidence(problem: PairProblem, prepared: PreparedPair) -> MethodResult:
    """Sort as common the phrases of both texts and those from the cut on; the rest is distinct of its side."""
    measured = measure_relevance_and_margins(problem, prepared)
    sorted_phrases = _sort_candidates(problem, measured.margin)
    if problem.text_problem is not None:
        measured = _append_text_phrases(measured, problem.text_problem)
        text_margin = measured.margin[len(problem.phrases) :]
        sorted_phrases = sorted_phrases.join(_sort_candidates(problem.text_problem, text_margin))
    noise = problem.measure_noise() if sorted_phrases.is_implied.any() else None
    weights, phrases = problem.parameters.reader_odds, measured.phrases
    contradicts = _is_part_of_implied(phrases, sorted_phrases.is_implied)

    def rank_distinct(is_distinct: Flags, distinct_odds: Floats) -> RankedList:
        return rank_distinct_by_odds(
            phrases, weights, is_distinct, np.where(contradicts, CONTRADICTION_ODDS, distinct_odds)
        )

    is_common = sorted_phrases.is_common
    common_odds = _penalise_repeated_words(phrases, weights, is_common, sorted_phrases.common_odds)
    return replace(
        measured,
        noise=None if noise is None else np.full(len(phrases), noise),
        common=_rank_by_odds(phrases, is_common, common_odds, weights.common_informative),
        distinct_a=rank_distinct(sorted_phrases.is_distinct_a, sorted_phrases.distinct_odds_a),
        distinct_b=rank_distinct(sorted_phrases.is_distinct_b, sorted_phrases.distinct_odds_b),
    )


class _SortedCandidates(NamedTuple):
    """Which list each candidate is for, and the log odds that a reader keeps it there; arrays of shape (P,)."""

    is_common: Flags
    is_implied: Flags
    is_distinct_a: Flags
    is_distinct_b: Flags
    common_odds: Floats
    distinct_odds_a: Floats
    distinct_odds_b: Floats

    def join(self, other: _SortedCandidates) -> _SortedCandidates:
        """Return these candidates followed by others."""
        return _SortedCandidates(*[np.concatenate(both) for both in zip(self, other, strict=True)])


def _sort_candidates(problem: PairProblem, margin: Floats) -> _SortedCandidates:
    """Sort the candidates of a problem by how far above the cut for common phrases they are, (P,)."""
    odds = ReaderOdds(problem)
    is_common = (margin >= 0) & problem.is_candidate
    is_implied = is_common & ~problem.is_shared
    return _SortedCandidates(
        is_common,
        is_implied,
        problem.a.is_salient & ~is_common,
        problem.b.is_salient & ~is_common,
        odds.compute_common_odds(is_implied, margin),
        odds.compute_distinct_odds_a(),
        odds.compute_distinct_odds_b(),
    )


def _append_text_phrases(measured: MethodResult, text_problem: PairProblem) -> MethodResult:
    """Return the result with the phrases that only the texts show: common where both have them, of no relevance."""
    none = np.zeros(len(text_problem.phrases))
    return replace(
        measured,
        phrases=[*measured.phrases, *text_problem.phrases],
        relevance_a=np.concatenate([measured.relevance_a, none]),
        relevance_b=np.concatenate([measured.relevance_b, none]),
        margin=np.concatenate([measured.margin, np.where(text_problem.is_shared, SHARED_MARGIN, -SHARED_MARGIN)]),
    )


def rank_distinct_by_odds(
    phrases: Sequence[str],
    weights: ReaderOddsWeights,
    is_distinct: Flags,
    odds: Floats,
    *,
    with_unlisted: bool = True,
) -> RankedList:
    """Rank the phrases that set a side apart by the odds that a reader keeps each, (P,).

    ``with_unlisted``: rank also those that cannot even fill up a list; otherwise they come last, in no order.
    """
    unlisted = np.zeros(0, dtype=np.int64)
    if not with_unlisted:
        # the penalty only lowers odds, unless it is set to a negative number
        may_be_listed = odds - min(weights.repeated_word_penalty, 0.0) >= weights.distinct_filler
        unlisted = np.flatnonzero(is_distinct & ~may_be_listed)
        is_distinct = is_distinct & may_be_listed
    odds = _penalise_repeated_words(phrases, weights, is_distinct, odds)
    ranking = _rank_by_odds(phrases, is_distinct, odds, weights.distinct_informative, weights.distinct_filler)
    if not len(unlisted):
        return ranking
    return replace(
        ranking,
        indices=np.concatenate([ranking.indices, unlisted]),
        scores=np.concatenate([ranking.scores, np.zeros(len(unlisted))]),
    )


def measure_relevance_and_margins(problem: PairProblem, prepared: PreparedPair) -> MethodResult:
    """Return relevance and margins of all candidates, with empty lists."""
    f, iterations, rounds = _solve_relevance_and_count_steps(problem, prepared)
    relevance = prepared.calibration.divide_by_mean(f)
    is_exact = prepared.graph.is_dense and not problem.parameters.delta
    return MethodResult(
        phrases=problem.phrases,
        common=EMPTY_LIST,
        distinct_a=EMPTY_LIST,
        distinct_b=EMPTY_LIST,
        relevance_a=relevance[:, 0],
        relevance_b=relevance[:, 1],
        margin=compute_margins(problem, f),
        iterations=iterations,
        rounds=rounds,
        notes=tuple(problem.parameters.build_notes()),
        exact_relevance=prepared.calibration.unscaled_relevance if is_exact else None,
    )


def compute_margins(problem: PairProblem, relevance: Floats) -> Floats:
    """Return how far above (>= 0) or below the cut each phrase is, (P,); ``relevance`` (P, 2) is that to a and b."""
    a, b = problem.a, problem.b
    for_b = _sum_evidence(problem, holder=a, lacking=b, relevance=relevance[:, 1])
    for_a = _sum_evidence(problem, holder=b, lacking=a, relevance=relevance[:, 0])
    cut = problem.parameters.compute_cut_for_corpus(problem.corpus_size)
    either = np.where(b.is_salient, for_a, for_b)
    margin = np.where(a.is_salient & b.is_salient, np.maximum(for_b, for_a), either) - cut
    # a phrase of no neighbour can be implied by other words for it only; its evidence ranks it all the same
    match = np.where(b.count > 0, a.partial_match, b.partial_match)
    margin = np.where(_has_neighbour(problem) | (match >= 1), margin, np.minimum(margin, -MIN_DISTANCE_BELOW_CUT))
    return np.where(problem.is_shared, np.maximum(margin, SHARED_MARGIN), margin)


def _sum_evidence(problem: PairProblem, *, holder: SideFeatures, lacking: SideFeatures, relevance: Floats) -> Floats:
    """Return the evidence that ``lacking`` is about each phrase of ``holder``, (P,), from its relevance (P,)."""
    own, parameters = holder.is_salient, problem.parameters
    alone = own & ~problem.is_shared
    # the relevance of one average phrase is added to each: below the average, small differences are noise
    usual = float(relevance[alone].mean()) if alone.any() else 0.0
    logs = np.log(relevance + usual, out=np.zeros_like(relevance), where=relevance + usual > 0)
    graph = logs - float(logs[own].mean()) if own.any() else logs
    evidence = graph + parameters.word_weight * lacking.partial_match + parameters.topic_weight * lacking.topic_cosine
    evidence += parameters.base_weight * _log_base_rate(problem)
    # where no path leads, being about the same field is no evidence; other words for the same thing are
    others, noise = lacking.is_salient, 0.0
    if others.any() and problem.corpus_size:
        noise = NOISE_SHARE * float(relevance[others].mean()) / problem.corpus_size
    return np.where((relevance > noise) | (lacking.partial_match >= 1), evidence, -SHARED_MARGIN)


def _has_neighbour(problem: PairProblem) -> Flags:
    """Return which phrases a neighbour contains, (P,); all of them if the graph is too large to check."""
    graph = problem.graph
    if graph is None or not graph.is_dense:
        return np.ones(len(problem.phrases), dtype=bool)
    has_edge = graph.to_dense() > 0
    has_edge[:, [*problem.a.seed.columns, *problem.b.seed.columns]] = False
    return np.asarray(has_edge.any(axis=1))


def _log_base_rate(problem: PairProblem) -> Floats:
    """Return the logarithm of how many of ``MIN_DOCUMENTS_FOR_GRAPH`` documents contain each phrase, (P,).

    Two texts are more likely to be about a phrase that many documents are about.
    """
    expected = np.maximum(problem.document_frequency, 1) * MIN_DOCUMENTS_FOR_GRAPH
    return np.asarray(np.log(expected / max(problem.corpus_size, MIN_DOCUMENTS_FOR_GRAPH)), dtype=np.float64)


def _is_part_of_implied(phrases: Sequence[str], implied: Flags) -> Flags:
    """Return which phrases are part of an ``implied`` one, (P,).

    That one text alone is about the part would contradict that both are about the phrase.
    """
    containers = [f" {phrase.replace(PAIR_SEPARATOR, ' , ')} " for phrase in compress(phrases, implied.tolist())]
    text = "\n".join(containers)
    return np.array([f" {phrase} " in text for phrase in phrases], dtype=bool)


def _penalise_repeated_words(phrases: Sequence[str], weights: ReaderOddsWeights, chosen: Flags, odds: Floats) -> Floats:
    """Lower the odds of a phrase that repeats a word of a phrase ranked before it: each entry should add something."""
    used: set[str] = set()
    repeats = np.zeros(len(odds), dtype=bool)
    for i in rank_phrases(phrases, chosen, odds).indices.tolist():
        words = [word for word in split_phrase_words(phrases[i]) if word not in ENGLISH_STOPWORDS]
        repeats[i] = not used.isdisjoint(words)
        used.update(words)
    return odds - weights.repeated_word_penalty * repeats


def _solve_relevance_and_count_steps(problem: PairProblem, prepared: PreparedPair) -> tuple[Floats, int, int]:
    """Return relevance (P, 2), inner steps and outer rounds: of lambda = 0, or else of the joint problem."""
    calibration = prepared.calibration
    if problem.parameters.lambda_ == 0:
        return calibration.relevance.f, int(calibration.relevance.iterations[0]), 1
    solution = solve_common(
        prepared.graph, calibration.seeds, prepared.in_a, prepared.in_b, problem.parameters
    ).solution
    return solution.f, int(solution.inner_steps[0]), int(solution.outer_rounds[0])


def _rank_by_odds(
    phrases: Sequence[str],
    chosen: Flags,
    odds: Floats,
    min_informative_odds: float,
    min_filler_odds: float | None = None,
) -> RankedList:
    """Rank the chosen phrases by odds and count those from the thresholds of informative phrases and fillers on.

    ``min_filler_odds`` None: there are no fillers.
    """
    ranking = rank_phrases(phrases, chosen, odds)
    return RankedList(
        ranking.indices,
        odds_to_probability(ranking.scores),
        informative=int(np.count_nonzero(ranking.scores >= min_informative_odds)),
        fillers=int(
            np.count_nonzero(ranking.scores >= (min_informative_odds if min_filler_odds is None else min_filler_odds))
        ),
    )
