"""``phrasecom bench`` on the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from indexer.cli.main import run
from worker.benchmark.vectors.word_projection import DIMENSIONS

ROW_FIELDS = {"name", "engine", "ours", "against", "ratio", "goal", "met", "p95", "repetitions"}
TINY_BENCH = ("bench", "--quick", "--documents", "60")


def select_rows(*names: str) -> list[str]:
    return [part for name in names for part in ("--rows", name)]


def run_bench(capsys: pytest.CaptureFixture[str], *more: str) -> Any:
    assert run([*TINY_BENCH, "--json", *more]) == 0
    return json.loads(capsys.readouterr().out)


def test_json_has_rows_machine_versions_and_corpus(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    plot = tmp_path / "growth.svg"
    results = run_bench(capsys, *select_rows("solve", "growth"), "--plot", str(plot))
    assert {"rows", "machine", "versions", "corpus"} <= results.keys()
    assert [(row["name"], row["engine"]) for row in results["rows"]] == [
        ("solve", "embedded"),
        ("growth", "embedded"),
        ("growth", "elasticsearch"),
    ]
    for row in results["rows"]:
        assert row.keys() >= ROW_FIELDS
        measured = row["engine"] == "embedded"
        assert (row["ours"] is not None) == (row["ratio"] is not None) == (row["met"] is not None) == measured
        assert (row["repetitions"] > 0) == measured
        assert row["note"]
    assert results["corpus"]["documents"] == 60
    assert results["machine"]["cores"] > 0
    assert len(results["growth"]) == 3
    assert plot.read_text().startswith("<svg")


def test_figures_measured_in_other_processes_are_in_the_rows(capsys: pytest.CaptureFixture[str]) -> None:
    results = run_bench(capsys, *select_rows("patterns", "mining", "mining-memory"))
    assert [row["name"] for row in results["rows"]] == ["patterns", "mining", "mining-memory"]
    assert all(row["ours"] > 0 for row in results["rows"])


def test_a_results_page_is_measured_for_new_and_for_repeated_queries(capsys: pytest.CaptureFixture[str]) -> None:
    rows = run_bench(capsys, "--documents", "1500", *select_rows("page", "page-cached"))["rows"]
    assert [(row["name"], row["engine"], row["goal"]) for row in rows] == [
        ("page", "embedded", "<= 8"),
        ("page-cached", "embedded", "<= 1.3"),
        ("page", "elasticsearch", "<= 10"),
        ("page-cached", "elasticsearch", "<= 1.5"),
    ]
    for row in rows[:2]:
        assert row["ours"] > 0 and row["against"] > 0
        assert row["repetitions"] > 0
        assert re.fullmatch(rf"{row['repetitions']} of \d+ pages count", row["note"])


def test_indexes_in_a_given_folder_are_kept_for_the_next_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from indexer.engines import open_engine

    created = []
    for _ in range(2):
        run_bench(capsys, *select_rows("solve"), "--engine", str(tmp_path / "engine"))
        with open_engine(str(tmp_path / "engine")) as engine:
            created.append({name: engine.open_reader(name).info.created for name in engine.list_indexes()})
    assert created[0] == created[1]
    assert all(name.startswith("bench-") for name in created[0])


def test_an_unknown_row_is_refused_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*TINY_BENCH, "--rows", "warp"]) == 2
    message = capsys.readouterr().err
    assert message.startswith("phrasecom: ")
    assert "growth" in message and message.count("\n") == 1


def test_the_table_says_why_a_row_was_not_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*TINY_BENCH, *select_rows("indexing")]) == 0
    assert "no elasticsearch was given" in capsys.readouterr().out


def test_an_index_with_vectors_is_measured_against_the_same_without(capsys: pytest.CaptureFixture[str]) -> None:
    size, build = run_bench(capsys, *select_rows("vectors-size", "vectors-build"))["rows"]
    assert size["ours"] - size["against"] > 2 * DIMENSIONS  # two bytes a number at least
    assert build["ours"] > 0 and build["against"] > 0


def test_a_page_with_a_query_vector_is_measured_against_the_same_without(capsys: pytest.CaptureFixture[str]) -> None:
    names = ("vectors-page", "vectors-page-cached")
    rows = run_bench(capsys, "--documents", "1500", *select_rows(*names))["rows"]
    assert [row["name"] for row in rows] == list(names)
    for row in rows:
        assert row["ours"] > 0 and row["against"] > 0
        assert re.fullmatch(rf"{row['repetitions']} of \d+ pages count", row["note"])
