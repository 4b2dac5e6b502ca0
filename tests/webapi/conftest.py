"""Real web servers: with a worker and Valkey, or computing in their own process, on either engine."""

# ruff: noqa: F401, F811 - fixtures imported by name, and used by others
from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexer.engines import open_engine
from indexer.indexing.build import build_index
from tests.support.corpora.web_papers import make_web_papers
from tests.support.engines import make_prefix
from tests.support.fake_comparer import KEY_PREFIX_VARIABLE, VALKEY_URL_VARIABLE
from tests.support.web_fixtures import real_server
from tests.support.web_servers import RunningServer, StartServer, launch_server
from tests.support.worker_fixtures import engine_folder, shared_work_config, shared_worker, start_worker, work_config
from webapi.client import Client
from worker.jobs.config import WorkConfig


@pytest.fixture
def start_server(work_config: WorkConfig, tmp_path: Path) -> Iterator[StartServer]:
    """Starts web server processes, which end with the test; the log of the n-th is ``web-<n>.log``."""
    servers: list[RunningServer] = []

    def start(changed: WorkConfig | None = None, **settings: object) -> RunningServer:
        servers.append(launch_server(changed or work_config, tmp_path / f"web-{len(servers)}.log", settings))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture(scope="session")
def shared_server(shared_work_config: WorkConfig, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """One server in front of the shared worker."""
    server = launch_server(shared_work_config, tmp_path_factory.mktemp("shared") / "log")
    yield server
    server.stop()


@pytest.fixture
def client(work_config: WorkConfig, shared_worker: None, shared_server: RunningServer) -> Iterator[Client]:
    """A client of a server with a worker, both shared."""
    with shared_server.make_client() as client:
        yield client


@pytest.fixture(scope="session")
def inline_server(
    engine_folder: Path, valkey_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    """One server that computes in its own process, on a copy of the index (Valkey only counts its computations)."""
    folder = tmp_path_factory.mktemp("inline")
    shutil.copytree(engine_folder, folder / "engine")
    config = WorkConfig(engine=str(folder / "engine"), comparer="tests.support.fake_comparer:FakeComparer")
    environment = {VALKEY_URL_VARIABLE: valkey_url, KEY_PREFIX_VARIABLE: "inline"}
    server = launch_server(config, folder / "log", environment=environment)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def elastic_server(elasticsearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """One server that compares for real, in its own process, with Elasticsearch behind it."""
    options = {"prefix": make_prefix()}
    with open_engine(elasticsearch_url, **options) as engine:
        build_index(make_web_papers(), engine, "papers", processes=1)
        config = WorkConfig(engine=elasticsearch_url, engine_options=options)
        server = launch_server(config, tmp_path_factory.mktemp("elastic") / "log")
        yield server
        server.stop()
        engine.delete_index("papers")


@pytest.fixture(params=["inline_server", "elastic_server"])
def papers(request: pytest.FixtureRequest) -> Iterator[Client]:
    """A client of a server on each engine in turn, for behaviour that must be the same on both."""
    server: RunningServer = request.getfixturevalue(request.param)
    with server.make_client() as client:
        yield client


@pytest.fixture
def real(real_server: RunningServer) -> Iterator[Client]:
    with real_server.make_client() as client:
        yield client


@pytest.fixture
def inline(inline_server: RunningServer) -> Iterator[Client]:
    with inline_server.make_client() as client:
        yield client
