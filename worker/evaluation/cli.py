"""``phrasecom evaluate``: quality in figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from indexer.cli.options import debug_option, engine_option, json_option, open_engine_of, print_json, print_table
from indexer.errors import BadParameter
from worker.evaluation.report import MAIN, MASKED, SHOWING
from worker.parameter_options import vary_option

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from worker.evaluation.author_keywords import Run

T = TypeVar("T")
KEYWORD_COLUMNS = (*MAIN, *SHOWING)
PATHS = click.Path(exists=True, dir_okay=False, path_type=Path)
PRESET = click.Choice(["default", "paper"])
part_option = click.option(
    "--part", type=click.Choice(["tune", "choose", "report", "all"]), default="report", show_default=True,
    help="Which of the documents with keyphrases: a third each, by a hash of the id.",
)  # fmt: skip
NO_PAIR = ("no two documents share a keyword", "give more documents with keyphrases, or another --part")
NO_CASE = ("no phrase of several words is salient in two documents", "use an index of more documents")


@click.group("evaluate")
def evaluate_command() -> None:
    """Measure quality: methods against author keywords and masked phrases, phrases against people."""


def _run_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--method", "methods", multiple=True, help="Only this method; may be repeated."),
        click.option(
            "--preset", "presets", type=PRESET, multiple=True, help="Presets of the cda methods; may be repeated."
        ),
        click.option("--seed", default=1, show_default=True, help="Of the pairs and the resampling."),
        engine_option,
    ):
        function = option(function)
    return function


def runs_of(methods: Sequence[str], presets: Sequence[str], vary: Sequence[tuple[str, list[object]]] = ()) -> list[Run]:
    """Rows of the table: every method, cda in every preset and with each parameter varied, containment always."""
    from worker.evaluation.author_keywords import Run, varied
    from worker.methods import METHODS, method

    chosen = [method(name).name for name in methods] or list(METHODS)
    runs = [Run(name, preset) for name in chosen for preset in _presets(name, presets)]
    if vary and not any(run.method == "cda" for run in runs):
        raise BadParameter("--vary changes cda, which is not among the methods", fix="add --method cda")
    for parameter, values in vary:
        runs += varied([run for run in runs if not run.changes], parameter, values)
    return runs if any(run.method == "containment" for run in runs) else [*runs, Run("containment", "default")]


def _presets(method: str, presets: Sequence[str]) -> Sequence[str]:
    """The paper's variants are measured with its settings; the full model with both."""
    if method == "cda":
        return presets or ("default", "paper")
    return ("paper",) if method.startswith("cda") else ("default",)


@evaluate_command.command("keywords")
@click.option("--keyphrases", type=PATHS, multiple=True, required=True, help="JSON lines with keyphrases.")
@click.option("--background", type=PATHS, multiple=True, help="Further documents for the graph.")
@click.option("--limit", default=0, help="At most so many background documents; 0 for all.")
@click.option("--index", default="", help="Use this index, which holds the documents, instead of making one.")
@click.option("--pairs", default=400, show_default=True)
@part_option
@click.option("--random", "at_random", is_flag=True, help="Random pairs instead of pairs that share a keyword.")
@vary_option
@click.option("--plot", type=click.File("w", lazy=True), help="Draw what was varied, as SVG.")
@_run_options
@json_option
@debug_option
def keywords_command(
    keyphrases: tuple[Path, ...], background: tuple[Path, ...], limit: int, index: str, pairs: int, part: str,
    at_random: bool, vary: list[tuple[str, list[object]]], methods: tuple[str, ...], presets: tuple[str, ...],
    seed: int, plot: TextIO | None, as_json: bool, **given: str | None,
) -> int:  # fmt: skip
    """How methods sort and show author keywords."""
    from indexer.progress import progress_bar
    from indexer.settings import load_settings
    from worker.comparer import Comparer
    from worker.evaluation.author_keywords import evaluate_keywords
    from worker.evaluation.datasets import ensure_index, gold_of
    from worker.evaluation.gold import random_pairs, sample_pairs

    runs = runs_of(methods, presets, vary)
    with open_engine_of(load_settings(**given)) as engine, progress_bar() as bars:
        gold = gold_of(keyphrases, part)
        drawn = _some((random_pairs if at_random else sample_pairs)(gold, pairs, seed), *NO_PAIR)
        name = index or ensure_index(engine, keyphrases, background, limit=limit, progress=bars)
        found = evaluate_keywords(
            Comparer(engine), name, drawn, runs, seed=seed,
            progress=lambda done, total: bars("compare", done, total),
        )  # fmt: skip
    if plot:
        from worker.evaluation.chart import draw

        plot.write(draw(found))
    _print(found | {"index": name, "part": part, "seed": seed}, KEYWORD_COLUMNS, as_json)
    return 0


