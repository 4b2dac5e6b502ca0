"""From sorted phrases to figures: counts per pair, pooled, with intervals resampled by document.

*Sorting* is over labelled phrases in the salient sets: surface recall; semantic F1, its precision over
labelled one-sided phrases put in ``common``; distinct F1; the area under the ROC curve of semantic
against distinct over each candidate's margin; macro-F1, the mean of the first three. *Showing* is over
all labelled phrases that occur, found by the miner or not: recall in the first 3 and 8 of their lists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

SHOWN = (3, 8)
COUNTS = (
    *("surface", "surface_common", "semantic", "semantic_common", "distinct", "distinct_found", "distinct_common"),
    *("put_distinct", "pairs", "listed_common", "listed_implied", "listed_distinct", "shown_frequent", "shown"),
    *(f"{kind}_{what}" for kind in ("surface", "semantic", "distinct") for what in ("all", *(f"at{n}" for n in SHOWN))),
)
"""What is counted for every pair."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One answer as evaluation sees it: ranked entries, each with the phrases folded into it, by list."""

    whole: Mapping[str, Sequence[Sequence[str]]]
    """Uncapped, for sorting."""
    shown: Mapping[str, Sequence[Sequence[str]]]
    """At the cap, as a reader gets them."""
    salient_a: Mapping[str, float]
    """Salient phrases of a -> margin."""
    salient_b: Mapping[str, float]
    implied: int = 0
    """Entries of ``shown`` in common that one text lacks."""


@dataclass(slots=True)
class Tally:
    """Counts (pairs, len(COUNTS)), and the margins of one-sided labelled phrases."""

    rows: list[NDArray[np.float64]] = field(default_factory=list)
    documents: list[tuple[str, str]] = field(default_factory=list)
    margins: list[tuple[int, float, bool]] = field(default_factory=list)
    """Pair number, margin, whether it is semantic."""

    def add(self, a: str, b: str, labels: Mapping[str, str], listed: Listed, frequent: frozenset[str]) -> None:
        counts = dict.fromkeys(COUNTS, 0.0)
        counts["pairs"] = 1
        self._sorting(counts, labels, listed)
        _showing(counts, labels, listed, frequent)
        self.rows.append(np.array([counts[name] for name in COUNTS]))
        self.documents.append((a, b))

    def _sorting(self, counts: dict[str, float], labels: Mapping[str, str], listed: Listed) -> None:
        found = {name: {p for entry in entries for p in entry} for name, entries in listed.whole.items()}
        common = found["common"]
        for phrase, label in labels.items():
            margins = [side[phrase] for side in (listed.salient_a, listed.salient_b) if phrase in side]
            if not margins:
                continue
            if label == "surface":
                counts["surface"] += 1
                counts["surface_common"] += phrase in common
                continue
            kind = "semantic" if label == "semantic" else "distinct"
            counts[kind] += 1
            counts[f"{kind}_common"] += phrase in common
            counts["put_distinct"] += phrase in found["distinct_a"] or phrase in found["distinct_b"]
            if kind == "distinct":
                counts["distinct_found"] += phrase in found[label]
            self.margins.append((len(self.rows), max(margins), kind == "semantic"))

    def figures(self, weights: NDArray[np.float64] | None = None) -> dict[str, float]:
        """Every figure, pooled over pairs; ``weights`` (pairs,) counts each pair so often."""
        if not self.rows:
            return {}
        table = np.stack(self.rows)
        each = np.ones(len(table)) if weights is None else weights
        c = dict(zip(COUNTS, each @ table, strict=True))
        out = {
            "surface_recall": _ratio(c["surface_common"], c["surface"]),
            "semantic_f1": _f1(c["semantic_common"], c["semantic_common"] + c["distinct_common"], c["semantic"]),
            "distinct_f1": _f1(c["distinct_found"], c["put_distinct"], c["distinct"]),
            "auc": self._auc(each),
        }
        out["macro_f1"] = (out["surface_recall"] + out["semantic_f1"] + out["distinct_f1"]) / 3
        for kind in ("surface", "semantic", "distinct"):
            for n in SHOWN:
                out[f"{kind}_at{n}"] = _ratio(c[f"{kind}_at{n}"], c[f"{kind}_all"])
        out["common_size"] = _ratio(c["listed_common"], c["pairs"])
        out["implied_share"] = _ratio(c["listed_implied"], c["listed_common"])
        out["distinct_size"] = _ratio(c["listed_distinct"], 2 * c["pairs"])
        out["frequent_share"] = _ratio(c["shown_frequent"], c["shown"])
        return out

    def samples(self, times: int, seed: int) -> list[dict[str, float]]:
        """Figures of resampled documents: a pair counts as often as both its documents were drawn."""
        if not self.rows:
            return []
        names = sorted({d for pair in self.documents for d in pair})
        at = {name: i for i, name in enumerate(names)}
        pairs = np.array([(at[a], at[b]) for a, b in self.documents])
        chance = np.random.default_rng(seed)
        found = []
        for _ in range(times):
            drawn = np.bincount(chance.integers(0, len(names), len(names)), minlength=len(names))
            found.append(self.figures((drawn[pairs[:, 0]] * drawn[pairs[:, 1]]).astype(np.float64)))
        return found

    def _auc(self, each: NDArray[np.float64]) -> float:
        if not self.margins:
            return 0.5
        pair, margin, semantic = (np.array(column) for column in zip(*self.margins, strict=True))
        return weighted_auc(margin.astype(np.float64), semantic.astype(bool), each[pair])


