"""A gateway on each job store."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from worker.jobs.config import WorkConfig
from worker.service.container import ServiceContainer
from worker.service.gateway import JobGateway


@pytest.fixture(params=["valkey", "inline"])
def gateway(
    request: pytest.FixtureRequest, work_config: WorkConfig, engine_folder: Path, tmp_path: Path
) -> Iterator[JobGateway]:
    """A gateway with an index of its own and without workers: tests run its jobs."""
    shutil.copytree(engine_folder, tmp_path / "engine")
    work_config = replace(work_config, engine=str(tmp_path / "engine"))
    if request.param == "inline":
        work_config = replace(work_config, redis_url="")
    gateway = JobGateway(ServiceContainer(work_config))
    yield gateway
    gateway.close()
