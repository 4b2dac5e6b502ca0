"""The tool that writes docs/results/comparisons.md, on a tiny corpus."""

from __future__ import annotations

from pathlib import Path

import orjson

from indexer.engines import open_engine
from tests.support.corpora.small_corpus import generate_documents, write_jsonl
from tests.tools.comparison_report import PAIRS_OF_A_KIND, choose_pairs, write_report
from worker.comparer import Comparer
from worker.evaluation.editor_lists.editor_pairs import LIST_NAMES, EditorPair, load_editor_data


def make_pair(number: int, kind: str, half: str) -> EditorPair:
    return EditorPair(kind, f"{kind}-{number}", f"a{number}", f"b{number}", half, dict.fromkeys(LIST_NAMES, ()))


def test_pairs_of_the_half_report_are_taken_first() -> None:
    pairs = [make_pair(i, kind, "choose") for kind in ("hobbies", "laws") for i in range(8)]
    pairs += [make_pair(i, "hobbies", "report") for i in range(8, 12)]
    chosen = choose_pairs(pairs)
    assert [pair.kind for pair in chosen] == ["hobbies"] * PAIRS_OF_A_KIND + ["laws"] * 8
    assert [pair.half for pair in chosen[:PAIRS_OF_A_KIND]] == ["report"] * 4 + ["choose"] * 6


def test_a_page_has_the_listed_phrases_and_those_of_the_editor(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "hobbies.jsonl", generate_documents(60))
    chosen = {"common": [], "distinct_a": ["Queen bees", "brown|sugar"], "distinct_b": ["sail boat"]}
    row = {"kind": "hobbies", "pair": "hobbies-1", "a": "bees-000", "b": "boats-001", "half": "report", **chosen}
    (tmp_path / "editor.jsonl").write_bytes(orjson.dumps(row))
    data = load_editor_data(lists=tmp_path / "editor.jsonl", corpora=tmp_path)
    with open_engine(str(tmp_path / "engine")) as engine:
        page = write_report(Comparer(engine), data)
    assert "## Hobbies" in page and "hobbies-1 (report): A is `bees-000`, B is `boats-001`" in page
    listed, editor = page.splitlines()[-2:]
    assert listed.startswith("| listed | ") and "queen bee 0." in listed
    assert editor == r"| editor | **Queen bees**, brown\|sugar |  | **sail boat** |"
