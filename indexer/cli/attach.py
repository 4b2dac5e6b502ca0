"""The command attach: an index of an existing Elasticsearch index."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from indexer.cli.building import (
    analysis_options,
    build,
    force_option,
    get_default_rejects_path,
    open_service_notifier,
    open_workspace,
    print_build,
    print_rejects_and_get_exit_status,
    reading_options,
    warn,
)
from indexer.cli.follow import FollowTiming, check_remembered, follow_options, follow_source, has_index, print_line
from indexer.cli.options import command
from indexer.readers.rejects import Rejects
from indexer.records import FieldMap

if TYPE_CHECKING:
    from indexer.documents import Document
    from indexer.engines.base import Engine
    from indexer.indexing.build import BuildReport
    from indexer.progress import Progress
    from indexer.settings import Settings

_SHARED_ATTACH = "worker.shared_build.command"
_NO_VECTORS = "none"
"""Value of --vectors that leaves the vectors of a source out."""


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
        return print_build(*_attach(source, index, fields, key, rejects_path, force, as_json, options, shared), as_json)
    if source is None and force:
        raise click.UsageError("--force attaches the index again: name the source, URL/INDEX")
    with open_workspace(options, True) as (_, engine, _):
        is_new = source is not None and (force or not has_index(engine, index))
    if is_new and source is not None:
        report, rejects = _attach(source, index, fields, key, rejects_path, force, as_json, options, shared)
        if as_json:
            print_line(as_json, "attached", report.to_dict(), "")
        else:
            print_build(report, rejects, as_json)
    with (
        open_workspace(options, True) as (settings, engine, _),
        open_service_notifier(settings) as notifier,
        Rejects(rejects_path or get_default_rejects_path(index)) as rejects,
    ):
        given = {name: value for name, value in options.items() if value is not None}
        remembered = check_remembered(engine, index, source, fields, given, settings)
        follow_source(remembered, key, engine, settings, notifier, rejects, follow, as_json)
    return print_rejects_and_get_exit_status(rejects)


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
        report: BuildReport | None = shared.attach_shared(asked, engine, settings, rejects, progress, warn)
        if report is None:
            warn("the source fits the sample that is mined here, so nothing is shared out")
        return report

    return build(read, index, rejects_path, force, is_quiet, options, attachment, share if is_shared else None)


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
