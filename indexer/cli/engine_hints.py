"""Opening an engine for a command, with hints in its errors: existing indexes, and the ``--engine`` that was given."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from indexer.engines.factory import open_engine_from_settings, strip_credentials
from indexer.errors import PhraseComError, UnknownIndex

if TYPE_CHECKING:
    from indexer.engines.base import Engine
    from indexer.settings import Settings

_MAX_LISTED_INDEXES = 8
"""An engine with more indexes than this is described by their number instead of their names."""
_MIN_SIMILARITY = 60.0
"""Similarity of two names, of 100, from which one may be a misspelling of the other."""


@contextmanager
def open_engine_with_hints(settings: Settings) -> Iterator[Engine]:
    """Open the engine that the settings name for the duration of a command.

    A user of the shell may see all of the engine: the error for an unknown index names the engine and its indexes,
    and commands suggested as a fix repeat the ``--engine`` of this one.
    """
    with open_engine_from_settings(settings) as engine:
        try:
            yield engine
        except UnknownIndex as error:
            _add_known_indexes(error, engine)
            raise
        except PhraseComError as error:
            error.fix = add_engine_option_to_fix(error.fix)
            raise


def _add_known_indexes(error: UnknownIndex, engine: Engine) -> None:
    """Add the engine's address and its indexes, similar ones first, to the error."""
    try:
        names = engine.list_indexes()
    except PhraseComError:  # it was there a moment ago
        return
    similar = find_similar_names(error.index, names)
    if not names:
        known = "it has none yet"
    elif len(names) <= _MAX_LISTED_INDEXES:
        known = f"it has {', '.join(names)}"
    else:
        known = f"it has {len(names)} others, see: phrasecom doctor"
    suggestion = f"did you mean {' or '.join(similar)}? otherwise " if similar else ""
    elsewhere = "" if _get_engine_option() else "set --engine to its location, or "
    error.detail = f"{error.detail} in {strip_credentials(engine.address)} ({known})"
    error.fix = suggestion + elsewhere + add_engine_option_to_fix(error.fix)


def find_similar_names(name: str, names: Sequence[str]) -> list[str]:
    """Return at most three of ``names`` that ``name`` may be a misspelling of, the most similar first."""
    from rapidfuzz import fuzz, process

    matches = process.extract(name, names, scorer=fuzz.WRatio, limit=3, score_cutoff=_MIN_SIMILARITY)
    return [match for match, _, _ in matches]


def add_engine_option_to_fix(fix: str) -> str:
    """Return the fix with the ``--engine`` of this command line added to the command that it suggests."""
    address = _get_engine_option()
    if not address or ": phrasecom " not in fix or "--engine" in fix:
        return fix
    return f"{fix} --engine {shlex.quote(strip_credentials(address))}"


def _get_engine_option() -> str | None:
    context = click.get_current_context(silent=True)
    address = context.params.get("engine") if context else None
    return address if isinstance(address, str) else None
