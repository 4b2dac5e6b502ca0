"""The commands compare, feedback and worker."""

from __future__ import annotations

import click

from indexer.cli.engine_hints import open_engine_with_hints
from indexer.cli.options import command, engine_option, index_option, setting_option, setting_options
from indexer.cli.output import print_json, print_table
from worker.parameter_options import parameters_option


@command("compare")
@click.argument("a")
@click.argument("b")
@index_option
@engine_option
@setting_options("method", "preset", "cap", "neighbours")
@click.option(
    "--graph", type=click.Choice(["neighbourhood", "full"]), default="neighbourhood", show_default=True,
    help="Graph on which relevance is computed.",
)  # fmt: skip
@parameters_option
@click.option("--candidates", is_flag=True, help="Add the salient phrases of both sides to the JSON.")
@click.option("--markdown", is_flag=True, help="Print Markdown instead of a table.")
def compare_command(
    a: str, b: str, index: str, graph: str, parameters: dict[str, object], candidates: bool, markdown: bool,
    as_json: bool, **setting_values: str | None,
) -> int:  # fmt: skip
    """Show which phrases A and B share and which set each apart.

    Each side is an id, or id:..., ids:...,..., search:... (all documents that match words, field:value and
    date:2011-03-11..2011-03-14), query:..., text:... or file:...
    """
    from indexer.settings import load_settings
    from worker.answer import render
    from worker.comparer import Comparer, compare
    from worker.explain.side_limits import SideLimits

    if as_json and markdown:
        raise click.UsageError("--json and --markdown are mutually exclusive")
    settings = load_settings(**setting_values)
    options = {"cap": settings.cap, "neighbours": settings.neighbours or None, "candidates": candidates, **parameters}
    with open_engine_with_hints(settings) as engine:
        comparer = Comparer(
            engine, limits=SideLimits(max_documents=settings.max_set, max_text_bytes=settings.max_text_bytes)
        )
        answer = compare(
            a, b, index=index, engine=comparer, method=settings.method, preset=settings.preset, graph=graph, **options
        )
    if as_json:
        print_json(answer.to_dict())
    elif markdown:
        click.echo(render.render_markdown(answer.to_dict()))
    else:
        render.print_columns(answer.to_dict())
    return 0


@command("feedback")
@index_option
@setting_option("redis_url", metavar="URL")
def feedback_command(index: str, as_json: bool, **setting_values: str | None) -> int:
    """Show user feedback on the phrases of an index's comparisons, oldest first, as data for an evaluation."""
    from indexer.settings import load_settings
    from worker.cache.key_value import RedisKeyValueStore
    from worker.redis_connection import connect
    from worker.service.feedback import read_feedback

    settings = load_settings(**setting_values)
    with connect(settings.redis_url.get_secret_value()) as client:
        entries = list(read_feedback(RedisKeyValueStore(client), index))
    if as_json:
        print_json({"index": index, "feedback": entries})
    elif entries:
        columns = ("phrase", "useful", "a", "b", "method", "preset")
        print_table(columns, [[str(entry.get(name, "")) for name in columns] for entry in entries])
    else:
        click.echo("no feedback yet")
    return 0


@command("worker")
@engine_option
@setting_option("redis_url", metavar="URL")
@setting_options("concurrency", "log_format", "log_level")
@click.option(
    "--queue", type=click.Choice(["interactive", "bulk"]), multiple=True, help="Only this queue; may be repeated."
)
def worker_command(queue: tuple[str, ...], as_json: bool, **setting_values: str | None) -> int:
    """Run a worker that computes the jobs of the service until it is stopped."""
    from indexer.logging_setup import configure_logging
    from indexer.settings import load_settings
    from worker.jobs.config import load_work_config
    from worker.jobs.job import QUEUES
    from worker.process.celery_worker import start_worker

    settings = load_settings(**setting_values)
    configure_logging("json" if as_json else settings.log_format, settings.log_level)
    queues = tuple(name for name in QUEUES if name in queue or not queue)
    return start_worker(load_work_config(settings), concurrency=settings.concurrency, queues=queues)