@evaluate_command.command("masked")
@click.option("--index", required=True, metavar="NAME", help="Any index.")
@click.option("--cases", default=200, show_default=True)
@vary_option
@_run_options
@json_option
@debug_option
def masked_command(
    index: str, cases: int, vary: list[tuple[str, list[object]]], methods: tuple[str, ...],
    presets: tuple[str, ...], seed: int, as_json: bool, **given: str | None,
) -> int:  # fmt: skip
    """How methods find a shared phrase that was cut out of one text."""
    from indexer.progress import progress_bar
    from indexer.settings import load_settings
    from worker.comparer import Comparer
    from worker.evaluation.masked_phrases import evaluate_masked, masked_cases

    runs = runs_of(methods, presets, vary)
    with open_engine_of(load_settings(**given)) as engine, progress_bar() as bars:
        drawn = _some(masked_cases(engine.open(index), cases, seed), *NO_CASE)
        found = evaluate_masked(
            Comparer(engine), index, drawn, runs, seed=seed,
            progress=lambda done, total: bars("compare", done, total),
        )  # fmt: skip
    _print(found | {"index": index, "seed": seed}, MASKED, as_json)
    return 0


@evaluate_command.command("phrases")
@click.option("--corpus", type=PATHS, multiple=True, required=True, help="JSON lines to mine.")
@click.option("--keyphrases", type=PATHS, multiple=True, required=True, help="The first one's documents are mined too.")
@click.option("--labels", type=PATHS, default=None, help="Phrases people judged: phrase, tab, 1 or 0.")
@click.option("--limit", default=0, help="At most so many documents of the corpus; 0 for all.")
@click.option("--examples", default=200, show_default=True, help="Phrases printed for reading.")
@json_option
@debug_option
def phrases_command(
    corpus: tuple[Path, ...], keyphrases: tuple[Path, ...], labels: Path | None, limit: int, examples: int,
    as_json: bool,
) -> int:  # fmt: skip
    """How good the mined phrases are, against author keywords and people's judgement."""
    from indexer.progress import progress_bar
    from worker.evaluation.mined_phrases import evaluate_phrases

    with progress_bar() as bars:
        found = evaluate_phrases(
            corpus, keyphrases[0], keyphrases, labels, limit=limit, examples=examples, progress=bars
        )
    if as_json:
        print_json(found)
        return 0
    figures = {name: value for name, value in found.items() if not isinstance(value, list)}
    print_table(("figure", "value"), [(name.replace("_", " "), value) for name, value in figures.items()])
    for name, value in found.items():
        if isinstance(value, list):
            click.echo(f"\n{name.replace('_', ' ')}: " + ", ".join(map(str, value)))
    return 0


