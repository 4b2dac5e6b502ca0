"""What the commands that build or change an index share: options, workspace, notifier, output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from indexer.cli.engine_hints import open_engine_with_hints
from indexer.cli.options import engine_option, index_option, setting_options
from indexer.cli.output import print_json, print_key_values
from indexer.readers.rejects import Rejects

if TYPE_CHECKING:
    from indexer.documents import Document
    from indexer.engines.attachment import Attachment
    from indexer.engines.base import Engine
    from indexer.indexing.build import BuildReport
    from indexer.indexing.notifications import RedisNotifier
    from indexer.progress import Progress
    from indexer.settings import Settings

F = TypeVar("F", bound=Callable[..., object])

map_option = click.option(
    "--map",
    "maps",
    multiple=True,
    metavar="FIELD=NAME",
    help="Source of a field, e.g. title=headline or facets.topic=category; may be repeated.",
)
rejects_option = click.option(
    "--rejects",
    "rejects_path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File for rejected records.  [default: NAME.rejects.jsonl]",
)
paths_argument = click.argument("paths", nargs=-1, required=True, metavar="PATH...")
analysis_options = setting_options(
    "language", "min_support", "k", "mu", "sample_documents", "sample_bytes", "index_processes"
)
force_option = click.option("--force", is_flag=True, help="Rebuild even if the content has not changed.")


def reading_options(function: F) -> F:
    """Add the options of a command that reads documents into an index."""
    for option in (rejects_option, map_option, engine_option, index_option):
        function = option(function)
    return function


def build(
    read: Callable[[Settings, Rejects], Iterable[Document]],
    index: str,
    rejects_path: Path | None,
    force: bool,
    is_quiet: bool,
    options: dict[str, str | None],
    attachment: Attachment | None = None,
    share: Callable[[Settings, Engine, Rejects, Progress], BuildReport | None] | None = None,
) -> tuple[BuildReport, Rejects]:
    """Build an index with ``share``, if it is given and does so, or else in this process."""
    from indexer.indexing.build import AnalysisOptions, build_index

    with (
        open_workspace(options, is_quiet) as (settings, engine, progress),
        open_service_notifier(settings) as notifier,
        Rejects(rejects_path or get_default_rejects_path(index)) as rejects,
    ):
        report = share(settings, engine, rejects, progress) if share else None
        report = report or build_index(
            read(settings, rejects),
            engine,
            index,
            AnalysisOptions.from_settings(settings),
            progress,
            rejects=rejects,
            processes=settings.index_processes,
            force=force,
            attachment=attachment,
        )
        if not report.unchanged:
            notifier.set_epoch(index, report.epoch)
    return report, rejects


@contextmanager
def open_workspace(options: dict[str, str | None], is_quiet: bool) -> Iterator[tuple[Settings, Engine, Progress]]:
    """Load the settings, open the engine and show a progress bar for the duration of a command."""
    from indexer.progress import progress_bar
    from indexer.settings import load_settings

    settings = load_settings(**options)
    with open_engine_with_hints(settings) as engine, progress_bar(is_quiet) as progress:
        yield settings, engine, progress


@contextmanager
def open_service_notifier(settings: Settings) -> Iterator[RedisNotifier]:
    """Yield a notifier of the running service; warn at the end if one is set that could not be reached."""
    from indexer.indexing.notifications import open_notifier

    notifier = open_notifier(settings)
    try:
        yield notifier
    finally:
        notifier.close()
    if notifier.failure and "redis_url" in settings.model_fields_set:
        click.echo(
            f"phrasecom: cannot notify the service ({notifier.failure}); it will notice the change within a minute",
            err=True,
        )


def get_default_rejects_path(index: str) -> Path:
    from indexer.identifiers import check_index_name

    return Path(f"{check_index_name(index)}.rejects.jsonl")


def print_rejects_and_get_exit_status(rejects: Rejects) -> int:
    """Print a summary of the rejects on stderr; return the exit status."""
    if not rejects.count:
        return 0
    first, records = rejects.examples[0], "record" if rejects.count == 1 else "records"
    click.echo(
        f"phrasecom: {rejects.count:,} {records} rejected, listed in {rejects.path}; "
        f"the first: {first.source}, line {first.line}: {first.reason}",
        err=True,
    )
    return 1


def print_build(report: BuildReport, rejects: Rejects | None, as_json: bool) -> int:
    """Print the result of a build; return the exit status."""
    if as_json:
        print_json(report.to_dict())
    else:
        _print_build_table(report)
    return print_rejects_and_get_exit_status(rejects) if rejects else 0


def _print_build_table(report: BuildReport) -> None:
    state = "is unchanged" if report.unchanged else "is ready"
    seconds = ", ".join(f"{stage} {time:.1f}" for stage, time in report.seconds.items())
    rows = {
        "documents": report.documents,
        "mined": f"{report.mined_documents:,} of them" if report.mined_documents < report.documents else "all of them",
        "phrases": f"{report.phrases:,} ({report.pairs:,} of them pairs)",
        "edges": report.edges,
        "rejected": report.rejects,
        "epoch": report.epoch,
        "seconds": seconds,
    }
    shared = {name: value for name, value in report.to_dict().items() if name in ("slices", "workers", "retries")}
    print_key_values(rows | shared, title=f"index {report.index} {state}")


def warn(message: str) -> None:
    click.echo(f"phrasecom: {message}", err=True)
