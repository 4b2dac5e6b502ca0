"""Masked phrases as a test: hide a shared phrase from one text, and see whether it is still found.

A multi-word phrase that is salient on both sides is cut out of b's text. The changed b enters as a
guest, the original b is left out of the graph, and a is compared with it: the phrase should rank above
a's other salient phrases that b lacks, and stand in ``common``. No labels are needed, so this works on
any index.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from indexer.documents import PAIR, AnalysedDocument
from indexer.engines.base import Reader, Selection
from indexer.text.tokenizer import locate, occurrences
from worker.answer.comparison import Comparison
from worker.comparer import Comparer
from worker.evaluation.author_keywords import Run
from worker.evaluation.metrics import interval
from worker.explain.side import Side

CAP = 8
_NEAR = 30
"""How many documents that hold the phrase are looked at to find a partner."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Masked:
    """One case: a, the phrase, b and b's text without it."""

    a: str
    b: str
    phrase: str
    text: str


@dataclass(frozen=True, slots=True)
class Outcome:
    auc: float
    """Share of a's other one-sided phrases that the phrase ranks above."""
    found: bool
    """Whether it stands in ``common`` at the cap."""
    others: float
    """Share of the other one-sided phrases that stand there."""


def masked_cases(reader: Reader, count: int, seed: int) -> list[Masked]:
    """Cases drawn over the index's documents; each document is a at most once."""
    chance = random.Random(seed)
    pool = [d for d in _sample(reader, 4 * count, chance) if d.salient]
    cases: list[Masked] = []
    for document in pool:
        if len(cases) == count:
            break
        shared = [s.phrase for s in document.salient if " " in s.phrase and PAIR not in s.phrase]
        chance.shuffle(shared)
        for phrase in shared[:3]:
            partner = _partner(reader, document, phrase, chance)
            if partner is not None:
                cases.append(Masked(document.document.id, partner.document.id, phrase, cut_out(partner, phrase)))
                break
    return cases


def _sample(reader: Reader, count: int, chance: random.Random) -> list[AnalysedDocument]:
    """A random sample of the index in one pass."""
    kept: list[AnalysedDocument] = []
    for i, document in enumerate(reader.scan()):
        if len(kept) < count:
            kept.append(document)
        elif (at := chance.randrange(i + 1)) < count:
            kept[at] = document
    chance.shuffle(kept)
    return kept


def _partner(reader: Reader, a: AnalysedDocument, phrase: str, chance: random.Random) -> AnalysedDocument | None:
    """Another document in which the phrase is salient."""
    hits = reader.search(Selection(words=tuple(phrase.split())), size=_NEAR).hits
    fitting = [
        hit.document
        for hit in hits
        if hit.id != a.document.id and any(s.phrase == phrase for s in hit.document.salient)
    ]
    return chance.choice(fitting) if fitting else None


def cut_out(document: AnalysedDocument, phrase: str) -> str:
    """Title and text without the phrase's tokens."""
    source = document.document
    fields = {"title": source.title, "text": source.text}
    spans = locate(source, occurrences(phrase, document.tokens), len(phrase.split()))
    for field, start, end in sorted(spans, key=lambda span: -span[1]):
        fields[field] = fields[field][:start] + fields[field][end:]
    return f"{fields['title']}\n\n{fields['text']}"


def evaluate_masked(
    comparer: Comparer,
    index: str,
    cases: Sequence[Masked],
    runs: Sequence[Run],
    *,
    resamples: int = 200,
    seed: int = 1,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Mean figures of every run over the same cases, with intervals."""
    outcomes: dict[str, list[Outcome]] = {run.name: [] for run in runs}
    for done, case in enumerate(cases):
        for run in runs:
            outcome = _outcome(case, _answer(comparer, index, case, run))
            if outcome is not None:
                outcomes[run.name].append(outcome)
        if progress:
            progress(done + 1, len(cases))
    return {"cases": len(cases), "rows": [_row(run, outcomes[run.name], resamples, seed) for run in runs]}


def _answer(comparer: Comparer, index: str, case: Masked, run: Run) -> Comparison:
    a, b = Side.document(case.a), Side("text", words=case.text)
    options = {"cap": CAP, "candidates": True, **dict(run.changes)}
    question = comparer.question(index, a, b, method=run.method, preset=run.preset, options=options)
    return comparer.compare(replace(question, without=frozenset({case.b})))


def _outcome(case: Masked, answer: Comparison) -> Outcome | None:
    """None where the phrase is no candidate or has nothing to be ranked against."""
    candidates = answer.candidates or {}
    margins = {c.phrase: c.margin for c in candidates.get("a", ())}
    shown = {p for entry in answer.common for p in (entry.phrase, *entry.also)}
    shared = {entry.phrase for entry in answer.common if entry.kind == "shared"}
    in_b = {c.phrase for c in candidates.get("b", ())} | shared
    others = [p for p in margins if p != case.phrase and p not in in_b]
    if case.phrase not in margins or not others:
        return None
    own = margins[case.phrase]
    above = [float(own > margins[p]) + 0.5 * float(own == margins[p]) for p in others]
    return Outcome(float(np.mean(above)), case.phrase in shown, float(np.mean([p in shown for p in others])))


def _row(run: Run, outcomes: list[Outcome], resamples: int, seed: int) -> dict[str, Any]:
    table = np.array([(o.auc, float(o.found), o.others) for o in outcomes]).reshape(-1, 3)
    names = ("auc", "found", "others")
    row: dict[str, Any] = {"name": run.name, "method": run.method, "preset": run.preset, "judged": len(table)}
    row["figures"] = dict(zip(names, table.mean(axis=0).tolist() if len(table) else (0.5, 0.0, 0.0), strict=True))
    if len(table):
        chance = np.random.default_rng(seed)
        drawn = [table[chance.integers(0, len(table), len(table))].mean(axis=0) for _ in range(resamples)]
        row["intervals"] = {name: interval([d[i] for d in drawn]) for i, name in enumerate(names)}
    return row
