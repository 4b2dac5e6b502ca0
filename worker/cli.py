"""Commands of the worker's room: compare, worker."""

from __future__ import annotations

import click

from indexer.cli.options import (
    command,
    engine_option,
    index_option,
    print_json,
    print_table,
    setting_option,
    setting_options,
)
from indexer.engines.factory import open_engine_of
from worker.parameter_options import parameters_option


@command("compare")
@click.argument("a")
@click.argument("b")
@index_option
@engine_option
@setting_options("method", "preset", "cap", "neighbours")
@click.option("--graph", type=click.Choice(["neighbourhood", "full"]), default="neighbourhood", show_default=True)
@parameters_option
@click.option("--candidates", is_flag=True, help="Add both sides' salient phrases.")
@click.option("--markdown", is_flag=True, help="Print Markdown instead of a table.")
def compare_command(
    a: str, b: str, index: str, graph: str, parameters: dict[str, object], candidates: bool, markdown: bool,
    as_json: bool, **given: str | None,
) -> int:  # fmt: skip
    """Say what A and B share and what sets each apart.

    A side is an id, or id:..., ids:...,..., search:... (the documents selected by words, field:value and
    date:2011-03-11..2011-03-14), query:..., text:..., file:...
    """
    from indexer.settings import load_settings
    from worker import Comparer, compare
    from worker.answer import render
    from worker.explain.resolver import Limits

    if as_json and markdown:
        raise click.UsageError("--json and --markdown exclude each other")
    settings = load_settings(**given)
    options = {"cap": settings.cap, "neighbours": settings.neighbours or None, "candidates": candidates, **parameters}
    with open_engine_of(settings) as engine:
        comparer = Comparer(engine, limits=Limits(set_size=settings.max_set, text_bytes=settings.max_text_bytes))
        answer = compare(
            a, b, index=index, engine=comparer, method=settings.method, preset=settings.preset, graph=graph, **options
        )
    if as_json:
        print_json(answer.to_dict())
    elif markdown:
        click.echo(render.markdown(answer.to_dict()))
    else:
        render.print_columns(answer.to_dict())
    return 0


@command("feedback")
@index_option
@setting_option("redis_url", metavar="URL")
def feedback_command(index: str, as_json: bool, **given: str | None) -> int:
    """Show what readers said of the phrases of an index's comparisons, oldest first: data for an evaluation."""
    from indexer.settings import load_settings
    from worker.cache.key_value import RedisKeys
    from worker.jobs.redis_store import connect
    from worker.service.feedback import recorded

    settings = load_settings(**given)
    with connect(settings.redis_url.get_secret_value()) as client:
        said = list(recorded(RedisKeys(client), index))
    if as_json:
        print_json({"index": index, "feedback": said})
    elif said:
        columns = ("phrase", "useful", "a", "b", "method", "preset")
        print_table(columns, [[str(one.get(name, "")) for name in columns] for one in said])
    else:
        click.echo("nothing was said yet")
    return 0


@command("worker")
@engine_option
@setting_option("redis_url", metavar="URL")
@setting_options("concurrency", "log_format", "log_level")
@click.option("--queue", type=click.Choice(["interactive", "bulk"]), multiple=True, help="Only this queue.")
def worker_command(queue: tuple[str, ...], as_json: bool, **given: str | None) -> int:
    """Run a worker that computes what the service asks for, until it is told to stop."""
    from indexer.logging_setup import set_up_logs
    from indexer.settings import load_settings
    from worker.jobs.celery_queue import QUEUES, start_worker
    from worker.jobs.config import work_config

    settings = load_settings(**given)
    set_up_logs("json" if as_json else settings.log_format, settings.log_level)
    queues = tuple(name for name in QUEUES if name in queue or not queue)
    return start_worker(work_config(settings), concurrency=settings.concurrency, queues=queues)
