"""Commands that evaluate methods: keywords, masked, all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from indexer.cli.engine_hints import open_engine_with_hints
from indexer.cli.options import debug_option, engine_option, json_option
from indexer.cli.output import print_json, print_table
from indexer.errors import BadParameter, PhraseComError
from worker.evaluation.cli_options import NO_PAIR, PRESET, background_option, keyphrases_option, require_any
from worker.evaluation.query_commands import load_sentence_encoder, print_query_figures
from worker.parameter_options import vary_option

if TYPE_CHECKING:
    from worker.evaluation.author_keywords import MethodRun
    from worker.evaluation.sentence_encoder.text_vectors import TextEncoder

_COLUMNS_PER_TABLE = 5
part_option = click.option(
    "--part", type=click.Choice(["tune", "choose", "report", "all"]), default="report", show_default=True,
    help="Part of the documents with keyphrases: tune, choose and report are a third each, by a hash of the id.",
)  # fmt: skip
NO_CASE = ("no phrase of several words is salient in two documents", "use an index with more documents")
"""Problem and fix where no case could be drawn."""


def add_run_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say which methods run and how."""
    for option in (
        click.option("--method", "methods", multiple=True, help="Only this method; may be repeated."),
        click.option(
            "--preset", "presets", type=PRESET, multiple=True, help="Preset of the cda methods; may be repeated."
        ),
        click.option("--seed", default=1, show_default=True, help="Random seed of the pairs and the resampling."),
        engine_option,
    ):
        function = option(function)
    return function


def plan_runs(
    methods: Sequence[str], presets: Sequence[str], vary: Sequence[tuple[str, list[object]]] = ()
) -> list[MethodRun]:
    """Return the rows of the table: every method, cda in every preset and with each parameter varied, and containment.

    Raises BadParameter if parameters are varied but cda is not among the methods.
    """
    from worker.evaluation.author_keywords import BASELINE, MethodRun, vary_parameter
    from worker.methods.registry import METHODS, get_method

    names = [get_method(name).name for name in methods] or list(METHODS)
    runs = [MethodRun(name, preset) for name in names for preset in _choose_presets(name, presets)]
    if vary and not any(run.method == "cda" for run in runs):
        raise BadParameter("--vary changes cda, which is not among the methods", fix="add --method cda")
    for parameter, values in vary:
        runs += vary_parameter([run for run in runs if not run.changes], parameter, values)
    return runs if any(run.method == BASELINE for run in runs) else [*runs, MethodRun(BASELINE, "default")]


def _choose_presets(method: str, presets: Sequence[str]) -> Sequence[str]:
    """Return the presets a method is run with: the paper's variants with its settings, the full model with both."""
    if method == "cda":
        return presets or ("default", "paper")
    return ("paper",) if method.startswith("cda") else ("default",)


@click.command("keywords")
@keyphrases_option
@background_option
@click.option("--limit", default=0, help="Maximum background documents; 0 for all.")
@click.option("--index", default="", help="Use this index, which contains the documents, instead of building one.")
@click.option("--pairs", default=400, show_default=True, help="Number of document pairs.")
@part_option
@click.option("--random", "at_random", is_flag=True, help="Random pairs instead of pairs that share a keyword.")
@vary_option
@click.option("--plot", type=click.File("w", lazy=True), help="Plot the varied parameters, as SVG.")
@add_run_options
@json_option
@debug_option
def keywords_command(
    keyphrases: tuple[Path, ...], background: tuple[Path, ...], limit: int, index: str, pairs: int, part: str,
    at_random: bool, vary: list[tuple[str, list[object]]], methods: tuple[str, ...], presets: tuple[str, ...],
    seed: int, plot: TextIO | None, as_json: bool, **settings: str | None,
) -> int:  # fmt: skip
    """Measure how methods classify and rank author keywords."""
    from indexer.progress import progress_bar
    from indexer.settings import load_settings
    from worker.comparer import Comparer
    from worker.evaluation.author_keywords import evaluate_keywords
    from worker.evaluation.datasets import ensure_index, load_gold
    from worker.evaluation.gold import draw_keyword_pairs, draw_random_pairs

    runs = plan_runs(methods, presets, vary)
    with open_engine_with_hints(load_settings(**settings)) as engine, progress_bar() as progress:
        name = index or ensure_index(engine, keyphrases, background, limit=limit, progress=progress)
        gold = load_gold(keyphrases, part, engine.open_reader(name).model.lemmatizer)
        draw_pairs = draw_random_pairs if at_random else draw_keyword_pairs
        gold_pairs = require_any(draw_pairs(gold, pairs, seed), *NO_PAIR)
        evaluation = evaluate_keywords(
            Comparer(engine), name, gold_pairs, runs, seed=seed,
            progress=lambda done, total: progress("compare", done, total),
        )  # fmt: skip
    if plot:
        from worker.evaluation.parameter_chart import draw_parameter_chart

        plot.write(draw_parameter_chart(evaluation))
    evaluation |= {"index": name, "part": part, "seed": seed}
    if as_json:
        print_json(evaluation)
    else:
        _print_keywords(evaluation)
    return 0


