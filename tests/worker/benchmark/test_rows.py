"""Rows of the table: ratios, goals, and reasons why a row was not measured."""

from __future__ import annotations

from pathlib import Path

from worker.benchmark.corpus import BenchCorpus
from worker.benchmark.environment import EMBEDDED, BenchEnvironment
from worker.benchmark.measurements import MEASUREMENTS, measure_rows
from worker.benchmark.rows import MeasuredFigures, RowSpec, SpeedGoal


def test_each_form_of_ratio_is_checked_against_its_goal() -> None:
    share = RowSpec("x", "x", "y", SpeedGoal("<=", 1.5)).build_row(MeasuredFigures(3.0, 2.0), "embedded")
    assert (share.ratio, share.met, share.goal) == (1.5, True, "<= 1.5")
    faster = RowSpec("x", "x", "y", SpeedGoal(">=", 2), ratio_form="against/ours").build_row(
        MeasuredFigures(3.0, 4.5), "embedded"
    )
    assert (faster.ratio, faster.met) == (1.5, False)


def test_a_figure_without_a_baseline_is_checked_itself() -> None:
    row = RowSpec("x", "x", "", SpeedGoal(">=", 20), "1/s").build_row(MeasuredFigures(21.0), None)
    assert (row.ours, row.ratio, row.met) == (21.0, None, True)


def test_a_row_that_cannot_be_measured_says_why_and_has_no_verdict(tmp_path: Path) -> None:
    environment = BenchEnvironment(BenchCorpus.create(tmp_path, (), 10), {})
    (row,) = measure_rows(environment, ["more-like-this"], lambda _: None)
    assert (row.ours, row.met, row.note) == (None, None, "no elasticsearch was given")


def test_every_row_is_measured_once_on_each_of_its_engines() -> None:
    rows = [(spec.name, kind) for one in MEASUREMENTS for spec in one.row_specs for kind in one.engine_kinds]
    assert len(set(rows)) == len(rows)
    assert all(measurement.engine_kinds for measurement in MEASUREMENTS)
    assert EMBEDDED in {kind for measurement in MEASUREMENTS for kind in measurement.engine_kinds}
