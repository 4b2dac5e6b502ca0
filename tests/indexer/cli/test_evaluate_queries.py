"""``phrasecom evaluate queries`` on any index and any file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command_line import RunCommand, parse_json_output, require_one_line

SMALL = ("--titles", "4", "--hits", "3", "--unrelated", "2", "--forms", "10")


@pytest.fixture
def judged_file(tmp_path: Path) -> Path:
    rows = [
        {"query": "honey bee", "kind": "name", "hit": "bees-000", "relevance": 2, "reasons": ["honey bee"]},
        {"query": "honey bee", "kind": "name", "hit": "boats-001", "relevance": 0, "reasons": []},
    ]
    path = tmp_path / "judged.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_the_json_has_every_part_and_what_was_told(phrasecom: RunCommand, index: str, judged_file: Path) -> None:
    command = ("evaluate", "queries", "--index", index, *SMALL, "--judged", str(judged_file), "--half", "all", "--json")
    evaluation = parse_json_output(phrasecom(*command, "--told"))
    assert (evaluation["index"], evaluation["half"], evaluation["seed"]) == (index, "all", 1)
    assert evaluation["judged"]["of"]["relevant_told"] == evaluation["judged"]["of"]["irrelevant_told"] == 1
    told = [(answer["query"], answer["hit"]) for answer in evaluation["answers"]["judged"]]
    assert told == [("honey bee", "bees-000"), ("honey bee", "boats-001")]
    assert {answer["query"] for answer in evaluation["answers"]["unrelated"]} == {"honey bee"}
    assert "answers" not in parse_json_output(phrasecom(*command))


def test_the_table_has_a_row_for_every_figure(phrasecom: RunCommand, index: str, tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_text('{"query": "sail boat"}\n')
    status, out, err = phrasecom("evaluate", "queries", "--index", index, *SMALL, "--queries", "queries.jsonl")
    assert (status, err) == (0, "")
    for figure in ("hits told", "words told", "forms met", "documents met", "unrelated told"):
        assert out.count(figure) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give either --index or --dataset"),
        (("--index", "made-up", "--dataset", "python"), "give either --index or --dataset"),
        (("--dataset", "news"), "set --data to the folder with the data sets"),
        (("--index", "made-up", "--judged", "lines.jsonl", "--half", "choose"), "choose another --half"),
        (("--index", "made-up", "--queries", "lines.jsonl"), "an object with query"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_one_line(
    phrasecom: RunCommand, index: str, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "lines.jsonl").write_text("")
    if "--queries" in arguments:
        (tmp_path / "lines.jsonl").write_text('{"text": "sail boat"}\n')
    status, out, err = phrasecom("evaluate", "queries", *arguments)
    assert (status, out) == (2, "")
    assert message in require_one_line(err)