@click.command("masked")
@click.option("--index", required=True, metavar="NAME", help="Name of any index.")
@click.option("--cases", default=200, show_default=True, help="Number of masked phrases.")
@vary_option
@add_run_options
@json_option
@debug_option
def masked_command(
    index: str, cases: int, vary: list[tuple[str, list[object]]], methods: tuple[str, ...],
    presets: tuple[str, ...], seed: int, as_json: bool, **settings: str | None,
) -> int:  # fmt: skip
    """Measure how methods find a shared phrase that was removed from one text."""
    from indexer.progress import progress_bar
    from indexer.settings import load_settings
    from worker.comparer import Comparer
    from worker.evaluation.masked_phrases import draw_masked_cases, evaluate_masked

    runs = plan_runs(methods, presets, vary)
    with open_engine_with_hints(load_settings(**settings)) as engine, progress_bar() as progress:
        masked_cases = require_any(draw_masked_cases(engine.open_reader(index), cases, seed), *NO_CASE)
        evaluation = evaluate_masked(
            Comparer(engine), index, masked_cases, runs, seed=seed,
            progress=lambda done, total: progress("compare", done, total),
        )  # fmt: skip
    evaluation |= {"index": index, "seed": seed}
    if as_json:
        print_json(evaluation)
    else:
        _print_masked(evaluation)
    return 0


@click.command("all")
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    required=True,
    help="Folder with the data sets.",
)
@click.option("--pairs", default=400, show_default=True, help="Number of document pairs.")
@click.option("--cases", default=200, show_default=True, help="Number of masked phrases in each corpus.")
@part_option
@add_run_options
@click.option("--report", type=click.File("w", lazy=True), help="Also write the tables to this Markdown file.")
@json_option
@debug_option
def all_command(
    data: Path, pairs: int, cases: int, part: str, methods: tuple[str, ...], presets: tuple[str, ...], seed: int,
    report: TextIO | None, as_json: bool, **settings: str | None,
) -> int:  # fmt: skip
    """Measure everything: all data sets, all methods, masked phrases, queries, an editor's lists, and the goals."""
    from indexer.progress import progress_bar
    from indexer.settings import load_settings
    from worker.evaluation.editor_lists.list_tables import print_editor_tables
    from worker.evaluation.report import render_report
    from worker.evaluation.run_all import evaluate_all

    with open_engine_with_hints(load_settings(**settings)) as engine, progress_bar() as progress:
        results = evaluate_all(
            engine, data, plan_runs(methods, presets),
            pairs=pairs, cases=cases, seed=seed, part=part, encoder=load_encoder_if_installed(), progress=progress,
        )  # fmt: skip
    if report:
        report.write(render_report(results))
    if as_json:
        print_json(results)
        return 0
    for name, evaluation in results["keywords"].items():
        click.echo(f"\n{name}: {results['ahead'][name]}")
        _print_keywords(evaluation)
    for name, evaluation in results["masked"].items():
        click.echo(f"\nmasked phrases, {name}")
        _print_masked(evaluation)
    for name, evaluation in results["queries"].items():
        click.echo(f"\nreasons for queries, {name}")
        print_query_figures(evaluation)
    click.echo("\nlists of an editor")
    print_editor_tables(results["editor"])
    click.echo("\ngoals")
    columns = list(results["goals"][0])
    print_table(columns, [[row.get(c, "") for c in columns] for row in results["goals"]])
    return 0


def load_encoder_if_installed() -> TextEncoder | None:
    """Return the encoder of development, or None, and say so, where it cannot be had."""
    try:
        return load_sentence_encoder()
    except PhraseComError as error:
        click.echo(f"queries are not measured with vectors: {error}", err=True)
        return None


def _print_keywords(evaluation: dict[str, Any]) -> None:
    from worker.evaluation.quality_metrics import SHOWING_FIGURES, SORTING_FIGURES

    _print_figures(evaluation, (*SORTING_FIGURES, *SHOWING_FIGURES))


def _print_masked(evaluation: dict[str, Any]) -> None:
    from worker.evaluation.masked_phrases import MASKED_FIGURES

    _print_figures(evaluation, MASKED_FIGURES)


def _print_figures(evaluation: dict[str, Any], figures: Sequence[str]) -> None:
    rows = evaluation["rows"]
    for columns in (figures[:_COLUMNS_PER_TABLE], figures[_COLUMNS_PER_TABLE:]):
        if columns:
            lines = [(row["name"], *(f"{row['figures'].get(c, 0.0):.3f}" for c in columns)) for row in rows]
            print_table(("method", *(c.replace("_", " ") for c in columns)), lines)
    steps = [(row["name"], *row["steps"].values()) for row in rows if row.get("steps", {}).get("inner")]
    if steps:
        print_table(("method", "most inner steps", "most outer rounds"), steps)
    counts = {name: value for name, value in evaluation.items() if name != "rows"}
    click.echo("  ".join(f"{name} {value}" for name, value in counts.items()))
