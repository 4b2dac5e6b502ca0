"""Random documents that have nothing to do with a query, which should get no entry in ``common``."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from itertools import islice
from typing import Any

from indexer.documents import AnalysedDocument
from indexer.progress import Progress
from worker.evaluation.query_answers import HitAnswer, QueryRunner, fold_words
from worker.evaluation.query_parts.query_shares import pool_shares
from worker.explain.text.partial_match import MIN_STEM_LENGTH, is_same_word_family


def measure_unrelated(
    runner: QueryRunner,
    queries: Sequence[str],
    pool: Sequence[AnalysedDocument],
    count: int,
    seed: int,
    answers: list[HitAnswer],
    progress: Progress,
) -> dict[str, Any]:
    """Return the share of unrelated documents that get an entry in ``common``, ``count`` of the pool for each query.

    The answers are added to ``answers``.
    """
    drawer = UnrelatedDrawer(runner, pool)
    told: list[tuple[int, int]] = []
    for done, query in enumerate(queries):
        page = runner.explain(query, drawer.draw(query, count, seed))
        answers += page
        told.append((sum(bool(answer.common) for answer in page), len(page)))
        progress("unrelated", done + 1, len(queries))
    return {"queries": len(queries), **pool_shares({"unrelated_told": told}, seed)}


class UnrelatedDrawer:
    """Draws documents that have no word of a query, by lemma or by spelling, and none of the same word family."""

    def __init__(self, runner: QueryRunner, pool: Sequence[AnalysedDocument]) -> None:
        self._runner = runner
        self._words_by_id = {document.document.id: list_spellings_and_lemmas(document) for document in pool}

    def draw(self, query: str, count: int, seed: int) -> list[str]:
        """Return the ids of up to ``count`` documents; other queries do not change them."""
        asked = list_asked_words(self._runner, query)
        ids = list(self._words_by_id)
        random.Random(f"{seed}:{query}").shuffle(ids)
        return list(islice((id for id in ids if not has_word_of_family(self._words_by_id[id], asked)), count))


def list_asked_words(runner: QueryRunner, query: str) -> frozenset[str]:
    """Return the content words of a query, folded to lower case, and their lemmas."""
    words = runner.select_content_words(fold_words(query))
    return frozenset(words).union(*runner.lemmatize_all(words))


def has_word_of_family(words: Collection[str], asked: frozenset[str]) -> bool:
    """Return whether one of the words is one of those asked for, or of the family of one."""
    if not asked.isdisjoint(words):
        return True
    stems = {word[:MIN_STEM_LENGTH] for word in asked}
    alike = [word for word in words if word[:MIN_STEM_LENGTH] in stems]
    return any(is_same_word_family(word, other) for word in asked for other in alike)


def list_spellings_and_lemmas(document: AnalysedDocument) -> frozenset[str]:
    """Return the words of title and text, folded to lower case, and their lemmas."""
    return frozenset([*list_folded_words(document), *document.tokens.split()])


def list_folded_words(document: AnalysedDocument) -> list[str]:
    """Return the words of title and text without the difference of upper and lower case."""
    return [*fold_words(document.document.title), *fold_words(document.document.text)]
