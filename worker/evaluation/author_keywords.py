"""Author keywords as a test: how well each method sorts and shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.answer.comparison import Comparison, Entry
from worker.comparer import Comparer
from worker.evaluation.gold import Pair
from worker.evaluation.metrics import Listed, Tally, interval
from worker.explain.side import Side
from worker.explain.spec import CAP

BANDS = ((0.05, 0.2), (0.2, 0.6), (0.6, 1.01))
"""TF-IDF cosine of a pair's texts."""
FREQUENT = 0.01
"""A phrase in a larger share of the documents says little."""
MAIN = ("surface_recall", "semantic_f1", "distinct_f1", "macro_f1", "auc")

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Run:
    """One row of the table: a method with a preset, some of its parameters changed."""

    method: str
    preset: str
    changes: tuple[tuple[str, object], ...] = ()

    @property
    def name(self) -> str:
        name = f"{self.method}/{self.preset}" if self.method.startswith("cda") else self.method
        return " ".join([name, *(f"{parameter}={value}" for parameter, value in self.changes)])


def varied(runs: Sequence[Run], parameter: str, values: Sequence[object]) -> Iterator[Run]:
    """Each run that has parameters, once more for each value of one of them."""
    for run in runs:
        if run.method == "cda":
            yield from (Run(run.method, run.preset, ((parameter, value),)) for value in values)


def evaluate_keywords(
    comparer: Comparer,
    index: str,
    pairs: Sequence[Pair],
    runs: Sequence[Run],
    *,
    resamples: int = 200,
    seed: int = 1,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Figures of every run over the same pairs, with intervals, per band, and the difference to containment."""
    model = comparer.engine.open(index).model
    often = np.flatnonzero(model.frequency > FREQUENT * model.documents)
    frequent = frozenset(model.phrases[int(i)] for i in often)
    bands = _bands(pairs, [cosine(comparer, index, pair) for pair in pairs])
    tallies = {run.name: Tally() for run in runs}
    steps = {run.name: (0, 0) for run in runs}
    for done, pair in enumerate(pairs):
        for run in runs:
            whole, capped = _answers(comparer, index, pair, run)
            listed = listing(whole, capped)
            inner, outer = steps[run.name]
            steps[run.name] = max(inner, whole.stats.iterations), max(outer, whole.stats.rounds)
            tallies[run.name].add(pair.a.document.id, pair.b.document.id, pair.labels, listed, frequent)
        if progress:
            progress(done + 1, len(pairs))
    return {
        "pairs": len(pairs),
        "labels": _label_counts(pairs),
        "rows": [_row(run, tallies, bands, resamples, seed) | _steps(*steps[run.name]) for run in runs],
    }


def _bands(pairs: Sequence[Pair], cosines: Sequence[float]) -> dict[str, NDArray[np.float64]]:
    """Which pairs, 1 or 0, shape (pairs,), belong to each band: by how alike the texts are, and by whether a keyword of
    both stands in both. Of pairs drawn by a keyword of both, those with one in both texts
    hardly ever have another."""
    openly = ["surface" in pair.labels.values() for pair in pairs]
    bands = {f"{low:g}-{min(high, 1):g}": [low <= c < high for c in cosines] for low, high in BANDS}
    bands |= {"a keyword in both texts": openly, "no keyword in both texts": [not shared for shared in openly]}
    return {name: np.array(members, dtype=np.float64) for name, members in bands.items() if any(members)}


def _row(
    run: Run, tallies: dict[str, Tally], bands: dict[str, NDArray[np.float64]], resamples: int, seed: int
) -> dict[str, Any]:
    tally, base = tallies[run.name], tallies.get("containment")
    drawn = tally.samples(resamples, seed)
    row: dict[str, Any] = {"name": run.name, "method": run.method, "preset": run.preset, "changes": dict(run.changes)}
    row["figures"] = tally.figures()
    row["intervals"] = {name: interval([d[name] for d in drawn]) for name in MAIN} if drawn else {}
    if drawn and base is not None and base is not tally:
        against = base.samples(resamples, seed)
        gaps = [one["macro_f1"] - other["macro_f1"] for one, other in zip(drawn, against, strict=True)]
        row["above_containment"] = interval(gaps)
    row["bands"] = {name: tally.figures(members) for name, members in bands.items()}
    return row


def _steps(inner: int, outer: int) -> dict[str, Any]:
    return {"steps": {"inner": inner, "outer": outer}}


def listing(answer: Comparison, capped: Comparison) -> Listed:
    """An uncapped answer with candidates, and the same as a reader gets it, as evaluation sees them."""
    found = answer.candidates or {}

    def entries(shown: Sequence[Entry]) -> list[tuple[str, ...]]:
        return [(entry.phrase, *entry.also) for entry in shown]

    margins = {side: {c.phrase: c.margin for c in found.get(side, ())} for side in ("a", "b")}
    lists = ("common", "distinct_a", "distinct_b")
    return Listed(
        implied=sum(entry.kind == "implied" for entry in capped.common),
        whole={name: entries(getattr(answer, name)) for name in lists},
        shown={name: entries(getattr(capped, name)) for name in lists},
        salient_a=margins["a"],
        salient_b=margins["b"],
    )


def _answers(comparer: Comparer, index: str, pair: Pair, run: Run) -> list[Comparison]:
    """Uncapped with candidates, and as a reader gets it."""
    a, b = (Side.document(gold.document.id) for gold in (pair.a, pair.b))
    shown: tuple[dict[str, object], ...] = ({"cap": 0, "candidates": True}, {"cap": CAP})
    questions = [
        comparer.question(index, a, b, method=run.method, preset=run.preset, options={**how, **dict(run.changes)})
        for how in shown
    ]
    return comparer.compare_as(questions)


def cosine(comparer: Comparer, index: str, pair: Pair) -> float:
    """TF-IDF cosine of the two texts, with the index's word statistics."""
    model = comparer.engine.open(index).model
    vectors = []
    for gold in (pair.a, pair.b):
        words, counts = np.unique(np.array(gold.tokens.split() or [""]), return_counts=True)
        numbers = [model.word_ids.get(word, -1) for word in words.tolist()]
        vectors.append(dict(zip(words.tolist(), (counts * model.word_idf[numbers]).tolist(), strict=True)))
    one, other = vectors
    dot = sum(weight * other.get(word, 0.0) for word, weight in one.items())
    size = float(np.sqrt(sum(w * w for w in one.values()) * sum(w * w for w in other.values())))
    return dot / size if size > 0 else 0.0


def _label_counts(pairs: Sequence[Pair]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for pair in pairs:
        for label in pair.labels.values():
            counts[label] = counts.get(label, 0) + 1
    return dict(sorted(counts.items()))
