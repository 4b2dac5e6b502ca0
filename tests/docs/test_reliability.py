"""Every promise of RELIABILITY.md names tests, and each of them exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "RELIABILITY.md").read_text()
PROMISES = [row.split(" | ") for row in re.findall(r"^\| (.+) \|$", PAGE, flags=re.MULTILINE)[2:]]


def test_there_are_promises() -> None:
    assert len(PROMISES) > 20 and all(len(promise) == 2 for promise in PROMISES)


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise[0][:60])
def test_a_promise_names_tests_that_exist(promise: list[str]) -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", promise[1])
    assert named, "no test is named"
    for file, name in named:
        tree = ast.parse((ROOT / file).read_text())
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, f"{file} has no {name}"
