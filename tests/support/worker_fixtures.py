"""Fixtures of workers and their configuration, for every conftest that imports them."""

from __future__ import annotations

import os
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexer.engines import open_engine
from indexer.indexing.build import build_index
from tests.support.corpora.web_papers import make_web_papers
from tests.support.fake_comparer import (
    KEY_PREFIX_VARIABLE,
    QUERY_TAG_VARIABLE,
    VALKEY_URL_VARIABLE,
    release_computations,
)
from tests.support.workers import StartWorker, launch_worker, make_work_config, stop_workers
from worker.jobs.config import WorkConfig


@pytest.fixture(scope="session")
def engine_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an embedded engine with the web papers as index ``papers``; copy it to write to it."""
    folder = tmp_path_factory.mktemp("corpus") / "engine"
    with open_engine(str(folder)) as engine:
        build_index(make_web_papers(), engine, "papers", processes=1)
    return folder


@pytest.fixture(scope="session")
def shared_work_config(valkey_url: str, engine_folder: Path) -> WorkConfig:
    """The configuration of the shared worker."""
    return make_work_config(valkey_url, engine_folder)


@pytest.fixture
def work_config(
    request: pytest.FixtureRequest,
    valkey_url: str,
    engine_folder: Path,
    shared_work_config: WorkConfig,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[WorkConfig]:
    """A configuration with a key prefix of the test's own, unless the test uses the shared worker."""
    is_shared = "shared_worker" in request.fixturenames
    config = shared_work_config if is_shared else make_work_config(valkey_url, engine_folder)
    monkeypatch.setenv(VALKEY_URL_VARIABLE, valkey_url)
    monkeypatch.setenv(KEY_PREFIX_VARIABLE, config.key_prefix)
    monkeypatch.setenv(QUERY_TAG_VARIABLE, uuid.uuid4().hex[:8])
    yield config
    release_computations(
        os.environ[QUERY_TAG_VARIABLE], 10**6
    )  # none may go on holding a process that the next test needs


@pytest.fixture(scope="session")
def shared_worker(shared_work_config: WorkConfig, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One worker with two processes, for every test that does not stop or kill it."""
    log = tmp_path_factory.mktemp("worker") / "log"
    environment = {
        VALKEY_URL_VARIABLE: shared_work_config.redis_url,
        KEY_PREFIX_VARIABLE: shared_work_config.key_prefix,
    }
    process = launch_worker(shared_work_config, log, concurrency=2, environment=environment)
    yield
    stop_workers([process])


@pytest.fixture
def start_worker(work_config: WorkConfig, tmp_path: Path) -> Iterator[StartWorker]:
    """Starts worker processes, which end with the test; the log of the n-th is ``worker-<n>.log``."""
    processes: list[subprocess.Popen[bytes]] = []

    def start(queues: str = "interactive,bulk", changed: WorkConfig | None = None) -> subprocess.Popen[bytes]:
        processes.append(launch_worker(changed or work_config, tmp_path / f"worker-{len(processes)}.log", queues))
        return processes[-1]

    yield start
    stop_workers(processes)
