"""Requests generated from the description get no 5xx, and no reply that is not described.

``make fuzz`` sends thousands, alone and in chains, to a server with workers.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import schemathesis
from flask import Flask
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks

from indexer.settings import load_settings
from tests.support import fuzz_strategies
from webapi.app import create_app
from webapi.context import EXTENSION
from worker.jobs.config import WorkConfig

SCHEMA = schemathesis.openapi.from_dict(fuzz_strategies.build_fuzz_description())
OPERATIONS = {operation.ok().label: operation.ok() for operation in SCHEMA.get_all_operations()}
load_all_checks()
EXAMPLES = 15
SELECTED_CHECKS = [CHECKS.get_one(name) for name in fuzz_strategies.CHECKS]


@pytest.fixture(scope="session")
def app(engine_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    """An app that computes in this process, on a copy of the index."""
    folder = tmp_path_factory.mktemp("fuzz") / "engine"
    shutil.copytree(engine_folder, folder)
    app = create_app(load_settings(wait_seconds=0.05, rate_per_minute=0), config=WorkConfig(engine=str(folder)))
    yield app
    app.extensions[EXTENSION].gateway.close()


CASES = [
    pytest.param(label, mode, id=f"{label}-{mode.name.lower()}")
    for label in OPERATIONS
    for mode in GenerationMode
    if mode == GenerationMode.POSITIVE or label.startswith("POST")  # only a body can be wrong in many ways
]


@pytest.mark.slow
@pytest.mark.parametrize(("label", "mode"), CASES)
def test_every_answer_is_a_described_one(app: Flask, label: str, mode: GenerationMode) -> None:
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=OPERATIONS[label].as_strategy(generation_mode=mode))
    def check(case: schemathesis.Case) -> None:
        case.call_and_validate(checks=SELECTED_CHECKS, app=app)

    check()
