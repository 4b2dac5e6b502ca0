"""Every promise of RELIABILITY.md and every limit of SECURITY.md names tests, and each of them exists."""

from __future__ import annotations

import ast
import re

import pytest

from indexer.settings import Settings
from tests.support.paths import ROOT


def read_rows(page: str) -> list[list[str]]:
    rows = re.findall(r"^\| (.+) \|$", (ROOT / page).read_text(), flags=re.MULTILINE)
    return [row.split(" | ") for row in rows[2:]]


PROMISES, LIMITS = read_rows("RELIABILITY.md"), read_rows("SECURITY.md")


def test_there_are_promises() -> None:
    assert len(PROMISES) > 20 and all(len(promise) == 2 for promise in PROMISES)


def test_every_setting_that_limits_something_is_listed_with_its_refusal() -> None:
    listed = {name for limit in LIMITS for name in re.findall(r"`(\w+)`", limit[1])}
    assert listed <= set(Settings.model_fields)
    assert {name for name in Settings.model_fields if name.startswith("max_")} - {"max_wait_seconds"} <= listed
    assert all(re.match(r"408|413|429|504|202|none|its process is killed", limit[2]) for limit in LIMITS)


@pytest.mark.parametrize("promise", [*PROMISES, *LIMITS], ids=lambda promise: promise[0][:60])
def test_a_promise_names_tests_that_exist(promise: list[str]) -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", promise[-1])
    assert named, "no test is named"
    for file, name in named:
        tree = ast.parse((ROOT / file).read_text())
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, f"{file} has no {name}"
