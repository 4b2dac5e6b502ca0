"""The command that evaluates the reasons for the hits of queries."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.cli.engine_hints import open_engine_with_hints
from indexer.cli.options import debug_option, engine_option, json_option
from indexer.cli.output import print_json, print_table
from worker.evaluation.cli_options import FILE, require_any

if TYPE_CHECKING:
    from indexer.model.evidence_spaces import SpaceName
    from worker.evaluation.sentence_encoder.text_vectors import TextEncoder


@click.command("queries")
@click.option("--index", metavar="NAME", help="Name of any index.")
@click.option(
    "--dataset", type=click.Choice(["python", "news", "ml"]),
    help="Instead of --index: a corpus that is indexed if it is not yet, with its judged hits.",
)  # fmt: skip
@click.option(
    "--data", type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder with the data sets, for --dataset news and ml.",
)  # fmt: skip
@click.option(
    "--queries", type=FILE,
    help="Queries to explain unrelated documents against, as JSON lines with query; default: the judged ones, or words "
    "of titles.",
)  # fmt: skip
@click.option(
    "--judged", type=FILE,
    help="Hits with an editor's judgements, as JSON lines with query, kind, hit, relevance (0, 1, 2) and reasons.",
)  # fmt: skip
@click.option(
    "--half", type=click.Choice(["choose", "report", "all"]), default="report", show_default=True,
    help="Half of the judged queries, by a hash of the query.",
)  # fmt: skip
@click.option(
    "--titles", type=click.IntRange(0), default=300, show_default=True, help="Number of queries made of title words."
)
@click.option("--hits", type=click.IntRange(1), default=10, show_default=True, help="Hits explained for each of them.")
@click.option(
    "--unrelated",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="Unrelated documents explained for each query.",
)
@click.option(
    "--documents",
    type=click.IntRange(1),
    default=20_000,
    show_default=True,
    help="Maximum documents that word forms are read from.",
)
@click.option(
    "--forms", type=click.IntRange(0), default=20_000, show_default=True, help="Maximum word forms; 0 for all."
)
@click.option(
    "--vectors", is_flag=True,
    help="Search and explain with vectors of the sentence encoder, a dependency of development: --dataset is indexed "
    "with them, --index must have them. Adds hits that share no word with their query.",
)  # fmt: skip
@click.option(
    "--spaces", metavar="NAMES", default="all", show_default=True,
    help="Spaces that evidence comes from: vectors, words, topics (several with commas), all that the index has, "
    "none, or each for a table of all combinations.",
)  # fmt: skip
@click.option("--told", is_flag=True, help="Add to the JSON what was told for every query and hit.")
@click.option("--seed", default=1, show_default=True, help="Random seed of all samples.")
@engine_option
@json_option
@debug_option
def queries_command(
    index: str | None, dataset: str | None, data: Path | None, queries: Path | None, judged: Path | None, half: str,
    titles: int, hits: int, unrelated: int, documents: int, forms: int, vectors: bool, spaces: str, told: bool,
    seed: int, as_json: bool, **settings: str | None,
) -> int:  # fmt: skip
    """Measure the reasons for the hits of queries: whether they are complete, honest, and those of an editor.

    With --vectors also whether hits that share no word with their query get reasons, and whether these are faithful.
    """
    from indexer.model.evidence_spaces import SPACE_NAMES
    from indexer.progress import progress_bar
    from indexer.settings import load_settings
    from worker.comparer import Comparer
    from worker.evaluation.datasets import QUERY_DATASETS, ensure_query_index
    from worker.evaluation.gold import read_json_lines
    from worker.evaluation.judged_hits import read_judged_hits
    from worker.evaluation.query_quality import QuerySample, evaluate_queries
    from worker.evaluation.report import SPACE_COLUMNS, list_space_rows

    if (index is None) == (dataset is None):
        raise click.UsageError("give either --index or --dataset")
    if dataset and not judged:
        judged = QUERY_DATASETS[dataset].find_judged_file()
    judged_hits = require_any(read_judged_hits(judged, half), *NO_JUDGED_HIT) if judged else []
    asked = [str(row["query"]) for row in read_json_lines(queries, ("query",))] if queries else []
    sample = QuerySample(titles, hits, unrelated, documents, forms, seed)
    parse_space_names(spaces, SPACE_NAMES)  # a wrong name is refused before anything is indexed
    encoder = load_sentence_encoder() if vectors else None
    with open_engine_with_hints(load_settings(**settings)) as engine, progress_bar() as progress:
        name = index or ensure_query_index(engine, QUERY_DATASETS[str(dataset)], data, progress, encoder)
        selections = parse_space_names(spaces, engine.open_reader(name).model.evidence_spaces.names)
        evaluations = [
            evaluate_queries(
                Comparer(engine, space_names=selection), name, sample,
                queries=list(dict.fromkeys(asked or [hit.query for hit in judged_hits])), judged=judged_hits,
                encoder=encoder, only_by_space=len(selections) > 1, with_answers=told, progress=progress,
            )
            for selection in selections
        ]  # fmt: skip
    described = {"index": name, "half": half if judged else None, "seed": seed, "vectors": vectors}
    if as_json:
        print_json((evaluations[0] if len(evaluations) == 1 else {"by_spaces": evaluations}) | described)
    elif len(evaluations) > 1:
        print_table(
            SPACE_COLUMNS, [["" if cell is None else cell for cell in row] for row in list_space_rows(evaluations)]
        )
    else:
        print_query_figures(evaluations[0])
    return 0


def parse_space_names(text: str, known: Sequence[SpaceName]) -> list[tuple[SpaceName, ...]]:
    """Return the selections of spaces to measure; ``known``: spaces of the index, the best first.

    Raises BadParameter for a name that is not known.
    """
    from indexer.errors import BadParameter

    if text == "each":
        sizes = range(len(known), -1, -1)
        return [selection for size in sizes for selection in combinations(known, size)]
    if text in ("all", "none"):
        return [tuple(known) if text == "all" else ()]
    asked = [name.strip() for name in text.split(",")]
    unknown = [name for name in asked if name not in known]
    if unknown:
        raise BadParameter(f"no space named {unknown[0]!r}", fix=f"use all, none, each, or some of {', '.join(known)}")
    return [tuple(name for name in known if name in asked)]


def load_sentence_encoder() -> TextEncoder:
    """Load the encoder of development; raise BadSetting or BadInput if it cannot be had."""
    from worker.evaluation.sentence_encoder import SentenceEncoder

    return SentenceEncoder.load()


NO_JUDGED_HIT = ("no judged hit in this half", "choose another --half, or give a file with judged hits")
"""Problem and fix where a file has no judgement of the half."""


def print_query_figures(evaluation: dict[str, Any]) -> None:
    """Print the table of ``evaluate_queries``."""
    from worker.evaluation.report import QUERY_COLUMNS, list_query_rows

    click.echo(f"spaces: {', '.join(evaluation['spaces']) or 'none'}")
    rows = [["" if cell is None else cell for cell in row] for row in list_query_rows(evaluation)]
    print_table(QUERY_COLUMNS, rows)
