"""``phrasecom bench``: measure speed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from indexer.cli.options import command
from indexer.cli.output import print_json, print_table

if TYPE_CHECKING:
    from indexer.engines.base import Engine
    from worker.benchmark.environment import BenchEnvironment

QUICK_DOCUMENTS, FULL_DOCUMENTS = 4_000, 150_000
"""Documents generated where no corpus is given."""
COLUMNS = ("row", "engine", "ours", "against", "unit", "ratio", "goal", "met", "p95", "n")


@command("bench")
@click.option("--quick", is_flag=True, help="Run for under two minutes on a small generated corpus.")
@click.option("--corpus", "files", multiple=True, metavar="FILE", help="Documents to measure on; may be repeated.")
@click.option("--documents", type=click.IntRange(min=8), default=None, help="Maximum number of documents.")
@click.option("--engine", "folder", metavar="FOLDER", default=None, help="Keep the embedded indexes in this folder.")
@click.option("--elasticsearch", metavar="URL", default=None, help="Also measure on this Elasticsearch server.")
@click.option("--rows", multiple=True, metavar="NAME", help="Only this row; may be repeated.")
@click.option(
    "--plot", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE.svg", help="Plot time against corpus size."
)
def bench_command(
    quick: bool, files: tuple[str, ...], documents: int | None, folder: str | None, elasticsearch: str | None,
    rows: tuple[str, ...], plot: Path | None, as_json: bool,
) -> int:  # fmt: skip
    """Measure speed as ratios; both sides of a ratio are measured in the same run.

    Indexes are named bench-...; those on a server or in a folder given with --engine are kept for the next run.
    """
    from worker.benchmark.environment import describe_machine, get_load_average, get_versions
    from worker.benchmark.measurements import check_row_names, measure_rows

    check_row_names(rows)
    if plot and not os.access(plot.absolute().parent, os.W_OK | os.X_OK):
        raise click.UsageError(f"cannot write {plot}: name a file in a writable folder")
    machine = describe_machine()
    with _open_environment(quick, files, documents, folder, elasticsearch) as environment:
        measured_rows = [row.to_dict() for row in measure_rows(environment, rows, _print_stage)]
        engines = {f"{kind}_engine": engine.get_version() for kind, engine in environment.engines.items()}
        result: dict[str, Any] = {
            "rows": measured_rows,
            "machine": {**machine, "load_after": get_load_average()},
            "versions": get_versions() | engines,
            "corpus": environment.corpus.describe(files),
        }
        if plot:
            result["growth"] = _measure_and_write_chart(environment, plot)
    if as_json:
        print_json(result)
    else:
        _print_result(result)
    return 0


@contextmanager
def _open_environment(
    quick: bool, files: Sequence[str], documents: int | None, folder: str | None, elasticsearch: str | None
) -> Iterator[BenchEnvironment]:
    """Yield the environment: the corpus on disk, the engines open."""
    from contextlib import ExitStack

    from indexer.cli.engine_hints import open_engine_with_hints
    from indexer.engines.factory import check_server_url
    from indexer.progress import progress_bar
    from indexer.settings import load_settings
    from worker.benchmark.corpus import BenchCorpus
    from worker.benchmark.environment import ELASTICSEARCH, EMBEDDED, BenchEnvironment

    with ExitStack() as stack:
        progress = stack.enter_context(progress_bar())
        temporary = Path(stack.enter_context(TemporaryDirectory(prefix="phrasecom-bench-")))
        count = documents or (QUICK_DOCUMENTS if quick else 0 if files else FULL_DOCUMENTS)
        addresses = {EMBEDDED: folder or str(temporary / "engine")}
        if elasticsearch:
            check_server_url(elasticsearch)
            addresses[ELASTICSEARCH] = elasticsearch
        engines: dict[str, Engine] = {}
        for kind, address in addresses.items():
            engines[kind] = stack.enter_context(open_engine_with_hints(load_settings(engine=address)))
            engines[kind].get_version()  # an unreachable engine fails here, before the corpus is read
        corpus = BenchCorpus.create(temporary, files, count, progress)
        if quick:
            yield BenchEnvironment(corpus, engines, pair_count=40, budget_seconds=4.0)
        else:
            yield BenchEnvironment(corpus, engines)


def _print_stage(name: str) -> None:
    click.echo(f"measuring {name} ...", err=True)


def _measure_and_write_chart(environment: BenchEnvironment, path: Path) -> list[dict[str, Any]]:
    from dataclasses import asdict

    from worker.benchmark.growth_chart import draw_growth_chart, measure_growth_points

    _print_stage("growth for the plot")
    points = measure_growth_points(environment)
    path.write_text(draw_growth_chart(points))
    return [asdict(point) for point in points]


def _print_result(result: dict[str, Any]) -> None:
    def format_number(value: float | None) -> str:
        return "" if value is None else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"

    lines = [
        (
            row["name"], row["engine"] or "", format_number(row["ours"]), format_number(row["against"]), row["unit"],
            format_number(row["ratio"]), row["goal"] or "", {True: "yes", False: "no", None: ""}[row["met"]],
            format_number(row["p95"]), row["repetitions"] or "",
        )
        for row in result["rows"]
    ]  # fmt: skip
    print_table(COLUMNS, lines)
    for row in result["rows"]:
        against = f" against {row['against_what']}" if row["against_what"] else ""
        click.echo(
            f"{row['name']} {row['engine'] or ''}: {row['measure']}{against}"
            + (f" ({row['note']})" * bool(row["note"]))
        )
    machine, corpus = result["machine"], result["corpus"]
    click.echo(
        f"\n{corpus['documents']:,} documents; {machine['cores']} cores, {machine['processor']}; "
        f"load {machine['load'][0]} before, {machine['load_after'][0]} after"
    )
