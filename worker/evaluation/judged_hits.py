"""Quality measured by an editor's judgements: hits of queries with their relevance and the reasons to show.

Told are matched words, then the entries of ``common``. A reason of the editor is told by an entry that has at least
half of the reason's words, by lemma and without function words. Queries are split in two halves by a hash: rules are
chosen on ``choose``, figures are reported on ``report``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.errors import BadInput
from indexer.progress import Progress
from worker.evaluation.gold import read_json_lines
from worker.evaluation.quality_metrics import compute_auc, compute_interval
from worker.evaluation.query_answers import SHOWN_REASONS, HitAnswer, QueryRunner, ToldEntry, fold_words
from worker.evaluation.query_parts.query_shares import draw_queries

HALVES = ("choose", "report")
ALL_HALVES = "all"
JUDGED_FIGURES = ("relevant_told", "reason_at3", "irrelevant_confident", "irrelevant_told", "auc")
CONFIDENT_SCORE = 0.5
"""Score from which an entry is more likely kept than deleted by a reader."""


@dataclass(frozen=True, slots=True)
class JudgedHit:
    """A hit of a query as an editor judged it."""

    query: str
    kind: str
    """Kind of query: ``name``, ``need`` or ``between``."""
    hit: str
    relevance: int
    """2: the visitor is glad of it; 1: it has to do with the query; 0: it has not."""
    reasons: tuple[str, ...] = ()
    """What the editor would show as the reason, best first."""


def choose_half(query: str) -> str:
    """Return the half that a query belongs to."""
    digest = hashlib.sha256(b"half:" + query.encode()).digest()
    return HALVES[int.from_bytes(digest[:4], "big") % len(HALVES)]


def read_judged_hits(path: Path, half: str = ALL_HALVES) -> list[JudgedHit]:
    """Read the judgements of one half (or of ``all``) from JSON lines; raise BadInput if a line is none."""
    judged = [_parse_judged_hit(row, path) for row in read_json_lines(path, ("query", "hit", "relevance"))]
    return [hit for hit in judged if half in (ALL_HALVES, choose_half(hit.query))]


def _parse_judged_hit(row: Mapping[str, Any], path: Path) -> JudgedHit:
    if row["relevance"] not in (0, 1, 2):
        raise BadInput(f"relevance {row['relevance']!r} in {path}", fix="judge each hit 0, 1 or 2")
    reasons = tuple(map(str, row.get("reasons") or ()))
    return JudgedHit(str(row["query"]), str(row.get("kind", "")), str(row["hit"]), row["relevance"], reasons)


@dataclass(frozen=True, slots=True)
class JudgedOutcome:
    """What was told of one judged hit."""

    judged: JudgedHit
    is_told: bool
    """Whether any reason was told."""
    has_common: bool
    """Whether ``common`` has an entry."""
    best_common: float
    """Highest score in ``common``; 0 if it is empty."""
    is_reason_shown: bool
    """Whether one of the editor's reasons is among the first reasons told."""


def evaluate_judged_hits(
    runner: QueryRunner, judged: Sequence[JudgedHit], seed: int, answers: list[HitAnswer], progress: Progress
) -> dict[str, Any]:
    """Return the figures over all judged hits and by kind of query, with intervals resampled by query.

    Hits that are not in the index are counted as ``unknown`` and left out; raise BadInput if no hit is left. The
    answers are added to ``answers``.
    """
    by_query: dict[str, list[JudgedHit]] = {}
    for hit in judged:
        by_query.setdefault(hit.query, []).append(hit)
    outcomes: list[JudgedOutcome] = []
    for done, (query, listed) in enumerate(by_query.items()):
        documents = runner.reader.fetch([hit.hit for hit in listed])
        hits = [hit for hit, document in zip(listed, documents, strict=True) if document is not None]
        page = runner.explain(query, [hit.hit for hit in hits])
        answers += page
        outcomes += [_score_answer(runner, hit, answer) for hit, answer in zip(hits, page, strict=True)]
        progress("judged", done + 1, len(by_query))
    if not outcomes:
        raise BadInput(f"no judged hit is in the index {runner.index}", fix="name the index of the judged documents")
    kinds = dict.fromkeys(outcome.judged.kind for outcome in outcomes)
    return _build_row(outcomes, seed) | {
        "unknown": len(judged) - len(outcomes),
        "kinds": {kind: _build_row([o for o in outcomes if o.judged.kind == kind], seed) for kind in kinds},
    }


def _score_answer(runner: QueryRunner, judged: JudgedHit, answer: HitAnswer) -> JudgedOutcome:
    told = runner.list_told_entries(answer)
    best_common = max((float(entry["score"]) for entry in answer.common), default=0.0)
    return JudgedOutcome(
        judged,
        is_told=bool(told),
        has_common=bool(answer.common),
        best_common=best_common,
        is_reason_shown=any(tells_reason(runner, told[:SHOWN_REASONS], reason) for reason in judged.reasons),
    )


def tells_reason(runner: QueryRunner, told: Sequence[ToldEntry], reason: str) -> bool:
    """Return whether an entry has at least half of the reason's words, by lemma and without function words."""
    words = runner.select_content_words(fold_words(reason))
    lemmas = runner.lemmatize_all(words)
    return bool(words) and any(
        2 * sum(not entry.words.isdisjoint([word, *own]) for word, own in zip(words, lemmas, strict=True)) >= len(words)
        for entry in told
    )


def _build_row(outcomes: Sequence[JudgedOutcome], seed: int) -> dict[str, Any]:
    """Return the figures of some outcomes, their intervals and the number of hits by relevance."""
    queries = {query: row for row, query in enumerate(dict.fromkeys(o.judged.query for o in outcomes))}
    rows = np.array([queries[o.judged.query] for o in outcomes])
    samples = [compute_judged_figures(outcomes, draws[rows]) for draws in draw_queries(len(queries), seed)]
    relevant = sum(o.judged.relevance > 0 for o in outcomes)
    irrelevant = len(outcomes) - relevant
    of = (relevant, relevant, irrelevant, irrelevant, len(outcomes))
    return {
        "queries": len(queries),
        "of": dict(zip(JUDGED_FIGURES, of, strict=True)),
        "figures": compute_judged_figures(outcomes, np.ones(len(outcomes))),
        "intervals": {
            name: compute_interval(known)
            for name in JUDGED_FIGURES
            if (known := [value for s in samples if (value := s[name]) is not None])
        },
    }


def compute_judged_figures(outcomes: Sequence[JudgedOutcome], weights: NDArray[np.float64]) -> dict[str, float | None]:
    """Return each of ``JUDGED_FIGURES``, None where no hit of its class counts; ``weights``: shape (outcomes,)."""
    is_relevant = np.array([o.judged.relevance > 0 for o in outcomes])

    def share(values: Sequence[bool], members: NDArray[np.bool_]) -> float | None:
        total = weights[members].sum()
        return float(weights[members] @ np.array(values, dtype=np.float64)[members] / total) if total else None

    has_both = weights[is_relevant].any() and weights[~is_relevant].any()
    best = np.array([o.best_common for o in outcomes])
    return {
        "relevant_told": share([o.is_told for o in outcomes], is_relevant),
        "reason_at3": share([o.is_reason_shown for o in outcomes], is_relevant),
        "irrelevant_confident": share([o.best_common >= CONFIDENT_SCORE for o in outcomes], ~is_relevant),
        "irrelevant_told": share([o.has_common for o in outcomes], ~is_relevant),
        "auc": compute_auc(best, is_relevant, weights) if has_both else None,
    }
