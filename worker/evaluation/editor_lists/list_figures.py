"""Figures of the lists shown for many pairs, pooled over phrases, with intervals resampled by pair.

- ``found_exactly``, ``found_nearly``: share of the editor's phrases that a shown phrase says.
- ``shown``: phrases in a list; ``shown_words`` and so on: those of one of ``SORTS``.
- ``kept``, ``kept_words`` and so on: share of the readers who kept a shown phrase; ``judged``: share of the shown
  phrases that readers read.
- ``precision``, ``recall``, ``f1``: of the shown lists, each cut to the length of the editor's and matched one to one.
- ``both``: harmonic mean of ``found_nearly`` and ``kept``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.answer.comparison import NOT_IN_BOTH, EntryKind
from worker.evaluation.editor_lists.phrase_matching import (
    EXACT,
    NEAR,
    PhraseWords,
    compare_readings,
    count_matches,
)
from worker.evaluation.quality_metrics import compute_interval
from worker.evaluation.query_parts.query_shares import draw_queries

SORTS = ("words", "phrases", "implied")
"""One word, several words, and common phrases that one of the texts lacks."""
SHARES = {
    "found_exactly": ("exact", "editor"),
    "found_nearly": ("near", "editor"),
    "shown": ("shown", "lists"),
    **{f"shown_{sort}": (f"shown_{sort}", "lists") for sort in SORTS},
    "judged": ("judged", "shown"),
    "kept": ("kept", "judged"),
    **{f"kept_{sort}": (f"kept_{sort}", f"judged_{sort}") for sort in SORTS},
    "precision": ("matched", "cut"),
    "recall": ("matched", "editor"),
}
"""Figures that divide one count by another."""
LIST_FIGURES = (*SHARES, "f1", "both")
COUNT_NAMES = tuple(dict.fromkeys(name for names in SHARES.values() for name in names))
TENTHS = 10


@dataclass(frozen=True, slots=True)
class ShownPhrase:
    """One entry of a list as a visitor sees it."""

    display: str
    also: tuple[str, ...]
    """Phrases merged into it, as lemmas."""
    score: float
    kind: EntryKind
    readings: tuple[PhraseWords, ...]
    """The words as displayed, then those of the phrases merged into it."""
    kept: float | None
    """Share of the readers who kept it; None if none read it."""

    @property
    def sort(self) -> str:
        """One of ``SORTS``."""
        if self.kind in NOT_IN_BOTH:
            return "implied"
        return "words" if len(self.readings[0].sequence) == 1 else "phrases"

    @property
    def tenth(self) -> int:
        """Which tenth of the range from 0 to 1 the score is in."""
        return min(max(int(self.score * TENTHS), 0), TENTHS - 1)


@dataclass(frozen=True, slots=True)
class ListOutcome:
    """One list shown for one pair, beside the editor's."""

    shown: tuple[ShownPhrase, ...]
    editor: tuple[tuple[str, PhraseWords], ...]

    def find_nearest(self, words: PhraseWords) -> tuple[float, str]:
        """Return the similarity of the shown phrase nearest to one of the editor's, and how it is displayed."""
        found = ((compare_readings(phrase.readings, words), phrase.display) for phrase in self.shown)
        return max(found, key=lambda match: match[0], default=(0.0, ""))

    def count(self) -> dict[str, float]:
        """Return the counts of ``COUNT_NAMES``."""
        similarities = [self.find_nearest(words)[0] for _, words in self.editor]
        cut = self.shown[: len(self.editor)]
        counts = dict.fromkeys(COUNT_NAMES, 0.0) | {
            "lists": 1,
            "editor": len(self.editor),
            "exact": sum(similarity >= EXACT for similarity in similarities),
            "near": sum(similarity >= NEAR for similarity in similarities),
            "cut": len(cut),
            "matched": count_matches([phrase.readings for phrase in cut], [words for _, words in self.editor]),
        }
        for phrase in self.shown:
            for suffix in ("", f"_{phrase.sort}"):
                counts["shown" + suffix] += 1
                if phrase.kept is not None:
                    counts["judged" + suffix] += 1
                    counts["kept" + suffix] += phrase.kept
        return counts


def summarise_lists(outcomes: Sequence[Sequence[ListOutcome]], seed: int) -> dict[str, Any]:
    """Return the figures of the lists of every pair, their intervals, what they are shares of, and kept by score."""
    table = np.array([np.sum([list(outcome.count().values()) for outcome in pair], axis=0) for pair in outcomes])
    samples = [_compute_figures(draws @ table) for draws in draw_queries(len(table), seed)]
    known = {name: [value for s in samples if (value := s[name]) is not None] for name in LIST_FIGURES}
    return {
        "counts": dict(zip(COUNT_NAMES, table.sum(axis=0).tolist(), strict=True)),
        "figures": _compute_figures(table.sum(axis=0)),
        "intervals": {name: compute_interval(values) for name, values in known.items() if values},
        "by_score": _count_kept_by_score([phrase for pair in outcomes for one in pair for phrase in one.shown]),
    }


def _compute_figures(sums: NDArray[np.float64]) -> dict[str, float | None]:
    """Return each of ``LIST_FIGURES``, None where it is a share of nothing; ``sums``: shape (len(COUNT_NAMES),)."""
    counts = dict(zip(COUNT_NAMES, sums.tolist(), strict=True))
    figures = {name: counts[part] / counts[of] if counts[of] else None for name, (part, of) in SHARES.items()}
    listed, found, kept = counts["cut"] + counts["editor"], figures["found_nearly"], figures["kept"]
    figures["f1"] = 2 * counts["matched"] / listed if listed else None
    figures["both"] = None if found is None or kept is None else 2 * found * kept / max(found + kept, 1e-9)
    return figures


def _count_kept_by_score(shown: Sequence[ShownPhrase]) -> list[dict[str, Any]]:
    """Return for each tenth of the score how many phrases have verdicts, and the share kept."""
    rows = []
    for tenth in range(TENTHS):
        kept = [phrase.kept for phrase in shown if phrase.tenth == tenth and phrase.kept is not None]
        if kept:
            ends = {"from": tenth / TENTHS, "to": (tenth + 1) / TENTHS}
            rows.append({**ends, "phrases": len(kept), "kept": sum(kept) / len(kept)})
    return rows
