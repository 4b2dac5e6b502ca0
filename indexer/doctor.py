"""``phrasecom doctor``: one line for everything a working installation needs, each with its fix."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexer.errors import PhraseComError
from indexer.logs import redact
from indexer.opening import is_server, open_engine_of
from indexer.options import clean, command, engine_option, print_json, setting_option

if TYPE_CHECKING:
    from indexer.settings import Settings


@dataclass(frozen=True, slots=True)
class Finding:
    what: str
    good: bool
    detail: str
    fix: str = ""


@command("doctor")
@engine_option
@setting_option("redis_url", metavar="URL")
def doctor_command(as_json: bool, **given: str | None) -> int:
    """Say what is set up, what is not, and how to mend it."""
    findings = list(examine(given))
    if as_json:
        print_json({"good": all(f.good for f in findings), "findings": [asdict(f) for f in findings]})
    else:
        for finding in findings:
            mark = click.style("ok  ", fg="green") if finding.good else click.style("FAIL", fg="red")
            fix = f"; {finding.fix}" if finding.fix and not finding.good else ""
            click.echo(f"{mark} {finding.what}: {clean(finding.detail)}{clean(fix)}")
    return 0 if all(finding.good for finding in findings) else 1


def examine(given: dict[str, str | None]) -> Iterator[Finding]:
    """Every check in order; without valid settings the rest cannot be asked."""
    from indexer.settings import load_settings

    yield _python()
    try:
        settings = load_settings(**given)
    except PhraseComError as error:
        yield Finding("settings", False, error.detail, error.fix)
        return
    yield Finding("settings", True, _source())
    for what, check in (
        ("write permission", _write_permission),
        ("engine", _engine),
        ("indexes", _indexes),
        ("redis", _redis),
    ):
        yield _checked(what, check, settings)


def _checked(what: str, check: Callable[[Settings], str], settings: Settings) -> Finding:
    try:
        return Finding(what, True, redact(check(settings)))
    except PhraseComError as error:
        return Finding(what, False, redact(error.detail), redact(error.fix))


def _python() -> Finding:
    version = platform.python_version()
    machine = f"Python {version} on {platform.system()} {platform.machine()}"
    good = sys.version_info >= (3, 11) and (platform.system(), platform.machine()) == ("Linux", "x86_64")
    return Finding("system", good, machine, "use Python 3.11 or newer on Linux x86-64")


def _source() -> str:
    from indexer.settings import PREFIX, Settings

    names = sorted(name for name in os.environ if name.startswith(PREFIX))
    places = ([str(Settings.toml)] if Settings.toml else []) + names
    return "valid, from " + (", ".join(places) if places else "the defaults")


def _write_permission(settings: Settings) -> str:
    """Of the engine's folder, or of the nearest folder above it that exists."""
    from indexer.errors import BadSetting

    if is_server(settings.engine):
        return "not needed: the engine is a server"
    folder = Path(settings.engine).expanduser().absolute()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        raise BadSetting(f"cannot write in {existing}", fix="name another folder with engine, or mend its permissions")
    return f"{folder} can be written"


def _engine(settings: Settings) -> str:
    with open_engine_of(settings) as engine:
        return f"{engine.kind} {engine.version()} at {settings.engine}"


def _indexes(settings: Settings) -> str:
    with open_engine_of(settings) as engine:
        infos = [engine.open(name).info for name in sorted(engine.indexes())]
    if not infos:
        return "none yet; make one with: phrasecom index PATH --index NAME"
    return ", ".join(f"{info.name} ({info.documents:,} documents, {info.phrases:,} phrases)" for info in infos)


def _redis(settings: Settings) -> str:
    import redis

    from indexer.errors import StoreUnavailable

    url = settings.redis_url.get_secret_value()
    fix = "start Redis or Valkey, or serve without it: phrasecom serve --inline"
    try:
        with redis.Redis.from_url(url, socket_connect_timeout=2, socket_timeout=2) as client:
            version = client.info("server").get("redis_version", "of unknown version")
    except (redis.RedisError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise StoreUnavailable(f"{redact(url)} does not answer: {reason}", fix=fix) from None
    return f"{version} at {url}"
