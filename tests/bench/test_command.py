"""``phrasecom bench`` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from indexer.cli.main import run

ROW = {"name", "engine", "ours", "against", "ratio", "goal", "met", "p95", "repetitions"}
TINY = ("bench", "--quick", "--documents", "60")


def rows(*names: str) -> list[str]:
    return [part for name in names for part in ("--rows", name)]


def bench(capsys: pytest.CaptureFixture[str], *more: str) -> Any:
    assert run([*TINY, "--json", *more]) == 0
    return json.loads(capsys.readouterr().out)


def test_json_has_rows_machine_versions_and_corpus(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    plot = tmp_path / "growth.svg"
    found = bench(capsys, *rows("solve", "growth"), "--plot", str(plot))
    assert {"rows", "machine", "versions", "corpus"} <= found.keys()
    assert [(row["name"], row["engine"]) for row in found["rows"]] == [
        ("solve", "embedded"),
        ("growth", "embedded"),
        ("growth", "elasticsearch"),
    ]
    for row in found["rows"]:
        assert row.keys() >= ROW
        measured = row["engine"] == "embedded"
        assert (row["ours"] is not None) == (row["ratio"] is not None) == (row["met"] is not None) == measured
        assert (row["repetitions"] > 0) == measured
        assert row["note"]
    assert found["corpus"]["documents"] == 60
    assert found["machine"]["cores"] > 0
    assert len(found["growth"]) == 3
    assert plot.read_text().startswith("<svg")


def test_figures_of_other_processes_come_in(capsys: pytest.CaptureFixture[str]) -> None:
    found = bench(capsys, *rows("patterns", "mining", "mining-memory"))
    assert [row["name"] for row in found["rows"]] == ["patterns", "mining", "mining-memory"]
    assert all(row["ours"] > 0 for row in found["rows"])


def test_a_folder_given_keeps_its_indexes_for_the_next_run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from indexer.engines import open_engine

    made = []
    for _ in range(2):
        bench(capsys, *rows("solve"), "--engine", str(tmp_path / "kept"))
        with open_engine(str(tmp_path / "kept")) as engine:
            made.append({name: engine.open_reader(name).info.created for name in engine.list_indexes()})
    assert made[0] == made[1]
    assert all(name.startswith("bench-") for name in made[0])


def test_a_row_that_does_not_exist_is_told_with_those_that_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*TINY, "--rows", "warp"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("phrasecom: ")
    assert "growth" in told and told.count("\n") == 1


def test_the_table_says_what_was_not_measured_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*TINY, *rows("indexing")]) == 0
    assert "no elasticsearch was given" in capsys.readouterr().out
