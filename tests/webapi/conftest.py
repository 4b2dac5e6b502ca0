"""A real gunicorn in front of real workers and a real Valkey."""

# ruff: noqa: F401, F811 - fixtures of the other folder, named like what they give
from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from indexer.engines import open_engine
from indexer.indexing.build import build_index
from indexer.net import find_free_port as find_free_port
from tests.support.fake_comparer import PREFIX, VALKEY
from tests.worker.jobs.conftest import ROOT, config, corpus, documents, shared_config, start, until, worker
from webapi.client import Client
from worker.jobs.config import WorkConfig

Serve = Callable[..., "Served"]
WAIT = {"Prefer": "wait=60"}
"""For an answer that must come: servers started here allow to wait so long, for the sake of busy machines."""
_LISTENING = re.compile(r"Listening at: (http://[\w.:]+)")


@dataclass(frozen=True)
class Served:
    url: str
    process: subprocess.Popen[bytes]
    log: Path

    def client(self) -> Client:
        return Client(self.url, timeout=180)


@pytest.fixture
def serve(config: WorkConfig, tmp_path: Path) -> Iterator[Serve]:
    """Start a web server process with these settings; all are stopped at the end."""
    running: list[Served] = []

    def run(changed: WorkConfig | None = None, **settings: object) -> Served:
        log = tmp_path / f"web-{len(running)}.log"
        running.append(started(changed or config, settings, log, {}))
        return running[-1]

    yield run
    for served in running:
        stop(served)


@pytest.fixture(scope="session")
def shared_server(shared_config: WorkConfig, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server in front of the shared worker."""
    served = started(shared_config, {}, tmp_path_factory.mktemp("shared") / "log", {})
    yield served
    stop(served)


@pytest.fixture
def client(config: WorkConfig, worker: None, shared_server: Served) -> Iterator[Client]:
    """A client of a server with a worker, both shared."""
    with shared_server.client() as client:
        yield client


@pytest.fixture(scope="session")
def inline_server(corpus: Path, valkey_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server that computes by itself, on its own copy of the index (Valkey only counts its computations)."""
    folder = tmp_path_factory.mktemp("inline")
    shutil.copytree(corpus, folder / "engine")
    config = WorkConfig(engine=str(folder / "engine"), comparer="tests.support.fake_comparer:Comparer")
    served = started(config, {}, folder / "log", {VALKEY: valkey_url, PREFIX: "inline"})
    yield served
    stop(served)


@pytest.fixture(scope="session")
def real_server(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server that compares for real, by itself, on its own copy of the index."""
    folder = tmp_path_factory.mktemp("real")
    shutil.copytree(corpus, folder / "engine")
    served = started(WorkConfig(engine=str(folder / "engine")), {}, folder / "log", {})
    yield served
    stop(served)


@pytest.fixture(scope="session")
def elastic_server(elasticsearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server that compares for real, by itself, with Elasticsearch behind it."""
    options = {"prefix": f"test-{uuid.uuid4().hex[:12]}-"}
    with open_engine(elasticsearch_url, **options) as engine:
        build_index(documents(), engine, "papers", processes=1)
        config = WorkConfig(engine=elasticsearch_url, engine_options=options)
        served = started(config, {}, tmp_path_factory.mktemp("elastic") / "log", {})
        yield served
        stop(served)
        engine.delete_index("papers")


@pytest.fixture(params=["inline_server", "elastic_server"])
def papers(request: pytest.FixtureRequest) -> Iterator[Client]:
    """Each engine in turn, for what must be the same on both."""
    served: Served = request.getfixturevalue(request.param)
    with served.client() as client:
        yield client


@pytest.fixture
def real(real_server: Served) -> Iterator[Client]:
    with real_server.client() as client:
        yield client


@pytest.fixture
def inline(inline_server: Served) -> Iterator[Client]:
    with inline_server.client() as client:
        yield client


def started(config: WorkConfig, settings: Mapping[str, object], log: Path, environment: dict[str, str]) -> Served:
    written = json.dumps(dataclasses.asdict(config))
    given = json.dumps({"port": 0, "max_wait_seconds": 60, **settings})
    command = [sys.executable, "-m", "tests.webapi.run_server", written, given]
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=out, stderr=out, env=os.environ | environment | {"PYTHONPATH": "."}
        )
    until(lambda: _LISTENING.search(log.read_text(errors="replace")), why=lambda: log.read_text(errors="replace"))
    found = _LISTENING.search(log.read_text(errors="replace"))
    assert found is not None
    served = Served(found[1], process, log)
    until(lambda: _up(served), why=lambda: log.read_text(errors="replace"))
    return served


def stop(served: Served) -> None:
    served.process.terminate()
    try:
        served.process.wait(timeout=120)
    except subprocess.TimeoutExpired:
        served.process.kill()
        served.process.wait()


def _up(served: Served) -> bool:
    try:
        with served.client() as client:
            return client.request("GET", "/healthz").status == 200
    except OSError:
        return False
