"""Reasons for hits that were found by their vectors alone: the nearest documents that have no word of the query.

Most of them should get an entry in ``common``, and its score should tell them from random documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from indexer.errors import BadInput
from indexer.progress import Progress
from indexer.vectors import decode_vector
from worker.evaluation.quality_metrics import compute_auc, compute_interval
from worker.evaluation.query_answers import HitAnswer, QueryRunner
from worker.evaluation.query_parts.query_shares import draw_queries, pool_shares
from worker.evaluation.query_parts.unrelated_documents import (
    has_word_of_family,
    list_asked_words,
    list_spellings_and_lemmas,
)

MAX_HITS = 3
"""Hits of a query that count."""


class VectorHits:
    """Nearest documents of an index by the exact cosine with the vector of a query."""

    def __init__(self, runner: QueryRunner) -> None:
        """Load all vectors of the index; raise BadInput if it has none."""
        self._runner = runner
        placed = [
            (analysed.document.id, decode_vector(analysed.document.vector))
            for analysed in runner.reader.scan()
            if analysed.document.vector is not None
        ]
        if not placed:
            raise BadInput(f"the documents of {runner.index} have no vectors", fix="index them with a vector")
        self._ids = [id for id, _ in placed]
        vectors = np.stack([vector for _, vector in placed])
        self._vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def find(self, query: str, depth: int) -> list[str]:
        """Return the first ``MAX_HITS`` among the ``depth`` nearest documents without a word of the query or of its
        family."""
        vector = np.asarray(self._runner.encode_query(query), dtype=np.float32)
        nearest = np.argsort(-(self._vectors @ vector), kind="stable")[:depth]
        asked = list_asked_words(self._runner, query)
        documents = self._runner.reader.fetch([self._ids[row] for row in nearest.tolist()])
        found = (
            document.document.id
            for document in documents
            if document is not None and not has_word_of_family(list_spellings_and_lemmas(document), asked)
        )
        return list(islice(found, MAX_HITS))


def measure_meaning_hits(
    runner: QueryRunner,
    hits_by_query: Mapping[str, Sequence[str]],
    random_answers: Sequence[HitAnswer],
    seed: int,
    answers: list[HitAnswer],
    progress: Progress,
) -> dict[str, Any]:
    """Return how many hits get an entry in ``common``, and the AUC of the first entry's score against random documents.

    ``random_answers``: of random documents of the same queries. The answers for the hits are added to ``answers``.
    """
    told: list[tuple[int, int]] = []
    misses = []
    scored: list[tuple[int, float, bool]] = []
    numbers = {query: number for number, query in enumerate(hits_by_query)}
    for query, hits in hits_by_query.items():
        page = runner.explain(query, hits)
        answers += page
        told.append((sum(bool(answer.common) for answer in page), len(page)))
        misses += [{"query": query, "hit": answer.hit} for answer in page if not answer.common]
        scored += [(numbers[query], _get_first_score(answer), True) for answer in page]
        progress("meaning", numbers[query] + 1, len(numbers))
    scored += [
        (numbers[answer.query], _get_first_score(answer), False)
        for answer in random_answers
        if answer.query in numbers and answer.hit not in hits_by_query[answer.query]
    ]
    row = pool_shares({"meaning_told": told}, seed)
    _add_auc(row, scored, len(numbers), seed)
    return {"queries": len(numbers), **row, "misses": misses}


def _get_first_score(answer: HitAnswer) -> float:
    return float(answer.common[0]["score"]) if answer.common else 0.0


def _add_auc(row: dict[str, Any], scored: Sequence[tuple[int, float, bool]], query_count: int, seed: int) -> None:
    """Add the AUC of hits against random documents; ``scored``: number of the query, score, whether it is a hit."""
    queries = np.array([query for query, _, _ in scored], dtype=np.int64)
    scores = np.array([score for _, score, _ in scored])
    is_hit = np.array([hit for _, _, hit in scored], dtype=np.bool_)
    row["of"]["meaning_auc"] = len(scored)
    row["figures"]["meaning_auc"] = None
    if is_hit.all() or not is_hit.any():
        return
    row["figures"]["meaning_auc"] = compute_auc(scores, is_hit)
    weights = (draws[queries] for draws in draw_queries(query_count, seed))
    samples = [compute_auc(scores, is_hit, own) for own in weights if own[is_hit].any() and own[~is_hit].any()]
    if samples:
        row["intervals"]["meaning_auc"] = compute_interval(samples)
