"""Commands that evaluate what methods build on: mined phrases, and neighbourhoods in place of the full graph."""

from __future__ import annotations

from pathlib import Path

import click

from indexer.cli.engine_hints import open_engine_with_hints
from indexer.cli.options import debug_option, engine_option, json_option
from indexer.cli.output import print_json, print_table
from worker.evaluation.cli_options import FILE, NO_PAIR, PRESET, background_option, keyphrases_option, require_any


@click.command("phrases")
@click.option(
    "--corpus", type=FILE, multiple=True, required=True, help="Corpus to mine, as JSON lines; may be repeated."
)
@click.option(
    "--keyphrases",
    type=FILE,
    multiple=True,
    required=True,
    help="JSON lines with keyphrases; may be repeated; the documents of the first file are mined too.",
)
@click.option("--labels", type=FILE, default=None, help="Phrases with human judgements: phrase, tab, 1 or 0.")
@click.option("--limit", default=0, help="Maximum documents of the corpus; 0 for all.")
@click.option("--examples", default=200, show_default=True, help="Number of example phrases to print.")
@json_option
@debug_option
def phrases_command(
    corpus: tuple[Path, ...], keyphrases: tuple[Path, ...], labels: Path | None, limit: int, examples: int,
    as_json: bool,
) -> int:  # fmt: skip
    """Measure mined phrases against author keywords and human judgements."""
    from indexer.progress import progress_bar
    from worker.evaluation.mined_phrases import evaluate_phrases

    with progress_bar() as progress:
        evaluation = evaluate_phrases(
            corpus, keyphrases[0], keyphrases, labels, limit=limit, examples=examples, progress=progress
        )
    if as_json:
        print_json(evaluation)
        return 0
    figures = {name: value for name, value in evaluation.items() if not isinstance(value, list)}
    print_table(("figure", "value"), [(name.replace("_", " "), value) for name, value in figures.items()])
    for name, value in evaluation.items():
        if isinstance(value, list):
            click.echo(f"\n{name.replace('_', ' ')}: " + ", ".join(map(str, value)))
    return 0


@click.command("fidelity")
@keyphrases_option
@background_option
@click.option("--limit", default=20000, show_default=True, help="Maximum background documents; 0 for all.")
@click.option("--pairs", default=200, show_default=True, help="Number of document pairs.")
@click.option("--preset", type=PRESET, default="default", show_default=True, help="Preset of cda.")
@click.option(
    "--size",
    "sizes",
    type=int,
    multiple=True,
    default=(50, 100, 200, 300, 1000),
    show_default=True,
    help="Size of the neighbourhood; may be repeated.",
)
@click.option("--seed", default=1, show_default=True, help="Random seed of the pairs.")
@engine_option
@json_option
@debug_option
def fidelity_command(
    keyphrases: tuple[Path, ...], background: tuple[Path, ...], limit: int, pairs: int, preset: str,
    sizes: tuple[int, ...], seed: int, as_json: bool, **settings: str | None,
) -> int:  # fmt: skip
    """Measure how closely neighbourhoods approximate the whole graph."""
    from indexer.progress import progress_bar
    from indexer.settings import load_settings
    from worker.comparer import Comparer
    from worker.evaluation.datasets import ALL_PARTS, ensure_index, load_gold
    from worker.evaluation.gold import draw_keyword_pairs
    from worker.evaluation.graph_fidelity import FidelityPair, evaluate_fidelity

    with open_engine_with_hints(load_settings(**settings)) as engine, progress_bar() as progress:
        name = ensure_index(engine, keyphrases, background, limit=limit, progress=progress)
        gold = load_gold(keyphrases, ALL_PARTS, engine.open_reader(name).model.lemmatizer)
        gold_pairs = require_any(draw_keyword_pairs(gold, pairs, seed), *NO_PAIR)
        evaluation = evaluate_fidelity(
            Comparer(engine), name, [FidelityPair.from_gold(pair) for pair in gold_pairs], preset=preset, sizes=sizes,
            progress=lambda done, total: progress("compare", done, total),
        )  # fmt: skip
    if as_json:
        print_json(evaluation | {"index": name, "seed": seed})
    else:
        columns = list(evaluation["rows"][0])
        print_table([c.replace("_", " ") for c in columns], [[row[c] for c in columns] for row in evaluation["rows"]])
    return 0
