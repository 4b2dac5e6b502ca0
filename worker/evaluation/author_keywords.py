"""Quality measured by author keywords: how well each method sorts and shows the keywords of document pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.defaults import DEFAULT_CAP
from worker.answer.comparison import Comparison, Entry
from worker.comparer import Comparer
from worker.evaluation.gold import GoldPair
from worker.evaluation.quality_metrics import (
    SORTING_FIGURES,
    AnswerLists,
    CaseProgress,
    KeywordTally,
    compute_interval,
)
from worker.explain.side import Side

BASELINE = "containment"
COSINE_BANDS = ((0.05, 0.2), (0.2, 0.6), (0.6, 1.01))
"""Ranges of the TF-IDF cosine of a pair's texts that have figures of their own."""
FREQUENT_DOCUMENT_SHARE = 0.01
"""Share of the documents above which a phrase is too frequent to say much."""

Samples = Sequence[Mapping[str, float]]
"""Figures of every bootstrap sample."""


@dataclass(frozen=True, slots=True)
class MethodRun:
    """A method with a preset and changed parameters: one row of the table."""

    method: str
    preset: str
    changes: tuple[tuple[str, object], ...] = ()

    @property
    def name(self) -> str:
        name = f"{self.method}/{self.preset}" if self.method.startswith("cda") else self.method
        return " ".join([name, *(f"{parameter}={value}" for parameter, value in self.changes)])


def vary_parameter(runs: Sequence[MethodRun], parameter: str, values: Sequence[object]) -> Iterator[MethodRun]:
    """Yield every run of cda, the method that has parameters, with each value of one parameter."""
    for run in runs:
        if run.method == "cda":
            yield from (MethodRun(run.method, run.preset, ((parameter, value),)) for value in values)


def evaluate_keywords(
    comparer: Comparer,
    index: str,
    pairs: Sequence[GoldPair],
    runs: Sequence[MethodRun],
    *,
    resamples: int = 200,
    seed: int = 1,
    progress: CaseProgress | None = None,
) -> dict[str, Any]:
    """Return the figures of every run over the same pairs: with intervals, per band, and against containment."""
    model = comparer.engine.open_reader(index).model
    frequent_ids = np.flatnonzero(model.document_frequency > FREQUENT_DOCUMENT_SHARE * model.document_count)
    frequent = frozenset(model.phrases[int(i)] for i in frequent_ids)
    bands = _mask_pairs_by_band(pairs, [compute_text_cosine(comparer, index, pair) for pair in pairs])
    tallies = {run.name: KeywordTally() for run in runs}
    steps = {run.name: (0, 0) for run in runs}
    for done, pair in enumerate(pairs):
        for run in runs:
            uncapped, capped = _compare_uncapped_and_capped(comparer, index, pair, run)
            lists = extract_lists(uncapped, capped)
            inner, outer = steps[run.name]
            steps[run.name] = max(inner, uncapped.stats.iterations), max(outer, uncapped.stats.rounds)
            tallies[run.name].add(pair.a.document.id, pair.b.document.id, pair.labels, lists, frequent)
        if progress:
            progress(done + 1, len(pairs))
    samples = {name: tally.resample_figures(resamples, seed) for name, tally in tallies.items()}
    rows = []
    for run in runs:
        baseline = samples.get(BASELINE) if run.name != BASELINE else None
        inner, outer = steps[run.name]
        row = _build_row(run, tallies[run.name], samples[run.name], baseline, bands)
        rows.append(row | {"steps": {"inner": inner, "outer": outer}})
    return {"pairs": len(pairs), "labels": _count_labels(pairs), "rows": rows}


