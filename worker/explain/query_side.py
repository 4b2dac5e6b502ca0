"""A query as a side: a very short text, whose own one or two phrases give no scale to measure others by.

So all phrases that stand in the query take part, and the other side's phrases are ranked by their relevance to the
query: the ones well above their own average are common. What the query names and the other side lacks sets it apart.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from indexer.documents import AnalysedDocument, Salient
from indexer.model.bm25 import Weigher
from indexer.model.phrase_model import PhraseModel
from indexer.text.tokenizer import places
from worker.methods.base import Problem, Sorting
from worker.methods.ranked_lists import ranked
from worker.solver.parameters import Parameters

_LONGEST = 5
"""Words of the longest phrase."""
_PLACES = 3


def with_every_phrase(query: AnalysedDocument, model: PhraseModel) -> AnalysedDocument:
    """The query with every phrase of the model that stands in it, nested ones and single words included.

    Each is as salient as its weight, the largest 1.
    """
    found: dict[str, list[tuple[int, int]]] = {}
    position = 0
    for line in query.tokens.split("\n"):
        words = line.split()
        for start in range(len(words)):
            for end in range(start + 1, min(start + _LONGEST, len(words)) + 1):
                phrase = " ".join(words[start:end])
                if phrase in model.phrase_ids:
                    found.setdefault(phrase, []).append((position + start, position + end - 1))
        position += len(words)
    names = tuple(found)
    weights = Weigher(model).phrases(query.tokens.split(), names).tolist()
    top = max(weights, default=1.0)
    spans = places(query.document)
    salient = [
        Salient(name, weight / top, len(at), tuple((spans[i][0], spans[i][1], spans[j][2]) for i, j in at[:_PLACES]))
        for name, weight, at in sorted(
            zip(names, weights, found.values(), strict=True), key=lambda row: (-row[1], row[0])
        )
    ]
    return replace(query, phrases=names, weights=tuple(weights), salient=tuple(salient), degree=float(sum(weights)))


def for_a_query(parameters: Parameters) -> Parameters:
    """In the log domain, with a lower cut: a query's words are few, so the evidence is thinner for every phrase."""
    return replace(parameters, cut=parameters.cut / 2) if parameters.threshold == "log" else parameters


def ranked_for_a_query(problem: Problem, sorting: Sorting, query: Literal["a", "b"]) -> Sorting:
    """The sorting of a problem of which side ``query`` is a query, in the order of relevance to it.

    A query of words that are no phrases has no relevance to give: then words alone decide.
    """
    asked, hit = (problem.in_b, problem.in_a) if query == "b" else (problem.in_a, problem.in_b)
    words = problem.partial_b if query == "b" else problem.partial_a
    relevance = sorting.relevance_b if query == "b" else sorting.relevance_a
    common = problem.shared & problem.candidates
    if asked.any():
        common |= hit & (sorting.margin >= 0)
    else:
        relevance, common = words, hit & (words > 0)
    margin = np.where(common, np.maximum(sorting.margin, 0.0), np.minimum(sorting.margin, -1e-6))
    of_hit = ranked(problem.phrases, hit & ~common, problem.salience_a if query == "b" else problem.salience_b)
    of_query = ranked(problem.phrases, asked & ~common, problem.salience_b if query == "b" else problem.salience_a)
    return replace(
        sorting,
        common=ranked(problem.phrases, common, relevance),
        distinct_a=of_hit if query == "b" else of_query,
        distinct_b=of_query if query == "b" else of_hit,
        margin=margin,
    )
