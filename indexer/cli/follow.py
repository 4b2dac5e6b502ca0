"""``phrasecom attach --follow``: its options, what it remembers, and the loop around the passes."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import wraps
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import quote

import click

from indexer.defaults import MAX_DRIFT
from indexer.errors import BadParameter, PhraseComError, TooSlow, UnknownIndex

if TYPE_CHECKING:
    from indexer.engines.attachment import Attachment
    from indexer.engines.base import Engine
    from indexer.indexing.build import AnalysisOptions
    from indexer.indexing.follow import Follower, PassReport
    from indexer.indexing.notifications import RedisNotifier
    from indexer.progress import Progress
    from indexer.readers.rejects import Rejects
    from indexer.records import FieldMap
    from indexer.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])

_FIRST_WAIT_SECONDS, _MAX_WAIT_SECONDS = 1.0, 60.0
"""How long a failed pass is waited after: twice as long each time."""
_ANALYSIS_OPTIONS = ("language", "min_support", "k", "mu", "sample_documents", "sample_bytes")


@dataclass(frozen=True, slots=True)
class FollowTiming:
    """When passes take place."""

    once: bool
    interval: float
    """Seconds between two passes."""
    check: float
    """Most seconds between two passes by ids."""
    max_drift: float
    """Drift from which a new epoch is built."""


def follow_options(function: F) -> F:
    """Add the options of --follow, which the command gets as ``follow``: None without it."""

    @wraps(function)
    def call(*, follow: bool, once: bool, interval: float, check: float, max_drift: float, **options: Any) -> Any:
        if once and not follow:
            raise click.UsageError("--once is a way of --follow; give both")
        return function(follow=FollowTiming(once, interval, check, max_drift) if follow else None, **options)

    seconds = click.FloatRange(min=0.1)
    for option in (
        click.option(
            "--max-drift",
            type=click.FloatRange(min=0, min_open=True),
            default=MAX_DRIFT,
            show_default=True,
            metavar="SHARE",
            help="Changed share of the index from which --follow mines its phrases again; the old ones answer "
            "meanwhile.",
        ),
        click.option(
            "--check",
            type=seconds,
            default=600.0,
            show_default=True,
            metavar="SECONDS",
            help="Longest time between comparisons of all ids, which find any difference.",
        ),
        click.option(
            "--interval",
            type=seconds,
            default=10.0,
            show_default=True,
            metavar="SECONDS",
            help="Time between two passes of --follow.",
        ),
        click.option("--once", is_flag=True, help="End --follow after one pass, which compares all ids; for cron."),
        click.option(
            "--follow", is_flag=True, help="Keep the index up to date with its source; attach it first if it is new."
        ),
    ):
        call = option(call)
    return call  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class Remembered:
    """What an index was attached with."""

    index: str
    source: str
    """``http://host:9200/index``"""
    attachment: Attachment
    analysis: AnalysisOptions


def has_index(engine: Engine, index: str) -> bool:
    try:
        engine.get_info(index)
    except UnknownIndex:
        return False
    return True


def check_remembered(
    engine: Engine, index: str, source: str | None, fields: FieldMap, options: Mapping[str, str], settings: Settings
) -> Remembered:
    """Return what an index was attached with; raise BadParameter if something else is asked for.

    ``source``, ``fields`` and ``options`` are what the command line gives, ``settings`` those with these options.
    """
    from indexer.indexing.build import AnalysisOptions
    from indexer.indexing.follow import require_attachment
    from indexer.readers.elasticsearch_index import split_index_url

    info = engine.get_info(index)
    attachment, analysis = require_attachment(info), AnalysisOptions.from_index(info)
    address, name = split_index_url(source) if source else (attachment.address, attachment.index)
    if not address:
        raise BadParameter(
            f"the address of {name!r}, the source of index {index!r}, is not known: a former version attached it",
            fix=f"name it once: phrasecom attach http://HOST:9200/{name} --index {index} --follow",
        )
    given = {f"--map {target}": path for target, path in fields.sources.items()}
    known = {f"--map {target}": attachment.fields.get(target, target) for target in fields.sources}
    asked = AnalysisOptions.from_settings(settings)
    for option in options.keys() & set(_ANALYSIS_OPTIONS):
        flag = f"--{option.replace('_', '-')}"
        given[flag], known[flag] = getattr(asked, option), getattr(analysis, option)
    if name != attachment.index:
        given["the source"], known["the source"] = name, attachment.index
    for what, value in given.items():
        if value != known[what]:
            raise BadParameter(
                f"index {index!r} was attached with {what} = {known[what]!r}, not {value!r}",
                fix="leave it out, or attach the index again with it by adding --force",
            )
    return Remembered(index, f"{address}/{quote(name, safe='')}", attachment, analysis)


