"""``phrasecom doctor``: one line for everything a working installation needs, each with its fix."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from indexer.cli.options import clean, command, engine_option, print_json, setting_option
from indexer.engines.factory import at_the_same_engine, is_server, open_engine_of, without_credentials
from indexer.errors import BadSetting, PhraseComError, root_cause
from indexer.logging_setup import redact

if TYPE_CHECKING:
    from indexer.engines.base import Engine
    from indexer.settings import Settings

Given = dict[str, str | None]
MARKS = {"ok": ("ok  ", "green"), "note": ("note", "yellow"), "fail": ("FAIL", "red")}
FOR_REDIS = "start Redis or Valkey and name it with redis_url, or serve without: phrasecom serve --inline"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found. A ``note`` is something missing that nothing set up so far needs."""

    what: str
    state: Literal["ok", "note", "fail"]
    detail: str
    fix: str = ""

    @property
    def good(self) -> bool:
        return self.state != "fail"

    def line(self) -> str:
        mark, colour = MARKS[self.state]
        fix = f"; {self.fix}" if self.fix else ""
        return f"{click.style(mark, fg=colour)} {self.what}: {clean(self.detail + fix)}"


@command("doctor")
@engine_option
@setting_option("redis_url", metavar="URL")
def doctor_command(as_json: bool, **given: str | None) -> int:
    """Say what is set up, what is not, and how to mend it.

    A FAIL is something that is set up and does not work; a note, something that is missing and not needed yet.
    Exit status 1 when anything fails.
    """
    findings = list(examine(given))
    good = all(finding.good for finding in findings)
    if as_json:
        print_json({"good": good, "findings": [asdict(f) | {"good": f.good} for f in findings]})
    else:
        for finding in findings:
            click.echo(finding.line())
    return 0 if good else 1


def examine(given: Given) -> Iterator[Finding]:
    """Every check in order; without valid settings, and without its engine, the rest cannot be asked."""
    from indexer.settings import load_settings

    yield _system()
    try:
        settings = load_settings(**given)
    except PhraseComError as error:
        yield _failed("settings", error)
        yield Finding("the rest", "note", "not looked at: it depends on the settings")
        return
    yield Finding("settings", "ok", _source(settings, given))
    yield _checked("write permission", lambda: _write_permission(settings))
    yield from _engine(settings)
    yield _redis(settings)


def _failed(what: str, error: PhraseComError) -> Finding:
    return Finding(what, "fail", redact(error.detail), redact(at_the_same_engine(error.fix)))


def _checked(what: str, check: Callable[[], str]) -> Finding:
    try:
        return Finding(what, "ok", redact(check()))
    except PhraseComError as error:
        return _failed(what, error)


def _system() -> Finding:
    machine = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    if sys.version_info >= (3, 11) and (platform.system(), platform.machine()) == ("Linux", "x86_64"):
        return Finding("system", "ok", machine)
    return Finding("system", "fail", machine, "use Python 3.11 or newer on Linux x86-64")


def _source(settings: Settings, given: Given) -> str:
    """Where values come from, the strongest place first."""
    from indexer.settings import PREFIX

    options = [f"--{name.replace('_', '-')}" for name, value in given.items() if value is not None]
    names = [PREFIX + name.upper() for name in type(settings).model_fields]
    variables = [name for name in names if os.environ.get(name)]
    file = [str(settings.toml)] if settings.toml else []
    return "valid, from " + (", ".join([*options, *variables, *file]) or "the defaults")


def _write_permission(settings: Settings) -> str:
    """Of the engine's folder, or of the folder in which it will be made."""
    if is_server(settings.engine):
        return "not needed: the engine is a server"
    folder = Path(settings.engine).expanduser().absolute()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        raise BadSetting(
            f"cannot write in {existing}: {error.strerror}", fix="name another folder with engine, or mend this one"
        ) from None
    return f"{folder} " + ("can be written" if existing == folder else f"will be made: {existing} can be written")


def _engine(settings: Settings) -> Iterator[Finding]:
    """The engine, then what it holds; one that does not answer is told once."""
    try:
        with open_engine_of(settings) as engine:
            version = f"{engine.kind} {engine.version()}"
            yield Finding("engine", "ok", f"{version} at {without_credentials(engine.address)}")
            yield from _indexes(engine)
    except PhraseComError as error:
        yield _failed("engine", error)
        yield Finding("indexes", "note", "not looked at: the engine cannot be used")


def _indexes(engine: Engine) -> Iterator[Finding]:
    """All that can be read in one line, one line for each that cannot."""
    names = engine.indexes()
    if not names:
        fix = at_the_same_engine("make one with: phrasecom index PATH --index NAME")
        yield Finding("indexes", "note", "none yet", fix)
    found = {name: _checked(f"index {name}", partial(_about, engine, name)) for name in names}
    readable = [f"{name} ({finding.detail})" for name, finding in found.items() if finding.good]
    if readable:
        yield Finding("indexes", "ok", ", ".join(readable))
    yield from (finding for finding in found.values() if not finding.good)


def _about(engine: Engine, index: str) -> str:
    info = engine.open(index).info
    return f"{info.documents:,} documents, {info.phrases:,} phrases"


def _redis(settings: Settings) -> Finding:
    """Needed only by who runs the service apart from its workers; who sets its address says so."""
    import redis

    url = settings.redis_url.get_secret_value()
    try:
        with redis.Redis.from_url(url, socket_connect_timeout=2, socket_timeout=2) as client:
            version = client.info("server").get("redis_version", "of unknown version")
    except (redis.RedisError, ValueError) as error:
        reason = redact(root_cause(error))
        if "redis_url" in settings.model_fields_set:
            return Finding("redis", "fail", f"{redact(url)} does not answer ({reason})", FOR_REDIS)
        needed = "only phrasecom worker and phrasecom serve without --inline need it"
        return Finding("redis", "note", f"none at {redact(url)} ({reason}): {needed}", FOR_REDIS)
    return Finding("redis", "ok", redact(f"{version} at {url}"))
