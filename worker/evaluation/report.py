"""All that ``evaluate all`` measured, as a page of Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

MAIN = ("surface_recall", "semantic_f1", "distinct_f1", "macro_f1", "auc")
SHOWING = (
    *(f"{kind}_at{n}" for kind in ("surface", "semantic", "distinct") for n in (3, 8)),
    *("common_size", "implied_share", "distinct_size", "frequent_share"),
)
MASKED = ("auc", "found", "others")
OURS = "cda/default"


def markdown(found: dict[str, Any]) -> str:
    """``found`` as ``evaluate_all`` returns it."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: dict[str, Any]) -> Iterator[str]:
    yield from ("## Goals", "", f"Documents of the {found['part']} part, seed {found['seed']}.", "")
    yield from table(list(found["goals"][0]), (list(row.values()) for row in found["goals"]))
    for name, one in found["keywords"].items():
        yield from _keywords(name, one, found["ahead"][name], found["random"][name])
    for name, one in found["masked"].items():
        counted = ", ".join(f"{value} {key}" for key, value in one.items() if key != "rows")
        yield from ("", f"## Masked phrases: {name}", "", counted, "")
        yield from _figures(one["rows"], MASKED)


def _keywords(name: str, one: dict[str, Any], ahead: dict[str, bool], chance: dict[str, Any]) -> Iterator[str]:
    labels = ", ".join(f"{count} {label}" for label, count in one["labels"].items())
    said = "; ".join(f"{key.replace('_', ' ')}: {'yes' if value else 'no'}" for key, value in ahead.items())
    yield from ("", f"## Author keywords: {name}", "", f"{one['pairs']} pairs; {labels}. {said}.", "")
    yield from _figures(one["rows"], MAIN)
    steps = ", ".join(
        f"{row['name']} {row['steps']['inner']} / {row['steps']['outer']}"
        for row in one["rows"]
        if row["steps"]["inner"]
    )
    yield from ("", f"Most steps of an inner / an outer loop: {steps}.")
    ours = next((row for row in one["rows"] if row["name"] == OURS), None)
    if ours and ours["intervals"]:
        yield from ("", f"{OURS}, 95 % intervals: {_intervals(ours)}.")
    yield from ("", "Shown:", "")
    yield from _figures(one["rows"], SHOWING)
    if ours:
        yield from (
            "",
            f"{OURS} by cosine of the pair, by whether a keyword of both stands in both texts, and on random pairs:",
            "",
        )
        rows = [{"name": band, "figures": figures} for band, figures in ours["bands"].items()]
        rows += [{**row, "name": "random"} for row in chance["rows"] if row["name"] == OURS]
        yield from _figures(rows, MAIN, "pairs")


def _intervals(row: dict[str, Any]) -> str:
    parts = dict(row["intervals"])
    if "above_containment" in row:
        parts["macro F1 above containment"] = row["above_containment"]
    return ", ".join(f"{name.replace('_', ' ')} {low:.3f} to {high:.3f}" for name, (low, high) in parts.items())


def _figures(rows: Iterable[dict[str, Any]], columns: Sequence[str], first: str = "method") -> Iterator[str]:
    heads = [first, *(column.replace("_", " ") for column in columns)]
    yield from table(heads, ([row["name"], *(row["figures"].get(c) for c in columns)] for row in rows))


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """The lines of a Markdown table."""
    yield f"| {' | '.join(heads)} |"
    yield f"|{' --- |' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(_cell(value) for value in row)} |"


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
