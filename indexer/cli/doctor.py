"""``phrasecom doctor``: checks of everything a working installation needs, each with its fix."""

from __future__ import annotations

import importlib
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

from indexer.cli.engine_hints import add_engine_option_to_fix, open_engine_with_hints
from indexer.cli.options import command, engine_option, setting_option
from indexer.cli.output import print_json, replace_control_characters
from indexer.engines.factory import is_server_url, strip_credentials
from indexer.errors import BadSetting, PhraseComError, describe_root_cause
from indexer.logging_setup import redact
from indexer.progress import Progress, progress_bar

if TYPE_CHECKING:
    from indexer.engines.base import Engine
    from indexer.settings import Settings

SettingOptions = dict[str, str | None]
"""Setting -> value given on the command line."""
STATE_MARKS = {"ok": ("ok  ", "green"), "note": ("note", "yellow"), "fail": ("FAIL", "red")}
REDIS_FIX = "start Redis or Valkey and set redis_url, or do without it: phrasecom serve --inline"


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of one check; a ``note`` is about something missing that is not needed yet. Printed by field name."""

    what: str
    state: Literal["ok", "note", "fail"]
    detail: str
    fix: str = ""

    @property
    def is_good(self) -> bool:
        return self.state != "fail"

    def format_line(self) -> str:
        mark, colour = STATE_MARKS[self.state]
        fix = f"; {self.fix}" if self.fix else ""
        return f"{click.style(mark, fg=colour)} {self.what}: {replace_control_characters(self.detail + fix)}"


@command("doctor")
@engine_option
@setting_option("redis_url", metavar="URL")
def doctor_command(as_json: bool, **options: str | None) -> int:
    """Check the installation and say how to fix what does not work.

    FAIL marks something that is configured and does not work; note marks something that is missing but not needed
    yet. The exit status is 1 if anything fails. The files of embedded indexes are compared with their checksums, which
    takes about a second per gigabyte, and attached indexes with their sources, document by document.
    """
    findings = list(run_checks(options))
    is_good = all(finding.is_good for finding in findings)
    if as_json:
        print_json({"good": is_good, "findings": [asdict(f) | {"good": f.is_good} for f in findings]})
    else:
        for finding in findings:
            click.echo(finding.format_line())
    return 0 if is_good else 1


def run_checks(options: SettingOptions) -> Iterator[Finding]:
    """Run every check in order; without valid settings, or without the engine, those that depend on it are left out."""
    from indexer.settings import load_settings

    yield _check_system()
    try:
        settings = load_settings(**options)
    except PhraseComError as error:
        yield _make_failure("settings", error)
        yield Finding("the rest", "note", "not checked: it depends on the settings")
        return
    yield Finding("settings", "ok", _describe_setting_sources(settings, options))
    yield _run_check("write permission", lambda: _check_write_permission(settings))
    yield from _check_engine(settings)
    yield _check_redis(settings)
    if settings.keys_file:
        yield _check_keys(settings)


def _make_failure(what: str, error: PhraseComError) -> Finding:
    return Finding(what, "fail", redact(error.detail), redact(add_engine_option_to_fix(error.fix)))


def _run_check(what: str, check: Callable[[], str]) -> Finding:
    try:
        return Finding(what, "ok", redact(check()))
    except PhraseComError as error:
        return _make_failure(what, error)


def _check_system() -> Finding:
    machine = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    if sys.version_info >= (3, 11) and (platform.system(), platform.machine()) == ("Linux", "x86_64"):
        return Finding("system", "ok", machine)
    return Finding("system", "fail", machine, "use Python 3.11 or newer on Linux x86-64")


def _describe_setting_sources(settings: Settings, options: SettingOptions) -> str:
    """Return where the values of the settings come from, in order of precedence."""
    from indexer.settings import ENVIRONMENT_PREFIX

    flags = [f"--{name.replace('_', '-')}" for name, value in options.items() if value is not None]
    names = [ENVIRONMENT_PREFIX + name.upper() for name in type(settings).model_fields]
    variables = [name for name in names if os.environ.get(name)]
    file = [str(settings.config_file)] if settings.config_file else []
    return "valid, from " + (", ".join([*flags, *variables, *file]) or "the defaults")


def _check_write_permission(settings: Settings) -> str:
    """Check the folder of the engine, or the one in which it will be made; raise BadSetting if it is read-only."""
    if is_server_url(settings.engine):
        return "not needed: the engine is a server"
    folder = Path(settings.engine).expanduser().absolute()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        raise BadSetting(
            f"cannot write in {existing}: {error.strerror}", fix="set engine to another folder, or fix this one"
        ) from None
    return f"{folder} " + ("is writable" if existing == folder else f"will be created: {existing} is writable")


def _check_engine(settings: Settings) -> Iterator[Finding]:
    """Check the engine, then its indexes; without an answer the indexes are not checked."""
    try:
        with open_engine_with_hints(settings) as engine:
            version = f"{engine.kind} {engine.get_version()}"
            yield Finding("engine", "ok", f"{version} at {strip_credentials(engine.address)}")
            yield from _check_indexes(engine)
    except PhraseComError as error:
        yield _make_failure("engine", error)
        yield Finding("indexes", "note", "not checked: the engine cannot be used")


def _check_indexes(engine: Engine) -> Iterator[Finding]:
    """Check every index: one finding for all that can be read, one for each that cannot."""
    names = engine.list_indexes()
    if not names:
        fix = add_engine_option_to_fix("build one with: phrasecom index PATH --index NAME")
        yield Finding("indexes", "note", "none yet", fix)
    unchecked: list[str] = []
    with progress_bar() as progress:
        findings = {
            name: _run_check(f"index {name}", partial(_describe_index, engine, name, progress, unchecked))
            for name in names
        }
    readable = [f"{name} ({finding.detail})" for name, finding in findings.items() if finding.is_good]
    if readable:
        yield Finding("indexes", "ok", ", ".join(readable))
    yield from (finding for finding in findings.values() if not finding.is_good)
    for name in (name for name, finding in findings.items() if finding.is_good):
        yield from _check_source(engine, name)
    for name in unchecked:
        fix = add_engine_option_to_fix(f"make them with: phrasecom refresh --index {name}")
        yield Finding(f"checksums of {name}", "note", "no checksums: damaged files may go unnoticed", fix)


def _describe_index(engine: Engine, index: str, progress: Progress, unchecked: list[str]) -> str:
    """Return the size of an index; add its name to ``unchecked`` if its files have no checksums."""
    if not engine.check_files(index, progress):
        unchecked.append(index)
    info = engine.open_reader(index).info
    return f"{info.documents:,} documents, {info.phrases:,} phrases"


def _check_source(engine: Engine, index: str) -> Iterator[Finding]:
    """Compare an attached index with its source, document by document; nothing for any other index."""
    from indexer.engines.attachment import Attachment

    what, fix = f"source of {index}", "attach it again: phrasecom attach URL/INDEX --index " + index
    try:
        reader = engine.open_reader(index)
        attachment, source = Attachment.from_info(reader.info), engine.attached_source(reader.info)
        if attachment is None:
            return
        if source is None:
            yield Finding(what, "note", f"not checked: {attachment.index} is not in the cluster of the engine")
        elif not source.has_revisions:
            yield Finding(what, "note", "how far the index is behind is unknown until it is attached again", fix)
        else:
            lag = source.measure_lag(reader.scan_versions())
            counts = f"{lag.missing:,} documents not indexed, {lag.changed:,} changed, {lag.deleted:,} deleted"
            vectors = f"; vectors: field {attachment.vector_field}" if attachment.vector_field else ""
            detail = f"{attachment.index} since it was attached: {counts}{vectors}"
            fix = f"bring it up to date with: phrasecom attach --index {index} --follow --once"
            yield Finding(what, "note", detail, fix) if any(lag) else Finding(what, "ok", detail)
    except PhraseComError as error:
        yield _make_failure(what, error)


def _check_redis(settings: Settings) -> Finding:
    """Check Redis; only a service that runs apart from its workers needs it, so it may be missing unless it is set."""
    import redis

    from indexer.indexing.notifications import KEY_PREFIX

    url = settings.redis_url.get_secret_value()
    try:
        with redis.Redis.from_url(url, socket_connect_timeout=2, socket_timeout=2) as client:
            server = client.info("server")
            version = server.get("valkey_version") or server.get("redis_version", "unknown version")
            client.set(f"{KEY_PREFIX}doctor", b"", px=1000)  # a server that answers may refuse writes
    except (redis.RedisError, ValueError) as error:
        reason = redact(describe_root_cause(error))
        if "redis_url" in settings.model_fields_set:
            problem = "refuses commands" if isinstance(error, redis.ResponseError) else "does not answer"
            return Finding("redis", "fail", f"{redact(url)} {problem} ({reason})", REDIS_FIX)
        needed = "only phrasecom worker and phrasecom serve without --inline need it"
        return Finding("redis", "note", f"none at {redact(url)} ({reason}): {needed}", REDIS_FIX)
    return Finding("redis", "ok", redact(f"{version} at {url}"))


def _check_keys(settings: Settings) -> Finding:
    """Check the file of API keys; before the first key is created there may be none."""
    if not Path(settings.keys_file).exists():
        fix = "create it with: phrasecom keys add NAME"
        return Finding("keys", "note", f"no file {settings.keys_file} yet, which phrasecom serve needs", fix)
    # By name, like the commands: this package does not import the others.
    check_keys_file = importlib.import_module("webapi.auth.gate").check_keys_file

    def check() -> str:
        check_keys_file(settings)
        return f"{settings.keys_file} is valid"

    return _run_check("keys", check)
