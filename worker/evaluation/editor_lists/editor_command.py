"""The command that measures comparisons against an editor's lists."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from indexer.cli.engine_hints import open_engine_with_hints
from indexer.cli.options import debug_option, json_option
from indexer.cli.output import print_json
from indexer.defaults import DEFAULT_CAP
from worker.evaluation.cli_options import FILE
from worker.evaluation.method_commands import add_run_options, plan_runs
from worker.parameter_options import vary_option


def _parse_corpus_files(context: click.Context, option: click.Parameter, texts: Sequence[str]) -> dict[str, Path]:
    """Return the files of ``KIND=FILE`` by kind."""
    files = {}
    for text in texts:
        kind, _, name = text.partition("=")
        if not kind or not name:
            raise click.BadParameter(f"{text!r} is not KIND=FILE, such as papers=papers_300.jsonl")
        files[kind] = Path(name)
    return files


@click.command("editor")
@click.option(
    "--lists", type=FILE,
    help="Pairs with an editor's lists, as JSON lines; default: those in the source tree of this project.",
)  # fmt: skip
@click.option("--verdicts", type=FILE, help="Verdicts of readers on phrases shown, as JSON lines; default likewise.")
@click.option(
    "--corpora", type=click.Path(file_okay=False, path_type=Path),
    help="Folder with KIND.jsonl of each kind of text; default: editor in the folder of the cache.",
)  # fmt: skip
@click.option(
    "--corpus", "other_corpora", multiple=True, callback=_parse_corpus_files, metavar="KIND=FILE",
    help="Another corpus for a kind of text; may be repeated.",
)  # fmt: skip
@click.option("--kind", "kinds", multiple=True, help="Only this kind of text; may be repeated.")
@click.option(
    "--half", type=click.Choice(["choose", "report", "all"]), default="report", show_default=True,
    help="Half of the pairs: what is chosen by choose is reported by report.",
)  # fmt: skip
@click.option("--cap", type=click.IntRange(0), default=DEFAULT_CAP, show_default=True, help="Longest list; 0 for any.")
@click.option("--told", is_flag=True, help="Add to the JSON what was shown for every pair, and what of it was found.")
@vary_option
@add_run_options
@json_option
@debug_option
def editor_command(
    lists: Path | None, verdicts: Path | None, corpora: Path | None, other_corpora: dict[str, Path],
    kinds: tuple[str, ...], half: str, cap: int, told: bool, vary: list[tuple[str, list[object]]],
    methods: tuple[str, ...], presets: tuple[str, ...], seed: int, as_json: bool, **settings: str | None,
) -> int:  # fmt: skip
    """Measure the lists of comparisons against those that an editor wrote, and by verdicts of readers."""
    from indexer.progress import progress_bar
    from indexer.settings import load_settings
    from worker.comparer import Comparer
    from worker.evaluation.editor_lists.editor_pairs import load_editor_data
    from worker.evaluation.editor_lists.list_evaluation import evaluate_editor_lists
    from worker.evaluation.editor_lists.list_tables import print_editor_tables

    data = load_editor_data(half, kinds, lists=lists, verdicts=verdicts, corpora=corpora, other_corpora=other_corpora)
    runs = plan_runs(methods, presets, vary)
    with open_engine_with_hints(load_settings(**settings)) as engine, progress_bar() as progress:
        evaluation = evaluate_editor_lists(
            Comparer(engine), data, runs, cap=cap, seed=seed, with_told=told, progress=progress
        )
    evaluation |= {"half": half}
    if as_json:
        print_json(evaluation)
    else:
        print_editor_tables(evaluation)
    return 0
