"""The tables of ``evaluate_editor_lists``, for the command and for the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from indexer.cli.output import print_table
from worker.evaluation.editor_lists.list_evaluation import LIST_GROUPS
from worker.evaluation.editor_lists.list_figures import SORTS

Table = tuple[str, Sequence[str], list[list[object]]]
"""Title, columns and rows; None is an empty cell."""
COLUMNS = {
    "found": ("pairs", "editor's", "found_exactly", "found_nearly", "precision", "recall", "f1", "f1 interval"),
    "shown and kept": ("shown", "judged", "kept", "kept interval", "both"),
    "of one word, of several, and implied": tuple(f"{name}_{sort}" for sort in SORTS for name in ("shown", "kept")),
}
"""Columns of each table besides kind and method."""


def list_editor_tables(evaluation: dict[str, Any]) -> Iterator[Table]:
    """Yield for each group of lists what was found of the editor's, what readers kept, and what they kept by score."""
    pooled = evaluation["pooled"]
    for group in LIST_GROUPS:
        cells = [
            (kind, row["name"], _name_cells(table["pairs"], row[group]))
            for kind, table in {**evaluation["kinds"], "pooled": pooled}.items()
            for row in table["rows"]
        ]
        for title, columns in COLUMNS.items():
            heads = ["kind", "method", *(column.replace("_", " ") for column in columns)]
            yield f"{group}: {title}", heads, [[kind, name, *map(own.get, columns)] for kind, name, own in cells]
        by_score: list[list[object]] = [
            [row["name"], f"{tenth['from']}-{tenth['to']}", tenth["phrases"], tenth["kept"]]
            for row in pooled["rows"]
            for tenth in row[group]["by_score"]
        ]
        if by_score:
            yield f"{group}: kept by score", ["method", "score", "phrases", "kept"], by_score


def _name_cells(pairs: int, lists: dict[str, Any]) -> dict[str, object]:
    """Return the cells of a row by column."""
    intervals = {f"{name} interval": f"{low:.2f}-{high:.2f}" for name, (low, high) in lists["intervals"].items()}
    return {"pairs": pairs, "editor's": int(lists["counts"]["editor"]), **lists["figures"], **intervals}


def print_editor_tables(evaluation: dict[str, Any]) -> None:
    """Print the tables, or why nothing was measured."""
    if "skipped" in evaluation:
        click.echo(f"not measured: {evaluation['skipped']}")
        return
    for title, columns, rows in list_editor_tables(evaluation):
        print_table(columns, [["" if cell is None else cell for cell in row] for row in rows], title=title)
