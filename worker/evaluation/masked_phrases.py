"""Quality measured by masked phrases: cut a shared phrase out of one text and see whether it is still implied.

A multi-word phrase that is salient in both documents is cut out of b's text. The changed b is compared with a as an
ad-hoc document, with the original b left out of the graph: the phrase should rank above a's other salient phrases that
b lacks, and be listed in ``common``. No labels are needed, so this works on any index.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from indexer.defaults import DEFAULT_CAP
from indexer.documents import PAIR_SEPARATOR, AnalysedDocument
from indexer.engines.base import Reader
from indexer.engines.search_types import Selection
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.phrase_search import find_occurrences, locate_token_sequences
from worker.answer.comparison import Comparison
from worker.comparer import Comparer
from worker.evaluation.author_keywords import MethodRun
from worker.evaluation.quality_metrics import CaseProgress, compute_auc, compute_interval
from worker.explain.side import Side

MASKED_FIGURES = ("auc", "found", "others")
"""Means of the fields of ``MaskedOutcome``."""
_MAX_PARTNER_HITS = 30
"""Documents with the phrase among which a partner is drawn."""


@dataclass(frozen=True, slots=True)
class MaskedCase:
    """Ids of two documents, the phrase they share, and the text of b without it."""

    a: str
    b: str
    phrase: str
    text: str


@dataclass(frozen=True, slots=True)
class MaskedOutcome:
    """Rank and list of the masked phrase in one answer."""

    auc: float
    """Share of a's other one-sided phrases that the phrase ranks above, ties half."""
    is_found: bool
    """Whether the capped ``common`` list has the phrase."""
    others_share: float
    """Share of the other one-sided phrases that the capped ``common`` list has."""


def draw_masked_cases(reader: Reader, count: int, seed: int) -> list[MaskedCase]:
    """Draw up to ``count`` cases from the index's documents; each document is a at most once."""
    rng, lemmatizer = random.Random(seed), reader.model.lemmatizer
    pool = [d for d in sample_documents(reader, 4 * count, rng) if d.salient]
    cases: list[MaskedCase] = []
    for a in pool:
        if len(cases) == count:
            break
        phrases = [s.phrase for s in a.salient if " " in s.phrase and PAIR_SEPARATOR not in s.phrase]
        rng.shuffle(phrases)
        for phrase in phrases[:3]:
            b = _find_partner(reader, a, phrase, rng)
            if b is not None:
                cases.append(MaskedCase(a.document.id, b.document.id, phrase, remove_phrase(b, phrase, lemmatizer)))
                break
    return cases


def sample_documents(reader: Reader, count: int, rng: random.Random) -> list[AnalysedDocument]:
    """Draw a random sample of the index in one pass (reservoir sampling)."""
    sample: list[AnalysedDocument] = []
    for i, document in enumerate(reader.scan()):
        if len(sample) < count:
            sample.append(document)
        elif (position := rng.randrange(i + 1)) < count:
            sample[position] = document
    rng.shuffle(sample)
    return sample


def _find_partner(reader: Reader, a: AnalysedDocument, phrase: str, rng: random.Random) -> AnalysedDocument | None:
    """Return another document in which the phrase is salient."""
    hits = reader.search(Selection(words=tuple(phrase.split())), size=_MAX_PARTNER_HITS).hits
    partners = [
        hit.document
        for hit in hits
        if hit.id != a.document.id and any(s.phrase == phrase for s in hit.document.salient)
    ]
    return rng.choice(partners) if partners else None


def remove_phrase(document: AnalysedDocument, phrase: str, lemmatizer: Lemmatizer) -> str:
    """Return title and text without the phrase's tokens; ``lemmatizer`` is that of the document's index."""
    source = document.document
    fields = {"title": source.title, "text": source.text}
    spans = locate_token_sequences(source, find_occurrences(phrase, document.tokens), len(phrase.split()), lemmatizer)
    for field, start, end in sorted(spans, key=lambda span: -span[1]):
        fields[field] = fields[field][:start] + fields[field][end:]
    return f"{fields['title']}\n\n{fields['text']}"


def evaluate_masked(
    comparer: Comparer,
    index: str,
    cases: Sequence[MaskedCase],
    runs: Sequence[MethodRun],
    *,
    resamples: int = 200,
    seed: int = 1,
    progress: CaseProgress | None = None,
) -> dict[str, Any]:
    """Return the mean figures of every run over the same cases, with intervals."""
    outcomes: dict[str, list[MaskedOutcome]] = {run.name: [] for run in runs}
    for done, case in enumerate(cases):
        for run in runs:
            outcome = _score_case(case, _compare_case(comparer, index, case, run))
            if outcome is not None:
                outcomes[run.name].append(outcome)
        if progress:
            progress(done + 1, len(cases))
    return {"cases": len(cases), "rows": [_build_row(run, outcomes[run.name], resamples, seed) for run in runs]}


def _compare_case(comparer: Comparer, index: str, case: MaskedCase, run: MethodRun) -> Comparison:
    a, b = Side.from_id(case.a), Side("text", words=case.text)
    options = {"cap": DEFAULT_CAP, "candidates": True, **dict(run.changes)}
    spec = comparer.make_spec(index, a, b, method=run.method, preset=run.preset, options=options)
    return comparer.compare(replace(spec, excluded_ids=frozenset({case.b})))


def _score_case(case: MaskedCase, answer: Comparison) -> MaskedOutcome | None:
    """Return None where the phrase is no candidate or has nothing to be ranked against."""
    candidates = answer.candidates or {}
    margins = {c.phrase: c.margin for c in candidates.get("a", ())}
    common = {p for entry in answer.common for p in (entry.phrase, *entry.also)}
    shared = {entry.phrase for entry in answer.common if entry.kind == "shared"}
    in_b = {c.phrase for c in candidates.get("b", ())} | shared
    others = [p for p in margins if p != case.phrase and p not in in_b]
    if case.phrase not in margins or not others:
        return None
    scores = np.array([margins[case.phrase], *(margins[p] for p in others)])
    auc = compute_auc(scores, np.arange(len(scores)) == 0)
    return MaskedOutcome(auc, case.phrase in common, float(np.mean([p in common for p in others])))


def _build_row(run: MethodRun, outcomes: list[MaskedOutcome], resamples: int, seed: int) -> dict[str, Any]:
    table = np.array([(o.auc, float(o.is_found), o.others_share) for o in outcomes]).reshape(-1, len(MASKED_FIGURES))
    row: dict[str, Any] = {"name": run.name, "method": run.method, "preset": run.preset, "judged": len(table)}
    means = table.mean(axis=0).tolist() if len(table) else (0.5, 0.0, 0.0)
    row["figures"] = dict(zip(MASKED_FIGURES, means, strict=True))
    if len(table):
        rng = np.random.default_rng(seed)
        samples = [table[rng.integers(0, len(table), len(table))].mean(axis=0) for _ in range(resamples)]
        row["intervals"] = {name: compute_interval([s[i] for s in samples]) for i, name in enumerate(MASKED_FIGURES)}
    return row
