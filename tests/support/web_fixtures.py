"""Fixtures of web servers, for every conftest that imports them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.web_servers import RunningServer, launch_server
from worker.jobs.config import WorkConfig


@pytest.fixture(scope="session")
def real_server(engine_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """One server that compares for real, in its own process, on a copy of the index."""
    folder = tmp_path_factory.mktemp("real")
    shutil.copytree(engine_folder, folder / "engine")
    server = launch_server(WorkConfig(engine=str(folder / "engine")), folder / "log")
    yield server
    server.stop()
