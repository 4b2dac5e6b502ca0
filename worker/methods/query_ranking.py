"""The ranking where one side is a query: its own one or two phrases give no scale to measure others by.

The other side's phrases are ranked by their relevance to the query: those well above their own average are common. A
phrase of the query that the other side lacks is distinct of the query.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from worker.methods.base import MethodResult, PairProblem
from worker.methods.method_results import rank_phrases
from worker.solver.parameters import Parameters


def halve_cut_for_query(parameters: Parameters) -> Parameters:
    """Halve the cut in the log domain: a query has few words, so the evidence for every phrase is thinner."""
    return replace(parameters, cut=parameters.cut / 2) if parameters.threshold == "log" else parameters


def rank_for_query(problem: PairProblem, measured: MethodResult, query_side: Literal["a", "b"]) -> MethodResult:
    """Rank the candidates by relevance to the side ``query_side``, given relevance and margins of all of them.

    A query of words that are no phrases has no relevance to give: then the BM25 of its words alone decides.
    """
    if query_side == "b":
        asked, hit, relevance = problem.b, problem.a, measured.relevance_b
    else:
        asked, hit, relevance = problem.a, problem.b, measured.relevance_a
    common = problem.is_shared & problem.is_candidate
    if asked.is_salient.any():
        common |= hit.is_salient & (measured.margin >= 0)
    else:
        relevance, common = asked.word_bm25, hit.is_salient & (asked.word_bm25 > 0)
    margin = np.where(common, np.maximum(measured.margin, 0.0), np.minimum(measured.margin, -1e-6))
    distinct_hit = rank_phrases(problem.phrases, hit.is_salient & ~common, hit.salience)
    distinct_query = rank_phrases(problem.phrases, asked.is_salient & ~common, asked.salience)
    return replace(
        measured,
        common=rank_phrases(problem.phrases, common, relevance),
        distinct_a=distinct_hit if query_side == "b" else distinct_query,
        distinct_b=distinct_query if query_side == "b" else distinct_hit,
        margin=margin,
    )
