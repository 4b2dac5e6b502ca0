"""Output of the commands: JSON, tables and lines of text without control characters."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.table import Table

_PIPE_WIDTH = 120
"""Columns of a table that does not go to a terminal."""


def print_json(value: object) -> None:
    """Print a value as indented JSON."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None) -> None:
    """Print a table on stdout."""
    print_renderable(make_table(columns, rows, title=title))


def print_key_values(values: Mapping[str, object], *, title: str | None = None) -> None:
    """Print names and values, one of each a line."""
    width = max((len(name) for name in values), default=0)
    if title:
        click.echo(title)
    for name, value in values.items():
        click.echo(f"{name:<{width}}  {replace_control_characters(_format_cell(value))}")


def print_renderable(renderable: Any) -> None:
    """Print an object of rich on stdout; through a pipe the width is fixed, so that the output is always the same."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, soft_wrap=False)
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    console.print(renderable)


def make_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None) -> Table:
    """Return a table of rich whose cells are plain text, without markup; columns of numbers are right-aligned."""
    from rich.table import Table
    from rich.text import Text

    body = [list(row) for row in rows]
    table = Table(title=title, title_justify="left", header_style="bold")
    for column, name in enumerate(columns):
        is_numeric = bool(body) and all(isinstance(row[column], int | float) for row in body)
        table.add_column(name, justify="right" if is_numeric else "left", overflow="fold")
    for row in body:
        table.add_row(*(Text(replace_control_characters(_format_cell(cell))) for cell in row))
    return table


def _format_cell(cell: object) -> object:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:.3g}" if isinstance(cell, float) else cell


def replace_control_characters(value: object) -> str:
    """Return text that cannot move the cursor or change colours: control characters and surrogates become spaces."""
    return "".join(" " if ord(c) < 32 or 127 <= ord(c) < 160 or 0xD800 <= ord(c) < 0xE000 else c for c in str(value))