@evaluate_command.command("fidelity")
@click.option("--keyphrases", type=PATHS, multiple=True, required=True, help="JSON lines with keyphrases.")
@click.option("--background", type=PATHS, multiple=True, help="Further documents for the graph.")
@click.option("--limit", default=20000, show_default=True, help="At most so many background documents; 0 for all.")
@click.option("--pairs", default=200, show_default=True)
@click.option("--preset", type=PRESET, default="default", show_default=True)
@click.option("--size", "sizes", type=int, multiple=True, default=(50, 100, 200, 300, 1000), show_default=True)
@click.option("--seed", default=1, show_default=True, help="Of the pairs.")
@engine_option
@json_option
@debug_option
def fidelity_command(
    keyphrases: tuple[Path, ...], background: tuple[Path, ...], limit: int, pairs: int, preset: str,
    sizes: tuple[int, ...], seed: int, as_json: bool, **given: str | None,
) -> int:  # fmt: skip
    """How far neighbourhoods are from the whole graph."""
    from indexer.progress import progress_bar
    from indexer.settings import load_settings
    from worker.comparer import Comparer
    from worker.evaluation.datasets import ensure_index, gold_of
    from worker.evaluation.gold import sample_pairs
    from worker.evaluation.graph_fidelity import Asked, evaluate_fidelity

    with open_engine_of(load_settings(**given)) as engine, progress_bar() as bars:
        drawn = _some(sample_pairs(gold_of(keyphrases, "all"), pairs, seed), *NO_PAIR)
        name = ensure_index(engine, keyphrases, background, limit=limit, progress=bars)
        asked = [
            Asked(p.a.document.id, p.b.document.id, {k: v == "semantic" for k, v in p.labels.items() if v != "surface"})
            for p in drawn
        ]
        found = evaluate_fidelity(
            Comparer(engine), name, asked, preset=preset, sizes=sizes,
            progress=lambda done, total: bars("compare", done, total),
        )  # fmt: skip
    if as_json:
        print_json(found | {"index": name, "seed": seed})
    else:
        columns = list(found["rows"][0])
        print_table([c.replace("_", " ") for c in columns], [[row[c] for c in columns] for row in found["rows"]])
    return 0


@evaluate_command.command("all")
@click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--pairs", default=400, show_default=True)
@click.option("--cases", default=200, show_default=True, help="Masked phrases on each corpus.")
@part_option
@_run_options
@click.option("--report", type=click.File("w", lazy=True), help="Write a page of Markdown tables too.")
@json_option
@debug_option
def all_command(
    data: Path, pairs: int, cases: int, part: str, methods: tuple[str, ...], presets: tuple[str, ...], seed: int,
    report: TextIO | None, as_json: bool, **given: str | None,
) -> int:  # fmt: skip
    """Everything: all sets, all methods, masked phrases, and the table of goals."""
    from indexer.progress import progress_bar
    from indexer.settings import load_settings
    from worker.evaluation.report import markdown
    from worker.evaluation.run_all import evaluate_all

    with open_engine_of(load_settings(**given)) as engine, progress_bar() as bars:
        found = evaluate_all(
            engine, data, runs_of(methods, presets),
            pairs=pairs, cases=cases, seed=seed, part=part, progress=bars,
        )  # fmt: skip
    if report:
        report.write(markdown(found))
    if as_json:
        print_json(found)
        return 0
    for name, one in found["keywords"].items():
        click.echo(f"\n{name}: {found['ahead'][name]}")
        _print(one, KEYWORD_COLUMNS, False)
    for name, one in found["masked"].items():
        click.echo(f"\nmasked phrases, {name}")
        _print(one, MASKED, False)
    click.echo("\ngoals")
    columns = list(found["goals"][0])
    print_table(columns, [[row.get(c, "") for c in columns] for row in found["goals"]])
    return 0


def _some(drawn: list[T], nothing: str, fix: str) -> list[T]:
    """What was drawn; a table of nothing would look like a result."""
    from indexer.errors import BadInput

    if not drawn:
        raise BadInput(nothing, fix=fix)
    return drawn


def _print(found: dict[str, Any], columns: Sequence[str], as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    for part in (columns[:5], columns[5:]):
        rows = [(row["name"], *(f"{row['figures'].get(c, 0.0):.3f}" for c in part)) for row in found["rows"]]
        if part:
            print_table(("method", *(c.replace("_", " ") for c in part)), rows)
    steps = [(row["name"], *row["steps"].values()) for row in found["rows"] if row.get("steps", {}).get("inner")]
    if steps:
        print_table(("method", "most inner steps", "most outer rounds"), steps)
    counted = {name: value for name, value in found.items() if name != "rows"}
    click.echo("  ".join(f"{name} {value}" for name, value in counted.items()))
