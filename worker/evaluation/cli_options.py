"""Options and checks that the evaluation commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import click

from indexer.errors import BadInput

T = TypeVar("T")
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
PRESET = click.Choice(["default", "paper"])
keyphrases_option = click.option(
    "--keyphrases",
    type=FILE,
    multiple=True,
    required=True,
    help="Documents with keyphrases, as JSON lines; may be repeated.",
)
background_option = click.option(
    "--background", type=FILE, multiple=True, help="More documents for the graph; may be repeated."
)
NO_PAIR = ("no two documents share a keyword", "give more documents with keyphrases, or choose another --part")
"""Problem and fix where no pair could be drawn."""


def require_any(drawn: list[T], problem: str, fix: str) -> list[T]:
    """Return the drawn items; raise BadInput if there are none, since a table of nothing would look like a result."""
    if not drawn:
        raise BadInput(problem, fix=fix)
    return drawn
