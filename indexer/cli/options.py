"""Options and output that every command shares."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from indexer.engines.factory import open_engine_of as open_engine_of

if TYPE_CHECKING:
    from rich.table import Table

F = TypeVar("F", bound=Callable[..., Any])


class SettingOption(click.Option):
    """An option that overrides a setting of the same name: help and default come from its table."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        from indexer.settings import describe

        self.help = describe(str(self.name))
        return super().get_help_record(ctx)


def setting_option(name: str, *, metavar: str | None = None) -> Callable[[F], F]:
    """``--name VALUE``, None when it is not given; the settings check the value."""
    flag = "--" + name.replace("_", "-")
    return click.option(flag, name, cls=SettingOption, metavar=metavar or name.rpartition("_")[2].upper())


def setting_options(*names: str) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        for name in reversed(names):
            function = setting_option(name)(function)
        return function

    return decorate


def _note_debug(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and ctx.obj is not None:
        ctx.obj.debug = True


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
debug_option = click.option(
    "--debug", is_flag=True, expose_value=False, callback=_note_debug, is_eager=True, help="Show where an error arose."
)
index_option = click.option("--index", required=True, metavar="NAME", help="The index.")
engine_option = setting_option("engine", metavar="FOLDER|URL")


def command(name: str) -> Callable[[Callable[..., Any]], click.Command]:
    """A click command with ``--json`` and ``--debug``, its help taken from the docstring."""

    def decorate(function: Callable[..., Any]) -> click.Command:
        return click.command(name)(json_option(debug_option(function)))

    return decorate


def print_json(value: object) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def clean(value: object) -> str:
    """Text that cannot move the cursor or change colours: control characters become spaces."""
    return "".join(" " if ord(c) < 32 or 127 <= ord(c) < 160 or 0xD800 <= ord(c) < 0xE000 else c for c in str(value))


def make_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None) -> Table:
    """A table whose cells are shown as they are; numbers are set to the right."""
    from rich.table import Table
    from rich.text import Text

    body = [list(row) for row in rows]
    table = Table(title=title, title_justify="left", header_style="bold")
    for at, name in enumerate(columns):
        numeric = bool(body) and all(isinstance(row[at], int | float) for row in body)
        table.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in body:
        table.add_row(*(Text(clean(_number(cell))) for cell in row))
    return table


def _number(cell: object) -> object:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:.3g}" if isinstance(cell, float) else cell


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None) -> None:
    show(make_table(columns, rows, title=title))


def print_pairs(values: Mapping[str, object], *, title: str | None = None) -> None:
    """Names and values, one pair a line."""
    width = max((len(name) for name in values), default=0)
    if title:
        click.echo(title)
    for name, value in values.items():
        click.echo(f"{name:<{width}}  {clean(_number(value))}")


def show(renderable: Any) -> None:
    """Draw on stdout; through a pipe the width is fixed, so that the same answer gives the same bytes."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, soft_wrap=False)
    if not console.is_terminal:
        console.width = 120
    console.print(renderable)
