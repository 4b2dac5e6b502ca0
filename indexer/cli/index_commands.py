"""Commands that make and change an index: index, attach, add, delete, refresh."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from indexer.cli.options import (
    command,
    engine_option,
    index_option,
    print_json,
    print_pairs,
    setting_options,
)
from indexer.engines.factory import open_engine_of

if TYPE_CHECKING:
    from indexer.documents import Document
    from indexer.engines.attachment import Attached
    from indexer.engines.base import Engine
    from indexer.indexing.build import BuildReport
    from indexer.indexing.notifications import Audience
    from indexer.progress import Progress
    from indexer.readers import Rejects
    from indexer.settings import Settings

F = TypeVar("F", bound=Callable[..., object])

map_option = click.option(
    "--map",
    "maps",
    multiple=True,
    metavar="FIELD=NAME",
    help="Where a field comes from, e.g. title=headline, facets.topic=category; may be given again.",
)
rejects_option = click.option(
    "--rejects",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File for records that could not be taken.  [default: NAME.rejects.jsonl]",
)
paths_argument = click.argument("paths", nargs=-1, required=True, metavar="PATH...")
analysis_options = setting_options("language", "min_support", "k", "mu", "index_processes")
force_option = click.option("--force", is_flag=True, help="Build even if the index holds the same content.")


def reading_options(function: F) -> F:
    """Of a command that reads documents into an index."""
    for option in (rejects_option, map_option, engine_option, index_option):
        function = option(function)
    return function


@command("index")
@paths_argument
@reading_options
@analysis_options
@force_option
def index_command(
    paths: tuple[str, ...],
    index: str,
    maps: tuple[str, ...],
    rejects: Path | None,
    force: bool,
    as_json: bool,
    **given: str | None,
) -> int:
    """Make an index from files: .jsonl, .csv or .tsv (also .gz), a folder of .txt, .md and .html pages, or -
    for JSON lines on standard input.

    An index of the same name is replaced at once when the new one is ready. Records that cannot be
    taken are written to a file and the rest goes on; the exit status is then 1.
    """
    from indexer.readers import FieldMap, read_documents

    fields = FieldMap.parse(maps)

    def documents(settings: Settings, found: Rejects) -> Iterable[Document]:
        return read_documents(paths, found, fields, settings.max_document_bytes)

    return _build(documents, index, rejects, force, as_json, given)


@command("attach")
@click.argument("source", metavar="URL/INDEX")
@reading_options
@analysis_options
@force_option
@click.option("--source-api-key", metavar="KEY", help="API key for the source, if it needs one.")
def attach_command(
    source: str,
    index: str,
    maps: tuple[str, ...],
    rejects: Path | None,
    force: bool,
    source_api_key: str | None,
    as_json: bool,
    **given: str | None,
) -> int:
    """Make an index from an existing Elasticsearch index, which is only read: phrasecom attach
    http://localhost:9200/news --index news --map text=body. Where both are on the same server, a search over HTTP
    is answered by the existing index itself.
    """
    from indexer.readers import FieldMap
    from indexer.readers.elasticsearch_index import describe, read_existing

    fields = FieldMap.parse(maps)

    def documents(settings: Settings, found: Rejects) -> Iterable[Document]:
        return read_existing(source, found, fields, settings.max_document_bytes, api_key=source_api_key)

    attached = describe(source, fields, api_key=source_api_key)
    return _build(documents, index, rejects, force, as_json, given, attached)


def _build(
    documents: Callable[[Settings, Rejects], Iterable[Document]],
    index: str,
    rejects: Path | None,
    force: bool,
    as_json: bool,
    given: dict[str, str | None],
    attached: Attached | None = None,
) -> int:
    from indexer.indexing.build import Analysis, build_index
    from indexer.readers import Rejects

    with (
        _at_work(given, as_json) as (settings, engine, progress),
        _telling(settings) as audience,
        Rejects(_rejects_path(index, rejects)) as found,
    ):
        report = build_index(
            documents(settings, found),
            engine,
            index,
            Analysis.of(settings),
            progress,
            rejects=found,
            processes=settings.index_processes,
            force=force,
            attached=attached,
        )
        if not report.unchanged:
            audience.new_epoch(index, report.epoch)
    _print_build(report, as_json)
    return _say_rejects(found)


@contextmanager
def _at_work(given: dict[str, str | None], quiet: bool) -> Iterator[tuple[Settings, Engine, Progress]]:
    """Settings, an open engine and a progress bar for the time of the work."""
    from indexer.progress import progress_bar
    from indexer.settings import load_settings

    settings = load_settings(**given)
    with open_engine_of(settings) as engine, progress_bar(quiet) as progress:
        yield settings, engine, progress


@contextmanager
def _telling(settings: Settings) -> Iterator[Audience]:
    """The running service, to be told of what is written; one that was set and cannot be reached is named."""
    from indexer.indexing.notifications import audience_of

    audience = audience_of(settings)
    try:
        yield audience
    finally:
        audience.close()
    if audience.unreached and "redis_url" in settings.model_fields_set:
        click.echo(
            f"phrasecom: the service could not be told ({audience.unreached}); it notices by itself within a minute",
            err=True,
        )


def _rejects_path(index: str, given: Path | None) -> Path:
    from indexer.identifiers import check_index_name

    return given or Path(f"{check_index_name(index)}.rejects.jsonl")


def _say_rejects(rejects: Rejects) -> int:
    if not rejects.count:
        return 0
    first, records = rejects.first[0], "record" if rejects.count == 1 else "records"
    click.echo(
        f"phrasecom: {rejects.count:,} {records} left out, listed in {rejects.path}; "
        f"the first: {first.source}, line {first.line}: {first.reason}",
        err=True,
    )
    return 1


def _print_build(report: BuildReport, as_json: bool) -> None:
    if as_json:
        print_json(report.to_dict())
        return
    state = "is as it was" if report.unchanged else "is ready"
    seconds = ", ".join(f"{stage} {time:.1f}" for stage, time in report.seconds.items())
    rows = {
        "documents": report.documents,
        "phrases": f"{report.phrases:,} ({report.pairs:,} of them pairs)",
        "edges": report.edges,
        "left out": report.rejects,
        "epoch": report.epoch,
        "seconds": seconds,
    }
    print_pairs(rows, title=f"index {report.index} {state}")


@command("add")
@paths_argument
@reading_options
def add_command(
    paths: tuple[str, ...],
    index: str,
    maps: tuple[str, ...],
    rejects: Path | None,
    as_json: bool,
    **given: str | None,
) -> int:
    """Add documents to an index, or replace those of the same id, with the phrases it has."""
    from indexer.indexing.update import add_documents
    from indexer.readers import FieldMap, Rejects, read_documents

    fields = FieldMap.parse(maps)
    with (
        _at_work(given, as_json) as (settings, engine, progress),
        _telling(settings) as audience,
        Rejects(_rejects_path(index, rejects)) as found,
    ):
        documents = read_documents(paths, found, fields, settings.max_document_bytes)
        written = add_documents(documents, engine, index, progress, audience=audience)
        _print_change(engine, index, as_json, written=written, rejects=found.count)
    return _say_rejects(found)


@command("delete")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "everything", is_flag=True, help="Delete the whole index.")
@index_option
@engine_option
def delete_command(ids: tuple[str, ...], everything: bool, index: str, as_json: bool, **given: str | None) -> int:
    """Delete documents from an index, or the index itself."""
    from indexer.indexing.build import current_info
    from indexer.indexing.update import delete_documents

    if bool(ids) == everything:
        raise click.UsageError("name the ids to delete, or --all")
    with _at_work(given, as_json) as (settings, engine, _), _telling(settings) as audience:
        if everything:
            found = current_info(engine, index)  # a damaged one can be deleted too
            engine.drop(index)
            audience.new_epoch(index, None)
            count = found.documents if found else None
            print_json({"index": index, "deleted": count}) if as_json else click.echo(f"index {index} is gone")
            return 0
        deleted = delete_documents(engine, index, ids, audience=audience)
        _print_change(engine, index, as_json, deleted=deleted, missing=len(set(ids)) - deleted)
    return 0 if deleted == len(set(ids)) else 1


def _print_change(engine: Engine, index: str, as_json: bool, **counts: int) -> None:
    info = engine.open(index).info
    values: dict[str, object] = {"index": index, **counts, "documents": info.documents, "drift": info.drift}
    if as_json:
        print_json(values)
        return
    print_pairs(values)
    if info.drift > 0.2:
        click.echo(f"a fifth of the index has changed; mine it again with: phrasecom refresh --index {index}", err=True)


@command("refresh")
@index_option
@engine_option
@setting_options("index_processes")
def refresh_command(index: str, as_json: bool, **given: str | None) -> int:
    """Mine phrases again from the documents an index holds now, and start a new epoch."""
    from indexer.indexing.update import refresh_index

    with _at_work(given, as_json) as (settings, engine, progress), _telling(settings) as audience:
        report = refresh_index(engine, index, progress, processes=settings.index_processes)
        audience.new_epoch(index, report.epoch)
    _print_build(report, as_json)
    return 0
