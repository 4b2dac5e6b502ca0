"""Opening the engine that the settings name."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

import click

from indexer.errors import BadParameter, PhraseComError, UnknownIndex

if TYPE_CHECKING:
    from indexer.engines.base import Engine
    from indexer.settings import Settings

_LISTED = 8
"""So many indexes are named one by one; of more only the near ones."""
_NEAR = 60.0
"""How alike two names are, of 100, for the one to be a misspelling of the other."""


def is_server(address: str) -> bool:
    """Whether it is the URL of a server; otherwise it is a folder."""
    return address.startswith(("http://", "https://"))


def check_server(address: str) -> None:
    """Raise BadParameter for what would be taken for a folder."""
    if not is_server(address):
        raise BadParameter(f"{address!r} is no address of Elasticsearch", fix="write http://HOST:9200")


def engine_options(settings: Settings) -> dict[str, Any]:
    """What ``open_engine`` is to be told besides the address."""
    if not is_server(settings.engine):
        return {}
    options: dict[str, Any] = {
        "prefix": settings.index_prefix,
        "shards": settings.shards,
        "replicas": settings.replicas,
        "timeout": settings.engine_timeout_seconds,
        "query_seconds": settings.query_seconds,
    }
    if key := settings.engine_api_key.get_secret_value():
        options["api_key"] = key
    if settings.engine_ca:
        options["ca_certs"] = settings.engine_ca
    return options


@contextmanager
def open_engine_of(settings: Settings) -> Iterator[Engine]:
    """The engine the settings name, for the time of a command.

    Who is at the shell may know all of the engine: an index that is not there is told with where it was looked
    for and what there is, and a command that mends something names the engine that was given with --engine.
    """
    from indexer.engines import open_engine

    with open_engine(settings.engine, **engine_options(settings)) as engine:
        try:
            yield engine
        except UnknownIndex as error:
            _tell_where(error, engine)
            raise
        except PhraseComError as error:
            error.fix = at_the_same_engine(error.fix)
            raise


def _tell_where(error: UnknownIndex, engine: Engine) -> None:
    """Say where the index was looked for, and which near ones there are."""
    try:
        names = engine.indexes()
    except PhraseComError:  # it was there a moment ago
        return
    near = near_names(error.index, names)
    if not names:
        known = "it has none yet"
    elif len(names) <= _LISTED:
        known = f"it has {', '.join(names)}"
    else:
        known = f"it has {len(names)} others, see: phrasecom doctor"
    mean = f"did you mean {' or '.join(near)}? else " if near else ""
    elsewhere = "" if _given_engine() else "say with --engine where it is, or "
    error.detail = f"{error.detail} in {without_credentials(engine.address)} ({known})"
    error.fix = mean + elsewhere + at_the_same_engine(error.fix)


def near_names(name: str, names: Sequence[str]) -> list[str]:
    """At most three that ``name`` may be a misspelling of, the nearest first."""
    from rapidfuzz import fuzz, process

    return [found for found, _, _ in process.extract(name, names, scorer=fuzz.WRatio, limit=3, score_cutoff=_NEAR)]


def without_credentials(address: str) -> str:
    """The folder, or the URL without user and password."""
    if not is_server(address):
        return address
    parts = [urlsplit(one.strip()) for one in address.split(",")]
    return ",".join(urlunsplit(part._replace(netloc=part.netloc.rpartition("@")[2])) for part in parts)


def at_the_same_engine(fix: str) -> str:
    """The fix, its command with the --engine that this one was given."""
    given = _given_engine()
    if not given or ": phrasecom " not in fix or "--engine" in fix:
        return fix
    return f"{fix} --engine {shlex.quote(without_credentials(given))}"


def _given_engine() -> str | None:
    """What this command line says after --engine."""
    context = click.get_current_context(silent=True)
    given = context.params.get("engine") if context else None
    return given if isinstance(given, str) else None
