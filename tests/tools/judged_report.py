"""Comparisons that two readers judged, and their table.

``judged.jsonl`` has a comparison a line: the set, the preset, the ids, and in each list the phrases shown with both
readers' verdicts, ``keep`` or why it was struck out. ``python -m tests.tools.judged_report`` writes ``JUDGED.md``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
LISTS = ("common", "distinct_a", "distinct_b")
TOP_RANKS = 3
"""So many of each list a search page shows."""
KEEP = "keep"


class JudgedPhrase(NamedTuple):
    """One phrase as a reader saw it."""

    set: str
    preset: str
    kind: str
    rank: int
    first: str
    second: str


def read_judged_phrases() -> Iterator[JudgedPhrase]:
    for line in (HERE / "judged.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        for name in LISTS:
            for rank, (_, kind, first, second) in enumerate(row[name], 1):
                yield JudgedPhrase(row["set"], row["preset"], kind, rank, first, second)


def compute_struck_share(phrases: list[JudgedPhrase]) -> float:
    """The share struck out, the mean of both readers."""
    return sum((p.first != KEEP) + (p.second != KEEP) for p in phrases) / (2 * len(phrases)) if phrases else 0.0


def compute_agreement(phrases: list[JudgedPhrase]) -> tuple[float, float]:
    """How often both readers say the same (struck or not), and Cohen's kappa."""
    pairs = Counter((p.first != KEEP, p.second != KEEP) for p in phrases)
    total = len(phrases)
    same = (pairs[True, True] + pairs[False, False]) / total
    one, other = (sum(n for pair, n in pairs.items() if pair[side]) / total for side in (0, 1))
    chance = one * other + (1 - one) * (1 - other)
    return same, (same - chance) / (1 - chance)


def format_report() -> str:
    every = list(read_judged_phrases())
    lines = [
        "# Comparisons read by two readers",
        "",
        "Ten pairs each of papers, news and Python documentation, printed with the default preset and with the",
        "paper's, and told by an editor who had read both texts (*hand*), in shuffled order; two readers, who did not",
        "know which was which, struck out every phrase that a careful reader would. Good lists beside the others make",
        "readers strict. The phrases and verdicts are in `judged.jsonl`; this page is written by",
        "`python -m tests.tools.judged_report`.",
        "",
        f"| preset | texts | phrases | struck out | struck out of the first {TOP_RANKS} |",
        "| --- | --- | --- | --- | --- |",
    ]
    for preset in ("default", "paper", "hand"):
        for name in ("papers", "news", "python", ""):
            some = [p for p in every if p.preset == preset and (not name or p.set == name)]
            first = [p for p in some if p.rank <= TOP_RANKS]
            lines.append(
                f"| {preset} | {name or 'all'} | {len(some)} | {compute_struck_share(some):.3f} | {compute_struck_share(first):.3f} |"
            )
    same, kappa = compute_agreement(every)
    lines += [
        "",
        f"The readers agree on {same:.3f} of the phrases (kappa {kappa:.2f}). Why phrases were struck out:",
        "",
    ]
    lines += ["| preset | kind | boilerplate | fragment | duplicate | wrong | of |", "| --- " * 7 + "|"]
    for preset in ("default", "paper"):
        for kind in ("shared", "implied", "distinct"):
            some = [p for p in every if p.preset == preset and p.kind == kind]
            why = Counter(verdict for p in some for verdict in (p.first, p.second))
            shares = (f"{why[code] / 2:g}" for code in ("boilerplate", "fragment", "duplicate", "wrong"))
            lines.append(f"| {preset} | {kind} | {' | '.join(shares)} | {len(some)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (HERE / "JUDGED.md").write_text(format_report(), "utf-8")
