"""Commands that build and change an index: index, add, delete, refresh."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexer.cli.building import (
    analysis_options,
    build,
    force_option,
    get_default_rejects_path,
    open_service_notifier,
    open_workspace,
    paths_argument,
    print_build,
    print_rejects_and_get_exit_status,
    reading_options,
)
from indexer.cli.options import command, engine_option, index_option, setting_options
from indexer.cli.output import print_json, print_key_values
from indexer.defaults import MAX_DRIFT
from indexer.readers.registry import PAGE_SUFFIXES, RECORD_SUFFIXES, read_documents
from indexer.readers.rejects import Rejects
from indexer.records import FieldMap

if TYPE_CHECKING:
    from indexer.documents import Document
    from indexer.engines.base import Engine
    from indexer.settings import Settings

_MAX_MISSING_NAMES = 10
"""Ids that are named in a message."""

_INDEX_HELP = f"""Build an index from files ({RECORD_SUFFIXES}), from a folder of {PAGE_SUFFIXES} pages, or
from JSON lines on standard input (-).

An index of the same name is replaced atomically when the new one is ready. Invalid records are written to a file
and skipped; the exit status is then 1.
"""


@command("index", help=_INDEX_HELP)
@paths_argument
@reading_options
@analysis_options
@force_option
def index_command(
    paths: tuple[str, ...],
    index: str,
    maps: tuple[str, ...],
    rejects_path: Path | None,
    force: bool,
    as_json: bool,
    **options: str | None,
) -> int:
    fields = FieldMap.parse(maps)

    def read(settings: Settings, rejects: Rejects) -> Iterable[Document]:
        return read_documents(paths, rejects, fields, settings.max_document_bytes)

    return print_build(*build(read, index, rejects_path, force, as_json, options), as_json)


@command("add")
@paths_argument
@reading_options
def add_command(
    paths: tuple[str, ...],
    index: str,
    maps: tuple[str, ...],
    rejects_path: Path | None,
    as_json: bool,
    **options: str | None,
) -> int:
    """Add documents to an index, or replace those with the same id, without mining new phrases."""
    from indexer.indexing.update import add_documents

    fields = FieldMap.parse(maps)
    with (
        open_workspace(options, as_json) as (settings, engine, progress),
        open_service_notifier(settings) as notifier,
        Rejects(rejects_path or get_default_rejects_path(index)) as rejects,
    ):
        documents = read_documents(paths, rejects, fields, settings.max_document_bytes)
        written = add_documents(documents, engine, index, progress, listener=notifier)
        _print_update(engine, index, as_json, written=written, rejects=rejects.count)
    return print_rejects_and_get_exit_status(rejects)


@command("delete")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "everything", is_flag=True, help="Delete the whole index.")
@index_option
@engine_option
def delete_command(ids: tuple[str, ...], everything: bool, index: str, as_json: bool, **options: str | None) -> int:
    """Delete documents from an index, or the index itself."""
    from indexer.indexing.build import get_current_info
    from indexer.indexing.update import delete_documents

    if bool(ids) == everything:
        raise click.UsageError("give the ids to delete, or --all")
    with open_workspace(options, as_json) as (settings, engine, _), open_service_notifier(settings) as notifier:
        if everything:
            info = get_current_info(engine, index)  # a damaged one can be deleted too
            engine.delete_index(index)
            notifier.set_epoch(index, None)
            count = info.documents if info else None
            print_json({"index": index, "deleted": count}) if as_json else click.echo(f"index {index} deleted")
            return 0
        result = delete_documents(engine, index, ids, listener=notifier)
        ids_for_json = {"missing_ids": list(result.missing)} if as_json else {}
        _print_update(engine, index, as_json, deleted=result.count, missing=len(result.missing), **ids_for_json)
    if result.missing:
        names = ", ".join(map(repr, result.missing[:_MAX_MISSING_NAMES]))
        more = len(result.missing) - _MAX_MISSING_NAMES
        click.echo(f"phrasecom: not in the index: {names}{f' and {more:,} more' if more > 0 else ''}", err=True)
    return 0 if result.count == len(set(ids)) else 1


def _print_update(engine: Engine, index: str, as_json: bool, **counts: object) -> None:
    info = engine.open_reader(index).info
    values: dict[str, object] = {"index": index, **counts, "documents": info.documents, "drift": info.drift}
    if as_json:
        print_json(values)
        return
    print_key_values(values)
    if info.drift > MAX_DRIFT:
        click.echo(
            f"over a fifth of the index has changed; rebuild it with: phrasecom refresh --index {index}", err=True
        )


@command("refresh")
@index_option
@engine_option
@setting_options("index_processes")
def refresh_command(index: str, as_json: bool, **options: str | None) -> int:
    """Mine phrases again from the current documents of an index, and start a new epoch."""
    from indexer.indexing.update import refresh_index

    with (
        open_workspace(options, as_json) as (settings, engine, progress),
        open_service_notifier(settings) as notifier,
    ):
        report = refresh_index(engine, index, progress, processes=settings.index_processes)
        notifier.set_epoch(index, report.epoch)
    return print_build(report, None, as_json)