def weighted_auc(score: NDArray[np.float64], positive: NDArray[np.bool_], weight: NDArray[np.float64]) -> float:
    """Chance that a positive scores above a negative, ties half; 0.5 where there is only one kind."""
    order = np.argsort(score, kind="stable")
    score, positive, weight = score[order], positive[order], weight[order]
    up, down = np.where(positive, weight, 0.0), np.where(positive, 0.0, weight)
    total = up.sum() * down.sum()
    if total == 0:
        return 0.5
    starts = np.flatnonzero(np.r_[True, score[1:] != score[:-1]])
    ups, downs = np.add.reduceat(up, starts), np.add.reduceat(down, starts)
    below = np.cumsum(downs) - downs
    return float((ups * (below + downs / 2)).sum() / total)


def interval(samples: Sequence[float], level: float = 0.95) -> tuple[float, float]:
    """The middle ``level`` of resampled figures."""
    tail = 100 * (1 - level) / 2
    low, high = np.percentile(np.asarray(samples), [tail, 100 - tail])
    return float(low), float(high)


def _showing(counts: dict[str, float], labels: Mapping[str, str], listed: Listed, frequent: frozenset[str]) -> None:
    ranks = {
        name: {p: rank for rank, entry in reversed(list(enumerate(entries))) for p in entry}
        for name, entries in listed.shown.items()
    }
    for phrase, label in labels.items():
        kind = label if label in ("surface", "semantic") else "distinct"
        rank = ranks["common" if kind != "distinct" else label].get(phrase)
        counts[f"{kind}_all"] += 1
        for n in SHOWN:
            counts[f"{kind}_at{n}"] += rank is not None and rank < n
    counts["listed_common"] += len(listed.shown["common"])
    counts["listed_implied"] += listed.implied
    counts["listed_distinct"] += len(listed.shown["distinct_a"]) + len(listed.shown["distinct_b"])
    for entries in listed.shown.values():
        leaders = [entry[0] for entry in entries[: SHOWN[-1]]]
        counts["shown"] += len(leaders)
        counts["shown_frequent"] += sum(leader in frequent for leader in leaders)


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else 0.0


def _f1(hits: float, put: float, wanted: float) -> float:
    return float(2 * hits / (put + wanted)) if put + wanted else 0.0
