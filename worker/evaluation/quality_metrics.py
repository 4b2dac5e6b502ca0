"""Figures of sorted phrases: counts per pair of documents, pooled over pairs, with intervals resampled by document.

*Sorting* figures are over labelled phrases that are salient: surface recall; semantic F1, with the precision over
labelled one-sided phrases put in ``common``; distinct F1; macro F1, the mean of these three; and the area under the ROC
curve of semantic against distinct phrases by their margins. *Showing* figures are over all labelled phrases that occur,
mined or not: recall in the first 3 and 8 entries of their lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

CaseProgress = Callable[[int, int], None]
"""Called with the number of cases done and their total."""

KINDS = ("surface", "semantic", "distinct")
SHOWN_DEPTHS = (3, 8)
SORTING_FIGURES = ("surface_recall", "semantic_f1", "distinct_f1", "macro_f1", "auc")
SHOWING_FIGURES = (
    *(f"{kind}_at{depth}" for kind in KINDS for depth in SHOWN_DEPTHS),
    *("common_size", "implied_share", "distinct_size", "frequent_share"),
)
COUNT_NAMES = (
    *("surface", "surface_common", "semantic", "semantic_common", "distinct", "distinct_found", "distinct_common"),
    *("put_distinct", "pairs", "listed_common", "listed_implied", "listed_distinct", "shown_frequent", "shown"),
    *(f"{kind}_{part}" for kind in KINDS for part in ("all", *(f"at{depth}" for depth in SHOWN_DEPTHS))),
)
"""Counts taken of every pair."""


@dataclass(frozen=True, slots=True)
class AnswerLists:
    """The lists of one answer: ranked entries by list, each entry the phrase shown and those merged into it."""

    uncapped: Mapping[str, Sequence[Sequence[str]]]
    """Lists of any length, for the sorting figures."""
    capped: Mapping[str, Sequence[Sequence[str]]]
    """Lists as shown to a reader, for the showing figures."""
    margins_a: Mapping[str, float]
    """Salient phrase of a -> margin."""
    margins_b: Mapping[str, float]
    """Salient phrase of b -> margin."""
    implied_count: int = 0
    """Entries of the capped ``common`` list that one text lacks."""


@dataclass(slots=True)
class KeywordTally:
    """Counts and margins collected over pairs of documents."""

    rows: list[NDArray[np.float64]] = field(default_factory=list)
    """One array of shape (len(COUNT_NAMES),) per pair."""
    documents: list[tuple[str, str]] = field(default_factory=list)
    """Ids of both documents of each pair."""
    margins: list[tuple[int, float, bool]] = field(default_factory=list)
    """Pair number, margin and whether it is semantic, for every labelled one-sided phrase."""

    def add(
        self,
        id_a: str,
        id_b: str,
        label_by_keyword: Mapping[str, str],
        lists: AnswerLists,
        frequent_phrases: frozenset[str],
    ) -> None:
        """Count the keywords of one pair of documents; ``frequent_phrases`` are those that are too frequent."""
        counts = dict.fromkeys(COUNT_NAMES, 0.0)
        counts["pairs"] = 1
        self._count_sorted_keywords(counts, label_by_keyword, lists)
        _count_shown_keywords(counts, label_by_keyword, lists, frequent_phrases)
        self.rows.append(np.array([counts[name] for name in COUNT_NAMES]))
        self.documents.append((id_a, id_b))

    def _count_sorted_keywords(
        self, counts: dict[str, float], label_by_keyword: Mapping[str, str], lists: AnswerLists
    ) -> None:
        phrases = {name: {p for entry in entries for p in entry} for name, entries in lists.uncapped.items()}
        common = phrases["common"]
        for phrase, label in label_by_keyword.items():
            margins = [side[phrase] for side in (lists.margins_a, lists.margins_b) if phrase in side]
            if not margins:
                continue
            if label == "surface":
                counts["surface"] += 1
                counts["surface_common"] += phrase in common
                continue
            kind = "semantic" if label == "semantic" else "distinct"
            counts[kind] += 1
            counts[f"{kind}_common"] += phrase in common
            counts["put_distinct"] += phrase in phrases["distinct_a"] or phrase in phrases["distinct_b"]
            if kind == "distinct":
                counts["distinct_found"] += phrase in phrases[label]
            self.margins.append((len(self.rows), max(margins), kind == "semantic"))

    def compute_figures(self, weights: NDArray[np.float64] | None = None) -> dict[str, float]:
        """Return every figure, pooled over pairs; ``weights``, shape (pairs,), says how often each pair counts."""
        if not self.rows:
            return {}
        table = np.stack(self.rows)
        pair_weights = np.ones(len(table)) if weights is None else weights
        c = dict(zip(COUNT_NAMES, pair_weights @ table, strict=True))
        figures = {
            "surface_recall": _divide(c["surface_common"], c["surface"]),
            "semantic_f1": _compute_f1(
                c["semantic_common"], c["semantic_common"] + c["distinct_common"], c["semantic"]
            ),
            "distinct_f1": _compute_f1(c["distinct_found"], c["put_distinct"], c["distinct"]),
            "auc": self._compute_auc(pair_weights),
        }
        figures["macro_f1"] = (figures["surface_recall"] + figures["semantic_f1"] + figures["distinct_f1"]) / 3
        for kind in KINDS:
            for depth in SHOWN_DEPTHS:
                figures[f"{kind}_at{depth}"] = _divide(c[f"{kind}_at{depth}"], c[f"{kind}_all"])
        figures["common_size"] = _divide(c["listed_common"], c["pairs"])
        figures["implied_share"] = _divide(c["listed_implied"], c["listed_common"])
        figures["distinct_size"] = _divide(c["listed_distinct"], 2 * c["pairs"])
        figures["frequent_share"] = _divide(c["shown_frequent"], c["shown"])
        return figures

    def resample_figures(self, sample_count: int, seed: int) -> list[dict[str, float]]:
        """Return the figures of bootstrap samples of documents.

        A pair counts the product of how often its two documents were drawn.
        """
        if not self.rows:
            return []
        ids = sorted({id for pair in self.documents for id in pair})
        row_of = {id: row for row, id in enumerate(ids)}
        pairs = np.array([(row_of[a], row_of[b]) for a, b in self.documents])
        rng = np.random.default_rng(seed)
        samples = []
        for _ in range(sample_count):
            draws = np.bincount(rng.integers(0, len(ids), len(ids)), minlength=len(ids))
            samples.append(self.compute_figures((draws[pairs[:, 0]] * draws[pairs[:, 1]]).astype(np.float64)))
        return samples

    def _compute_auc(self, pair_weights: NDArray[np.float64]) -> float:
        if not self.margins:
            return 0.5
        pair, margin, semantic = (np.array(column) for column in zip(*self.margins, strict=True))
        return compute_auc(margin.astype(np.float64), semantic.astype(bool), pair_weights[pair])


def compute_auc(
    scores: NDArray[np.float64], is_positive: NDArray[np.bool_], weights: NDArray[np.float64] | None = None
) -> float:
    """Return the chance that a positive scores above a negative, ties half; 0.5 if one class has no weight.

    All arrays have shape (cases,).
    """
    weights = np.ones(len(scores)) if weights is None else weights
    if weights[is_positive].sum() == 0 or weights[~is_positive].sum() == 0:  # scikit-learn warns and returns NaN
        return 0.5
    return float(roc_auc_score(is_positive, scores, sample_weight=weights))


def compute_interval(samples: Sequence[float], level: float = 0.95) -> tuple[float, float]:
    """Return the ends of the middle ``level`` of resampled figures."""
    tail = 100 * (1 - level) / 2
    low, high = np.percentile(np.asarray(samples), [tail, 100 - tail])
    return float(low), float(high)


def _count_shown_keywords(
    counts: dict[str, float], label_by_keyword: Mapping[str, str], lists: AnswerLists, frequent_phrases: frozenset[str]
) -> None:
    ranks = {
        name: {p: rank for rank, entry in reversed(list(enumerate(entries))) for p in entry}
        for name, entries in lists.capped.items()
    }
    for phrase, label in label_by_keyword.items():
        kind = label if label in ("surface", "semantic") else "distinct"
        rank = ranks["common" if kind != "distinct" else label].get(phrase)
        counts[f"{kind}_all"] += 1
        for depth in SHOWN_DEPTHS:
            counts[f"{kind}_at{depth}"] += rank is not None and rank < depth
    counts["listed_common"] += len(lists.capped["common"])
    counts["listed_implied"] += lists.implied_count
    counts["listed_distinct"] += len(lists.capped["distinct_a"]) + len(lists.capped["distinct_b"])
    for entries in lists.capped.values():
        leaders = [entry[0] for entry in entries[: SHOWN_DEPTHS[-1]]]
        counts["shown"] += len(leaders)
        counts["shown_frequent"] += sum(leader in frequent_phrases for leader in leaders)


def _divide(part: float, total: float) -> float:
    return float(part / total) if total else 0.0


def _compute_f1(hits: float, retrieved: float, relevant: float) -> float:
    return float(2 * hits / (retrieved + relevant)) if retrieved + relevant else 0.0
