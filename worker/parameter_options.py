"""Options of commands that change parameters of the method: ``NAME=VALUE``."""

from __future__ import annotations

from collections.abc import Sequence

import click

from worker.explain.spec import MODEL_OPTIONS


def _values(written: str, example: str, known: Sequence[str]) -> tuple[str, list[object]]:
    """``NAME=VALUE,VALUE`` -> the name, and values as numbers where they are."""
    name, equals, values = written.partition("=")
    if not name or not equals or not values:
        raise click.BadParameter(f"{written!r} is not {example}")
    if name not in known:
        raise click.BadParameter(f"no parameter named {name!r}; use one of {', '.join(known)}")
    return name, [_number(value) for value in dict.fromkeys(values.split(","))]


def _number(written: str) -> object:
    for kind in (int, float):
        try:
            return kind(written)
        except ValueError:
            continue
    return written


def _each(context: click.Context, option: click.Parameter, written: Sequence[str]) -> dict[str, object]:
    found = dict(_values(one, "NAME=VALUE, such as lambda=0.1", [*MODEL_OPTIONS]) for one in written)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def _all(context: click.Context, option: click.Parameter, written: Sequence[str]) -> list[tuple[str, list[object]]]:
    known = [*MODEL_OPTIONS, "neighbours"]
    return [_values(one, "NAME=VALUE,VALUE, such as lambda=0,0.1", known) for one in written]


_NAMES = ", ".join(MODEL_OPTIONS)
parameters_option = click.option(
    "--set", "parameters", multiple=True, callback=_each, metavar="NAME=VALUE",
    help=f"A parameter of the method ({_NAMES}) in place of the preset's; may be repeated.",
)  # fmt: skip
vary_option = click.option(
    "--vary", multiple=True, callback=_all, metavar="NAME=VALUE,...",
    help=f"A row more for cda with each value of a parameter ({_NAMES}, neighbours); may be repeated.",
)  # fmt: skip
