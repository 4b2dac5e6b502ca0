"""Options that the commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


class SettingOption(click.Option):
    """An option that overrides the setting of the same name and takes help and default from it."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        from indexer.settings import describe_setting

        self.help = describe_setting(str(self.name))
        return super().get_help_record(ctx)


def setting_option(name: str, *, metavar: str | None = None) -> Callable[[F], F]:
    """Return the option ``--name VALUE``, None if it is not given; the settings check its value."""
    flag = "--" + name.replace("_", "-")
    return click.option(flag, name, cls=SettingOption, metavar=metavar or name.rpartition("_")[2].upper())


def setting_options(*names: str) -> Callable[[F], F]:
    """Return a decorator that adds the options of several settings."""

    def decorate(function: F) -> F:
        for name in reversed(names):
            function = setting_option(name)(function)
        return function

    return decorate


def _set_debug(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and ctx.obj is not None:
        ctx.obj.debug = True


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
debug_option = click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    callback=_set_debug,
    is_eager=True,
    help="Show the stack trace of an error.",
)
index_option = click.option("--index", required=True, metavar="NAME", help="Name of the index.")
engine_option = setting_option("engine", metavar="FOLDER|URL")


def command(name: str, help: str | None = None) -> Callable[[Callable[..., Any]], click.Command]:
    """Return ``click.command`` with ``--json`` and ``--debug`` added; without ``help`` it takes the docstring."""

    def decorate(function: Callable[..., Any]) -> click.Command:
        return click.command(name, help=help)(json_option(debug_option(function)))

    return decorate
