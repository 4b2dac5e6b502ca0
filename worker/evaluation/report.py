"""The results of ``evaluate all`` as a page of Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from worker.evaluation.editor_lists.list_tables import list_editor_tables
from worker.evaluation.goals import DEFAULT_RUN, collect_figures
from worker.evaluation.masked_phrases import MASKED_FIGURES
from worker.evaluation.quality_metrics import SHOWING_FIGURES, SORTING_FIGURES


def render_report(results: dict[str, Any]) -> str:
    """Return the page for ``results`` of ``evaluate_all``."""
    return "\n".join(_render_lines(results)) + "\n"


def _render_lines(results: dict[str, Any]) -> Iterator[str]:
    yield from ("## Goals", "", f"Documents of the {results['part']} part, seed {results['seed']}.", "")
    columns = list(results["goals"][0])
    yield from render_table(columns, ([row.get(column) for column in columns] for row in results["goals"]))
    for name, evaluation in results["keywords"].items():
        yield from _render_keywords(name, evaluation, results["ahead"][name], results["random"][name])
    for name, evaluation in results["masked"].items():
        counts = ", ".join(f"{value} {key}" for key, value in evaluation.items() if key != "rows")
        yield from ("", f"## Masked phrases: {name}", "", counts, "")
        yield from _render_figures(evaluation["rows"], MASKED_FIGURES)
    for name, evaluation in results["queries"].items():
        spaces = ", ".join(evaluation["spaces"]) or "none"
        yield from ("", f"## Reasons for queries: {name}", "", f"Spaces of evidence: {spaces}.", "")
        yield from render_table(QUERY_COLUMNS, list_query_rows(evaluation))
    yield from _render_editor_lists(results["editor"])


def _render_editor_lists(evaluation: dict[str, Any]) -> Iterator[str]:
    yield from ("", "## Lists of an editor")
    if "skipped" in evaluation:
        yield from ("", f"Not measured: {evaluation['skipped']}.")
        return
    for title, columns, rows in list_editor_tables(evaluation):
        yield from ("", f"{title.capitalize()}:", "")
        yield from render_table(columns, rows)


QUERY_COLUMNS = ("part", "figure", "value", "95 % interval", "of")


def list_query_rows(evaluation: dict[str, Any]) -> Iterator[list[object]]:
    """Yield the rows of ``QUERY_COLUMNS``: every figure of every part, those of judged hits by kind of query too."""
    parts = {name: part for name, part in evaluation.items() if isinstance(part, dict) and "figures" in part}
    kinds = parts.get("judged", {}).get("kinds", {})
    for name, part in {**parts, **{f"judged, {kind}": row for kind, row in kinds.items()}}.items():
        for figure, value in part["figures"].items():
            low, high = part["intervals"].get(figure, (None, None))
            interval = "" if low is None else f"{low:.3f} to {high:.3f}"
            yield [name, figure.replace("_", " "), value, interval, part["of"][figure]]


SPACE_FIGURES = (
    *("relevant_told", "reason_at3", "irrelevant_confident", "irrelevant_told", "auc"),
    *("unrelated_told", "meaning_told", "meaning_auc", "faithful", "reason_loss", "other_loss"),
)
"""Figures that are compared between selections of spaces."""
SPACE_COLUMNS = ("spaces", *(figure.replace("_", " ") for figure in SPACE_FIGURES))


def list_space_rows(evaluations: Iterable[dict[str, Any]]) -> Iterator[list[object]]:
    """Yield the rows of ``SPACE_COLUMNS``: the figures of each selection of spaces."""
    for evaluation in evaluations:
        figures = collect_figures(evaluation)
        yield [" + ".join(evaluation["spaces"]) or "none", *(figures.get(figure) for figure in SPACE_FIGURES)]


def _render_keywords(
    name: str, evaluation: dict[str, Any], ahead: dict[str, bool], random_pairs: dict[str, Any]
) -> Iterator[str]:
    labels = ", ".join(f"{count} {label}" for label, count in evaluation["labels"].items())
    verdicts = "; ".join(f"{key.replace('_', ' ')}: {'yes' if value else 'no'}" for key, value in ahead.items())
    yield from ("", f"## Author keywords: {name}", "", f"{evaluation['pairs']} pairs; {labels}. {verdicts}.", "")
    yield from _render_figures(evaluation["rows"], SORTING_FIGURES)
    steps = ", ".join(
        f"{row['name']} {row['steps']['inner']} / {row['steps']['outer']}"
        for row in evaluation["rows"]
        if row["steps"]["inner"]
    )
    yield from ("", f"Most steps of an inner / an outer loop: {steps}.")
    ours = next((row for row in evaluation["rows"] if row["name"] == DEFAULT_RUN), None)
    if ours and ours["intervals"]:
        yield from ("", f"{DEFAULT_RUN}, 95 % intervals: {_format_intervals(ours)}.")
    yield from ("", "Shown:", "")
    yield from _render_figures(evaluation["rows"], SHOWING_FIGURES)
    if ours:
        yield from (
            "",
            f"{DEFAULT_RUN} by cosine of the pair, by whether a keyword of both stands in both texts, "
            "and on random pairs:",
            "",
        )
        rows = [{"name": band, "figures": figures} for band, figures in ours["bands"].items()]
        rows += [{**row, "name": "random"} for row in random_pairs["rows"] if row["name"] == DEFAULT_RUN]
        yield from _render_figures(rows, SORTING_FIGURES, "pairs")


def _format_intervals(row: dict[str, Any]) -> str:
    parts = dict(row["intervals"])
    if "above_containment" in row:
        parts["macro F1 above containment"] = row["above_containment"]
    return ", ".join(f"{name.replace('_', ' ')} {low:.3f} to {high:.3f}" for name, (low, high) in parts.items())


def _render_figures(rows: Iterable[dict[str, Any]], columns: Sequence[str], first: str = "method") -> Iterator[str]:
    headers = [first, *(column.replace("_", " ") for column in columns)]
    yield from render_table(headers, ([row["name"], *(row["figures"].get(c) for c in columns)] for row in rows))


def render_table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield f"| {' | '.join(headers)} |"
    yield f"|{' --- |' * len(headers)}"
    for row in rows:
        yield f"| {' | '.join(_format_cell(value) for value in row)} |"


def _format_cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