def follow_source(
    remembered: Remembered,
    key: str | None,
    engine: Engine,
    settings: Settings,
    notifier: RedisNotifier,
    rejects: Rejects,
    timing: FollowTiming,
    as_json: bool,
) -> None:
    """Follow a source until SIGTERM, or for one pass."""
    from indexer.indexing.follow import Follower
    from indexer.readers.elasticsearch_changes import SourceChanges

    with _Termination() as termination, closing(SourceChanges(remembered.source, api_key=key)) as changes:
        if changes.fetch_cluster_id() != remembered.attachment.cluster:
            raise BadParameter(
                f"{changes.address} is not the cluster that index {remembered.index!r} was attached to",
                fix="name the address of that cluster, or attach the index again by adding --force",
            )
        follower = Follower(
            changes,
            engine,
            remembered.index,
            rejects=rejects,
            max_document_bytes=settings.max_document_bytes,
            listener=notifier,
            seconds_between_id_passes=timing.check,
        )
        _print_start(remembered, changes.address, timing, as_json)
        _run_passes(follower, notifier, settings, timing, termination, as_json)


def _run_passes(
    follower: Follower,
    notifier: RedisNotifier,
    settings: Settings,
    timing: FollowTiming,
    termination: _Termination,
    as_json: bool,
) -> None:
    from indexer.logging_setup import redact

    up_to_date_at, failures = time.monotonic(), 0
    while True:
        notifier.failure = None  # the service may be back
        began, wait = time.monotonic(), timing.interval
        try:
            report = follower.run_pass()
            _print_pass(report, as_json)
            up_to_date_at, failures, wait = began, 0, max(wait, follower.get_pause())
            if report.drift > timing.max_drift and report.documents:
                with termination.defer() as progress:
                    epoch = follower.renew_epoch(progress, processes=settings.index_processes)
                text = f"new epoch {epoch.epoch}: {epoch.phrases:,} phrases of {epoch.documents:,} documents"
                print_line(as_json, "epoch", epoch.to_dict(), text)
        except PhraseComError as error:
            if timing.once or not (error.retryable or isinstance(error, TooSlow)):
                raise
            wait, failures = min(_MAX_WAIT_SECONDS, _FIRST_WAIT_SECONDS * 2**failures), failures + 1
            lag = round(time.monotonic() - up_to_date_at, 1)
            detail = redact(error.detail)
            values = {"code": error.code, "detail": detail, "lag_seconds": lag, "retry_seconds": wait}
            text = f"{detail}; {lag:,.0f} s behind, next try in {wait:.0f} s"
            print_line(as_json, "waiting", values, text)
        if timing.once:
            return
        time.sleep(wait)


class _Terminated(KeyboardInterrupt):
    """SIGTERM has come."""


class _Termination:
    """Ends a block of code on SIGTERM: a pass at any point, as the next one does what is left; a build where it can be
    removed, as it would lock the index otherwise."""

    def __init__(self) -> None:
        self._is_due = self._is_deferred = False

    def __enter__(self) -> Self:
        self._previous = signal.signal(signal.SIGTERM, self._handle)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> bool:
        signal.signal(signal.SIGTERM, self._previous)
        if kind is _Terminated:
            click.echo("phrasecom: ended by SIGTERM", err=True)
        return kind is _Terminated

    @contextmanager
    def defer(self) -> Iterator[Progress]:
        """Wait with the end for the next progress of a block, or for its end."""
        self._is_deferred = True
        try:
            yield lambda stage, done, total: self._end_if_due()
        finally:
            self._is_deferred = False
        self._end_if_due()

    def _handle(self, *_: object) -> None:
        self._is_due = True
        if not self._is_deferred:
            raise _Terminated

    def _end_if_due(self) -> None:
        if self._is_due:
            raise _Terminated


def print_line(as_json: bool, event: str, values: Mapping[str, object], text: str) -> None:
    """Print one line: an object with the event and its values, or the time and a text."""
    if as_json:
        click.echo(json.dumps({"event": event, **values}, ensure_ascii=False))
    else:
        click.echo(f"{datetime.now():%Y-%m-%d %H:%M:%S} {text}")


def _print_start(remembered: Remembered, address: str, timing: FollowTiming, as_json: bool) -> None:
    attachment, analysis = remembered.attachment, remembered.analysis
    source = f"{address}/{attachment.index}"
    values = {"index": remembered.index, "source": source, "fields": dict(attachment.fields), **asdict(analysis)}
    fields = ", ".join(
        f"{name}={path}" for name, path in sorted(attachment.fields.items()) if path and name != "vector"
    )
    text = (
        f"index {remembered.index} follows {source}, as it was attached: fields {fields or 'of the same names'}; "
        f"vectors {attachment.vector_field or 'none'}; language {analysis.language}"
    )
    print_line(as_json, "following", {**values, **asdict(timing)}, text)


def _print_pass(report: PassReport, as_json: bool) -> None:
    """Print a pass; to people only one that changed something, or compared all ids."""
    if not as_json and not report.changed_anything and report.by != "ids":
        return
    writes = "" if report.writes is None else f"{report.writes:,} writes, "
    text = (
        f"by {report.by}: {writes}{report.read:,} documents read, {report.added:,} added, {report.deleted:,} deleted, "
        f"{report.rejected:,} rejected; {report.lag_seconds:.1f} s behind, {report.requests:,} requests, "
        f"drift {report.drift:.3f}"
    )
    print_line(as_json, "pass", report.to_dict(), text)
