"""Options of commands that change parameters of the method: ``NAME=VALUE``."""

from __future__ import annotations

from collections.abc import Sequence

import click

from worker.explain.spec import MODEL_OPTIONS
from worker.solver.ranking_weights import ODDS_OPTIONS, ODDS_PREFIX


def _parse_values(text: str, example: str, known: Sequence[str]) -> tuple[str, list[object]]:
    """Return the name and the values, numbers where possible, of ``NAME=VALUE,VALUE``."""
    name, equals, values = text.partition("=")
    if not name or not equals or not values:
        raise click.BadParameter(f"{text!r} is not {example}")
    if name not in known:
        raise click.BadParameter(f"no parameter named {name!r}; use one of {', '.join(known)}")
    return name, [_parse_number(value) for value in dict.fromkeys(values.split(","))]


def _parse_number(text: str) -> object:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _parse_settings(context: click.Context, option: click.Parameter, texts: Sequence[str]) -> dict[str, object]:
    known = [*MODEL_OPTIONS, *ODDS_OPTIONS]
    settings = dict(_parse_values(text, "NAME=VALUE, such as lambda=0.1", known) for text in texts)
    return {name: values[0] if len(values) == 1 else values for name, values in settings.items()}


def _parse_variations(
    context: click.Context, option: click.Parameter, texts: Sequence[str]
) -> list[tuple[str, list[object]]]:
    known = [*MODEL_OPTIONS, "neighbours", *ODDS_OPTIONS]
    return [_parse_values(text, "NAME=VALUE,VALUE, such as lambda=0,0.1", known) for text in texts]


_NAMES = ", ".join(MODEL_OPTIONS)
parameters_option = click.option(
    "--set", "parameters", multiple=True, callback=_parse_settings, metavar="NAME=VALUE",
    help=f"Override a parameter of the preset ({_NAMES}; {ODDS_PREFIX}... for the ranking); may be repeated.",
)  # fmt: skip
vary_option = click.option(
    "--vary", multiple=True, callback=_parse_variations, metavar="NAME=VALUE,...",
    help=f"Add a row for cda with each value of a parameter ({_NAMES}, neighbours; {ODDS_PREFIX}... for the "
    "ranking); may be repeated.",
)  # fmt: skip
