"""Rows of an evaluation, planned from the options of the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexer.cli.main import run
from indexer.errors import BadParameter
from worker.evaluation.method_commands import plan_runs


def test_a_parameter_is_varied_in_every_row_of_cda() -> None:
    names = [planned.name for planned in plan_runs(("cda",), (), [("lambda", [0, 0.1])])]
    varied = [f"cda/{preset} lambda={value}" for preset in ("default", "paper") for value in (0, 0.1)]
    assert names == ["cda/default", "cda/paper", *varied, "containment"]


def test_varying_a_parameter_of_no_measured_method_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(BadParameter, match="--vary"):
        plan_runs(("containment", "word_match"), (), [("lambda", [0])])
    arguments = [
        "masked",
        "--index",
        "papers",
        "--engine",
        str(tmp_path),
        "--method",
        "containment",
        "--vary",
        "lambda=0",
    ]
    assert run(["evaluate", *arguments]) == 2
    (message,) = capsys.readouterr().err.splitlines()
    assert "--method cda" in message
