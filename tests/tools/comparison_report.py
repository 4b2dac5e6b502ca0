"""Writes docs/results/comparisons.md: comparisons of an editor's pairs, with the editor's lists beside them.

    python -m tests.tools.comparison_report --engine FOLDER --corpora FOLDER

The corpora are those of ``make_editor_corpora``. The texts belong to others, so the page has ids and phrases only.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from indexer.engines import open_engine
from tests.support.paths import ROOT
from worker.comparer import Comparer
from worker.evaluation.author_keywords import MethodRun
from worker.evaluation.editor_lists.editor_pairs import EditorData, EditorPair, load_editor_data
from worker.evaluation.editor_lists.list_evaluation import evaluate_editor_lists

REPORT = ROOT / "docs" / "results" / "comparisons.md"
PAIRS_OF_A_KIND = 10
COLUMNS = {"distinct_a": "only A", "common": "both", "distinct_b": "only B"}
MARKS = {"exactly": "**", "nearly": "*", None: ""}
UNSAFE, ESCAPED = re.compile(r"[\\`*_|<\[]"), r"\\\g<0>"
INTRODUCTION = """# Comparisons beside an editor's lists

Ten pairs of each kind of text, compared with the default preset in an index of the whole corpus: the phrases *listed*,
with their scores, and those that an *editor* chose, who had seen no list of this project. Of these, **bold** ones are
found exactly and *italic* ones nearly ([definitions](../quality.md#lists-of-an-editor), with the figures of all pairs).
A phrase with ≈ is implied: only one of the two texts contains it. Kinds with fewer than ten pairs in the half `report`
have some of the half `choose`, too, by which rules were chosen. The ids are those of the corpora that
`python -m tests.tools.make_editor_corpora` makes; `python -m tests.tools.comparison_report` writes this page."""


def choose_pairs(pairs: Sequence[EditorPair]) -> list[EditorPair]:
    """Return the first pairs of each kind of text, those of the half ``report`` before the others."""
    kinds = dict.fromkeys(pair.kind for pair in pairs)
    ordered = sorted(pairs, key=lambda pair: pair.half != "report")
    return [pair for kind in kinds for pair in [one for one in ordered if one.kind == kind][:PAIRS_OF_A_KIND]]


def write_report(comparer: Comparer, data: EditorData) -> str:
    """Compare the chosen pairs and return the page."""
    run = MethodRun("cda", "default")
    evaluation = evaluate_editor_lists(comparer, replace(data, pairs=choose_pairs(data.pairs)), [run], with_told=True)
    kinds = groupby(evaluation["told"][run.name], key=lambda told: told["kind"])
    return "\n".join([INTRODUCTION, *(line for kind in kinds for line in _format_kind(*kind)), ""])


def _format_kind(kind: str, told_of_kind: Iterator[dict[str, Any]]) -> Iterator[str]:
    yield f"\n## {kind.capitalize()}"
    for told in told_of_kind:
        yield f"\n{told['pair']} ({told['half']}): A is `{told['a']}`, B is `{told['b']}`\n"
        yield f"| | {' | '.join(COLUMNS.values())} |\n{'| --- ' * (len(COLUMNS) + 1)}|"
        yield f"| listed | {' | '.join(', '.join(map(_format_entry, told[name]['shown'])) for name in COLUMNS)} |"
        yield f"| editor | {' | '.join(', '.join(map(_format_choice, told[name]['editor'])) for name in COLUMNS)} |"


def _format_entry(entry: dict[str, Any]) -> str:
    return f"{'≈ ' * (entry['kind'] == 'implied')}{UNSAFE.sub(ESCAPED, entry['display'])} {entry['score']:.2f}"


def _format_choice(choice: dict[str, Any]) -> str:
    return f"{MARKS[choice['found']]}{UNSAFE.sub(ESCAPED, choice['phrase'])}{MARKS[choice['found']]}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--engine", type=Path, required=True, help="folder of the indexes")
    parser.add_argument("--corpora", type=Path, required=True, help="folder with KIND.jsonl of each kind of text")
    options = parser.parse_args()
    with open_engine(str(options.engine)) as engine:
        REPORT.write_text(write_report(Comparer(engine), load_editor_data(corpora=options.corpora)), "utf-8")