def _mask_pairs_by_band(pairs: Sequence[GoldPair], cosines: Sequence[float]) -> dict[str, NDArray[np.float64]]:
    """Return which pairs belong to each band as 1 or 0, shape (pairs,).

    Bands are ranges of cosine, and whether a keyword of both documents occurs in both texts. Of pairs drawn by a shared
    keyword, those with one in both texts hardly ever have another.
    """
    has_surface = ["surface" in pair.labels.values() for pair in pairs]
    bands = {f"{low:g}-{min(high, 1):g}": [low <= c < high for c in cosines] for low, high in COSINE_BANDS}
    bands |= {"a keyword in both texts": has_surface, "no keyword in both texts": [not has for has in has_surface]}
    return {name: np.array(members, dtype=np.float64) for name, members in bands.items() if any(members)}


def _build_row(
    run: MethodRun,
    tally: KeywordTally,
    samples: Samples,
    baseline: Samples | None,
    bands: Mapping[str, NDArray[np.float64]],
) -> dict[str, Any]:
    row: dict[str, Any] = {"name": run.name, "method": run.method, "preset": run.preset, "changes": dict(run.changes)}
    row["figures"] = tally.compute_figures()
    row["intervals"] = {name: compute_interval([s[name] for s in samples]) for name in SORTING_FIGURES if samples}
    if samples and baseline is not None:
        gaps = [own["macro_f1"] - base["macro_f1"] for own, base in zip(samples, baseline, strict=True)]
        row["above_containment"] = compute_interval(gaps)
    row["bands"] = {name: tally.compute_figures(members) for name, members in bands.items()}
    return row


def extract_lists(uncapped: Comparison, capped: Comparison) -> AnswerLists:
    """Return the lists of an uncapped answer with candidates and of the capped answer to the same question."""
    candidates = uncapped.candidates or {}

    def list_phrases(entries: Sequence[Entry]) -> list[tuple[str, ...]]:
        return [(entry.phrase, *entry.also) for entry in entries]

    margins = {side: {c.phrase: c.margin for c in candidates.get(side, ())} for side in ("a", "b")}
    names = ("common", "distinct_a", "distinct_b")
    return AnswerLists(
        uncapped={name: list_phrases(getattr(uncapped, name)) for name in names},
        capped={name: list_phrases(getattr(capped, name)) for name in names},
        margins_a=margins["a"],
        margins_b=margins["b"],
        implied_count=sum(entry.kind == "implied" for entry in capped.common),
    )


def _compare_uncapped_and_capped(comparer: Comparer, index: str, pair: GoldPair, run: MethodRun) -> list[Comparison]:
    """Return the uncapped answer with candidates, and the answer as shown to a reader."""
    a, b = (Side.from_id(gold.document.id) for gold in (pair.a, pair.b))
    variants: tuple[dict[str, object], ...] = ({"cap": 0, "candidates": True}, {"cap": DEFAULT_CAP})
    specs = [
        comparer.make_spec(index, a, b, method=run.method, preset=run.preset, options={**options, **dict(run.changes)})
        for options in variants
    ]
    return comparer.compare_variants(specs)


def compute_text_cosine(comparer: Comparer, index: str, pair: GoldPair) -> float:
    """Return the TF-IDF cosine of the two texts, with the index's word statistics."""
    model = comparer.engine.open_reader(index).model
    vectors = []
    for gold in (pair.a, pair.b):
        words, counts = np.unique(np.array(gold.tokens.split() or [""]), return_counts=True)
        word_ids = [model.word_ids.get(word, -1) for word in words.tolist()]
        vectors.append(dict(zip(words.tolist(), (counts * model.word_idf[word_ids]).tolist(), strict=True)))
    a, b = vectors
    dot = sum(weight * b.get(word, 0.0) for word, weight in a.items())
    norm = float(np.sqrt(sum(w * w for w in a.values()) * sum(w * w for w in b.values())))
    return dot / norm if norm > 0 else 0.0


def _count_labels(pairs: Sequence[GoldPair]) -> dict[str, int]:
    return dict(sorted(Counter(label for pair in pairs for label in pair.labels.values()).items()))
