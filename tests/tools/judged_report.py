"""``python -m tests.tools.judged_report`` writes docs/results/judged.md: comparisons that two readers judged.

``tests/quality/data/judged.jsonl`` has one comparison a line: the set, the preset, the ids, and in each list the
phrases with both readers' verdicts, ``keep`` or the reason for striking it out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from tests.support.paths import ROOT

DATA = ROOT / "tests" / "quality" / "data" / "judged.jsonl"
REPORT = ROOT / "docs" / "results" / "judged.md"
LISTS = ("common", "distinct_a", "distinct_b")
TOP_RANKS = 3
"""Phrases of each list that a search page shows."""
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
    for line in DATA.read_text("utf-8").splitlines():
        row = json.loads(line)
        for name in LISTS:
            for rank, (_, kind, first, second) in enumerate(row[name], 1):
                yield JudgedPhrase(row["set"], row["preset"], kind, rank, first, second)


def compute_struck_share(phrases: list[JudgedPhrase]) -> float:
    """Return the share of phrases struck out, the mean of both readers."""
    return sum((p.first != KEEP) + (p.second != KEEP) for p in phrases) / (2 * len(phrases)) if phrases else 0.0


def compute_agreement(phrases: list[JudgedPhrase]) -> tuple[float, float]:
    """Return the share of phrases on which both readers agree (struck out or not), and Cohen's kappa."""
    pairs = Counter((p.first != KEEP, p.second != KEEP) for p in phrases)
    total = len(phrases)
    same = (pairs[True, True] + pairs[False, False]) / total
    first, second = (sum(n for pair, n in pairs.items() if pair[side]) / total for side in (0, 1))
    chance = first * second + (1 - first) * (1 - second)
    return same, (same - chance) / (1 - chance)


def format_report() -> str:
    phrases = list(read_judged_phrases())
    lines = [
        "# Comparisons read by two readers",
        "",
        "Ten pairs each of papers, news and Python documentation: the lists of the default preset, of the paper's",
        "preset, and of an editor who had read both texts (*hand*), printed in shuffled order. Two readers, who",
        "did not know which list was which, struck out every phrase that a careful reader would. Good lists among",
        "the others make readers strict. The phrases and verdicts are in",
        "[judged.jsonl](../../tests/quality/data/judged.jsonl); this page is written by",
        "`python -m tests.tools.judged_report`.",
        "",
        f"| preset | texts | phrases | struck out | struck out of the first {TOP_RANKS} |",
        "| --- | --- | --- | --- | --- |",
    ]
    for preset in ("default", "paper", "hand"):
        for name in ("papers", "news", "python", ""):
            selected = [p for p in phrases if p.preset == preset and (not name or p.set == name)]
            top = [p for p in selected if p.rank <= TOP_RANKS]
            shares = f"{compute_struck_share(selected):.3f} | {compute_struck_share(top):.3f}"
            lines.append(f"| {preset} | {name or 'all'} | {len(selected)} | {shares} |")
    same, kappa = compute_agreement(phrases)
    lines += [
        "",
        f"The readers agree on {same:.3f} of the phrases (kappa {kappa:.2f}). Why phrases were struck out:",
        "",
    ]
    lines += ["| preset | kind | boilerplate | fragment | duplicate | wrong | of |", "| --- " * 7 + "|"]
    for preset in ("default", "paper"):
        for kind in ("shared", "implied", "distinct"):
            selected = [p for p in phrases if p.preset == preset and p.kind == kind]
            why = Counter(verdict for p in selected for verdict in (p.first, p.second))
            shares = (f"{why[code] / 2:g}" for code in ("boilerplate", "fragment", "duplicate", "wrong"))
            lines.append(f"| {preset} | {kind} | {' | '.join(shares)} | {len(selected)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    REPORT.write_text(format_report(), "utf-8")
