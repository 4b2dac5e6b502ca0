"""Commands that build and change an index: index, attach, add, delete, refresh."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar

import click

from indexer.cli.engine_hints import open_engine_with_hints
from indexer.cli.follow import FollowTiming, check_remembered, follow_options, follow_source, has_index, print_line
from indexer.cli.options import command, engine_option, index_option, setting_options
from indexer.cli.output import print_json, print_key_values
from indexer.defaults import MAX_DRIFT
from indexer.readers.registry import PAGE_SUFFIXES, RECORD_SUFFIXES, read_documents
from indexer.readers.rejects import Rejects
from indexer.records import FieldMap

if TYPE_CHECKING:
    from indexer.documents import Document
    from indexer.engines.attachment import Attachment
    from indexer.engines.base import Engine
    from indexer.indexing.build import BuildReport
    from indexer.indexing.notifications import RedisNotifier
    from indexer.progress import Progress
    from indexer.settings import Settings

F = TypeVar("F", bound=Callable[..., object])

_SHARED_ATTACH = "worker.shared_build.command"
_NO_VECTORS = "none"
"""Value of --vectors that leaves the vectors of a source out."""
_MAX_MISSING_NAMES = 10
"""Ids that are named in a message."""

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

    return _print_build(*_build(read, index, rejects_path, force, as_json, options), as_json)


@command("attach")
@click.argument("source", required=False, metavar="[URL/INDEX]")
@reading_options
@analysis_options
@force_option
@click.option(
    "--vectors",
    metavar="FIELD|none",
    help="Field with the vectors of the documents, of type dense_vector; chunks.vector for those of chunks, of which "
    "the mean is taken; none: leave them out.  [default: the only such field]",
)
@click.option(
    "--source-api-key-file",
    "source_key_file",
    type=click.File(encoding="utf-8"),
    metavar="FILE",
    help="File with the API key for the source; - reads it from standard input.",
)
@click.option(
    "--source-api-key",
    metavar="KEY",
    help="The same key as an argument, which the process list and the shell's history show; better in a file, or in "
    "the environment as PHRASECOM_SOURCE_API_KEY.",
)
@click.option(
    "--shared",
    is_flag=True,
    help="Share the build out to the running workers, on any machines; needs Redis, and Elasticsearch as the engine.",
)
@follow_options
def attach_command(
    source: str | None,
    index: str,
    maps: tuple[str, ...],
    rejects_path: Path | None,
    force: bool,
    vectors: str | None,
    source_key_file: IO[str] | None,
    source_api_key: str | None,
    shared: bool,
    follow: FollowTiming | None,
    as_json: bool,
    **options: str | None,
) -> int:
    """Build an index from an existing Elasticsearch index, which is only read: phrasecom attach
    http://localhost:9200/news --index news --map text=body. If both are on the same cluster, searches over HTTP run
    on the existing index itself.

    With --follow, an index that is attached already is kept up to date instead, by reading only what was written to
    its source: phrasecom attach --index news --follow. Address, fields, vectors and language are those it was attached
    with; only the API key for the source is not kept.
    """
    fields = _add_vector_field(FieldMap.parse(maps), vectors)
    key = _find_source_key(source_api_key, source_key_file)
    if follow is None:
        if source is None:
            raise click.UsageError("name the source, URL/INDEX; only --follow does without")
        return _print_build(
            *_attach(source, index, fields, key, rejects_path, force, as_json, options, shared), as_json
        )
    if source is None and force:
        raise click.UsageError("--force attaches the index again: name the source, URL/INDEX")
    with _open_workspace(options, True) as (_, engine, _):
        is_new = source is not None and (force or not has_index(engine, index))
    if is_new and source is not None:
        report, rejects = _attach(source, index, fields, key, rejects_path, force, as_json, options, shared)
        if as_json:
            print_line(as_json, "attached", report.to_dict(), "")
        else:
            _print_build(report, rejects, as_json)
    with (
        _open_workspace(options, True) as (settings, engine, _),
        _open_service_notifier(settings) as notifier,
        Rejects(rejects_path or _default_rejects_path(index)) as rejects,
    ):
        given = {name: value for name, value in options.items() if value is not None}
        remembered = check_remembered(engine, index, source, fields, given, settings)
        follow_source(remembered, key, engine, settings, notifier, rejects, follow, as_json)
    return _print_rejects_and_get_exit_status(rejects)


def _attach(
    source: str,
    index: str,
    named_fields: FieldMap,
    key: str | None,
    rejects_path: Path | None,
    force: bool,
    is_quiet: bool,
    options: dict[str, str | None],
    is_shared: bool,
) -> tuple[BuildReport, Rejects]:
    """Build an index from all documents of a source, here or shared out to workers."""
    from indexer.readers.elasticsearch_index import find_attachment, find_source_vectors, read_elasticsearch_index

    choice = find_source_vectors(source, named_fields, api_key=key)
    fields = FieldMap({**named_fields.sources, "vector": choice.path})
    if choice.note:
        click.echo(f"phrasecom: {choice.note}", err=True)

    def read(settings: Settings, rejects: Rejects) -> Iterable[Document]:
        return read_elasticsearch_index(source, rejects, fields, settings.max_document_bytes, api_key=key)

    attachment = find_attachment(source, fields, api_key=key)

    def share(settings: Settings, engine: Engine, rejects: Rejects, progress: Progress) -> BuildReport | None:
        shared = importlib.import_module(_SHARED_ATTACH)  # by name: it builds on this package
        asked = shared.SharedAttach(source, index, fields, key, attachment, force)
        report: BuildReport | None = shared.attach_shared(asked, engine, settings, rejects, progress, _warn)
        if report is None:
            _warn("the source fits the sample that is mined here, so nothing is shared out")
        return report

    return _build(read, index, rejects_path, force, is_quiet, options, attachment, share if is_shared else None)


def _warn(message: str) -> None:
    click.echo(f"phrasecom: {message}", err=True)


def _add_vector_field(fields: FieldMap, vectors: str | None) -> FieldMap:
    """Return the fields with the value of --vectors, which is another way to write --map vector=FIELD."""
    if vectors is None:
        return fields
    if not vectors:
        raise click.UsageError("--vectors is empty; name a field, or write --vectors none")
    path = "" if vectors == _NO_VECTORS else vectors
    if fields.sources.get("vector", path) != path:
        raise click.UsageError(f"--vectors {vectors} and --map vector={fields.sources['vector']} differ; give one")
    return FieldMap({**fields.sources, "vector": path})


def _find_source_key(argument: str | None, file: IO[str] | None) -> str | None:
    """Return the API key for a source from an argument, a file or the settings; None without one."""
    from indexer.runtime.process_list import hide_argument
    from indexer.settings import load_settings

    if argument is not None:
        hide_argument(argument)
        if file is not None:
            raise click.UsageError("give --source-api-key-file or --source-api-key, not both")
        click.echo(
            "phrasecom: --source-api-key is visible in the process list; "
            "use --source-api-key-file or PHRASECOM_SOURCE_API_KEY",
            err=True,
        )
    if file is not None:
        argument = file.read().strip()
    return load_settings(source_api_key=argument).source_api_key.get_secret_value() or None


def _build(
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
        _open_workspace(options, is_quiet) as (settings, engine, progress),
        _open_service_notifier(settings) as notifier,
        Rejects(rejects_path or _default_rejects_path(index)) as rejects,
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
def _open_workspace(options: dict[str, str | None], is_quiet: bool) -> Iterator[tuple[Settings, Engine, Progress]]:
    """Load the settings, open the engine and show a progress bar for the duration of a command."""
    from indexer.progress import progress_bar
    from indexer.settings import load_settings

    settings = load_settings(**options)
    with open_engine_with_hints(settings) as engine, progress_bar(is_quiet) as progress:
        yield settings, engine, progress


@contextmanager
def _open_service_notifier(settings: Settings) -> Iterator[RedisNotifier]:
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


def _default_rejects_path(index: str) -> Path:
    from indexer.identifiers import check_index_name

    return Path(f"{check_index_name(index)}.rejects.jsonl")


def _print_rejects_and_get_exit_status(rejects: Rejects) -> int:
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


def _print_build(report: BuildReport, rejects: Rejects | None, as_json: bool) -> int:
    """Print the result of a build; return the exit status."""
    if as_json:
        print_json(report.to_dict())
    else:
        _print_build_table(report)
    return _print_rejects_and_get_exit_status(rejects) if rejects else 0


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
    print_key_values(rows, title=f"index {report.index} {state}")


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
        _open_workspace(options, as_json) as (settings, engine, progress),
        _open_service_notifier(settings) as notifier,
        Rejects(rejects_path or _default_rejects_path(index)) as rejects,
    ):
        documents = read_documents(paths, rejects, fields, settings.max_document_bytes)
        written = add_documents(documents, engine, index, progress, listener=notifier)
        _print_update(engine, index, as_json, written=written, rejects=rejects.count)
    return _print_rejects_and_get_exit_status(rejects)


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
    with _open_workspace(options, as_json) as (settings, engine, _), _open_service_notifier(settings) as notifier:
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
        _open_workspace(options, as_json) as (settings, engine, progress),
        _open_service_notifier(settings) as notifier,
    ):
        report = refresh_index(engine, index, progress, processes=settings.index_processes)
        notifier.set_epoch(index, report.epoch)
    return _print_build(report, None, as_json)
