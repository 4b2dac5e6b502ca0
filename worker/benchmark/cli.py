"""``phrasecom bench``: speed in figures."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from indexer.cli.options import command, print_json, print_table

if TYPE_CHECKING:
    from indexer.engines.base import Engine
    from worker.benchmark.environment import Setting

QUICK, WHOLE = 4_000, 150_000
"""Documents generated where no corpus is given."""
COLUMNS = ("row", "engine", "ours", "against", "unit", "ratio", "goal", "met", "p95", "n")


@command("bench")
@click.option("--quick", is_flag=True, help="Under two minutes, on a small generated corpus.")
@click.option("--corpus", "files", multiple=True, metavar="FILE", help="Documents to measure on; may be repeated.")
@click.option("--documents", type=click.IntRange(min=8), default=None, help="At most so many documents.")
@click.option("--engine", "folder", metavar="FOLDER", default=None, help="Keep the embedded indexes here.")
@click.option("--elasticsearch", metavar="URL", default=None, help="Measure on this server as well.")
@click.option("--rows", multiple=True, metavar="NAME", help="Only this row; may be repeated.")
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE.svg", help="Draw the growth.")
def bench_command(
    quick: bool, files: tuple[str, ...], documents: int | None, folder: str | None, elasticsearch: str | None,
    rows: tuple[str, ...], plot: Path | None, as_json: bool,
) -> int:  # fmt: skip
    """Measure speed, both sides of every ratio in one run.

    Indexes are named bench-...; those on a server, and in a folder given with --engine, stay for the next run.
    """
    from worker.benchmark.machine import load, machine, versions
    from worker.benchmark.table import check_names, measure

    check_names(rows)
    if plot and not os.access(plot.absolute().parent, os.W_OK | os.X_OK):
        raise click.UsageError(f"cannot write {plot}: name a file in a folder you may write")
    about = machine()
    with _setting(quick, files, documents, folder, elasticsearch) as setting:
        found = [row.to_dict() for row in measure(setting, rows, _tell)]
        engines = {f"{kind}_engine": engine.version() for kind, engine in setting.engines.items()}
        result: dict[str, Any] = {
            "rows": found,
            "machine": {**about, "load_after": load()},
            "versions": versions() | engines,
            "corpus": setting.corpus.about(files),
        }
        if plot:
            result["growth"] = _draw(setting, plot)
    if as_json:
        print_json(result)
    else:
        _show(result)
    return 0


@contextmanager
def _setting(
    quick: bool, files: Sequence[str], documents: int | None, folder: str | None, elasticsearch: str | None
) -> Iterator[Setting]:
    """The corpus on disk and the engines open, while it is measured."""
    from contextlib import ExitStack

    from indexer.engines.factory import check_server, open_engine_of
    from indexer.progress import progress_bar
    from indexer.settings import load_settings
    from worker.benchmark.corpus import Corpus
    from worker.benchmark.environment import ELASTICSEARCH, EMBEDDED, Setting

    with ExitStack() as stack:
        bars = stack.enter_context(progress_bar())
        place = Path(stack.enter_context(TemporaryDirectory(prefix="phrasecom-bench-")))
        count = documents or (QUICK if quick else 0 if files else WHOLE)
        addresses = {EMBEDDED: folder or str(place / "engine")}
        if elasticsearch:
            check_server(elasticsearch)
            addresses[ELASTICSEARCH] = elasticsearch
        engines: dict[str, Engine] = {}
        for kind, address in addresses.items():
            engines[kind] = stack.enter_context(open_engine_of(load_settings(engine=address)))
            engines[kind].version()  # one that cannot be reached is told before the reading, not after
        corpus = Corpus.of(place, files, count, bars)
        yield Setting(corpus, engines, cases=40, budget=4.0) if quick else Setting(corpus, engines)


def _tell(what: str) -> None:
    click.echo(f"measuring {what} ...", err=True)


def _draw(setting: Setting, path: Path) -> list[dict[str, Any]]:
    from dataclasses import asdict

    from worker.benchmark.chart import draw, points

    _tell("growth for the plot")
    found = points(setting)
    path.write_text(draw(found))
    return [asdict(point) for point in found]


def _show(result: dict[str, Any]) -> None:
    def number(value: float | None) -> str:
        return "" if value is None else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"

    lines = [
        (
            row["name"], row["engine"] or "", number(row["ours"]), number(row["against"]), row["unit"],
            number(row["ratio"]), row["goal"] or "", {True: "yes", False: "no", None: ""}[row["met"]],
            number(row["p95"]), row["repetitions"] or "",
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
