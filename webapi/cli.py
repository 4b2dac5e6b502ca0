"""Commands of the web server: serve, demo."""

from __future__ import annotations

from pathlib import Path

import click

from indexer.cli.options import command, engine_option, setting_option, setting_options
from indexer.cli.output import print_json


@command("serve")
@engine_option
@setting_option("redis_url", metavar="URL")
@setting_options("host", "port", "threads", "processes", "keys_file", "log_format", "log_level")
@click.option("--inline", is_flag=True, help="Compute in this process, without Redis and workers.")
def serve_command(inline: bool, as_json: bool, **options: str | None) -> int:
    """Serve the HTTP API and the web pages until stopped."""
    from indexer.logging_setup import configure_logging
    from indexer.settings import load_settings
    from webapi.server.gunicorn_app import serve

    settings = load_settings(**options)
    configure_logging("json" if as_json else settings.log_format, settings.log_level)
    serve(settings, inline=inline)
    return 0


@command("demo")
@click.option("--once", is_flag=True, help="Print one comparison as JSON and stop.")
@click.option("--corpus", metavar="FILE", help="Documents to index instead of Python docstrings.")
@click.option("--elasticsearch", metavar="URL", help="Use this cluster instead of the embedded engine.")
@setting_option("port")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(".phrasecom"),
    show_default=True,
    help="Folder for the index and the logs.",
)
def demo_command(
    once: bool, corpus: str | None, elasticsearch: str | None, port: str | None, folder: Path, as_json: bool
) -> int:
    """Index a corpus, start Valkey, a worker and the web server, and compare two documents.

    Runs until Ctrl-C, which stops all processes. The index is kept for the next run.
    """
    from indexer.engines.factory import check_server_url
    from indexer.settings import load_settings
    from webapi.demo.run import DemoOptions, check_port, run_demo

    settings = load_settings(port=port)
    if elasticsearch is not None:
        check_server_url(elasticsearch)
    folder = folder.absolute()
    demo = DemoOptions(folder, check_port(settings.port), elasticsearch or str(folder / "engine"), corpus)
    answer = run_demo(demo, once=once)
    if once:
        print_json(answer)
    return 0
