"""The planted corpus indexed on each engine once a run, and a service with or without workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from indexer.documents import Document
from indexer.engines import open_engine
from indexer.engines.base import Engine
from indexer.indexing.build import build_index
from tests.support.comparisons import INDEX
from tests.support.corpora.planted_pairs import make_planted_corpus
from tests.support.engines import open_elasticsearch
from tests.support.index_copies import copy_index
from tests.support.worker_fixtures import engine_folder, shared_work_config, shared_worker, start_worker, work_config
from worker.comparer import Comparer
from worker.jobs.config import WorkConfig
from worker.service.container import ServiceContainer
from worker.service.gateway import JobGateway

__all__ = ["engine_folder", "shared_work_config", "shared_worker", "start_worker", "work_config"]


@pytest.fixture(scope="session")
def documents() -> dict[str, Document]:
    """The documents of the planted corpus by id."""
    return {document.id: document for document in make_planted_corpus()}


@pytest.fixture(scope="session")
def indexed_embedded_engine(
    tmp_path_factory: pytest.TempPathFactory, documents: dict[str, Document]
) -> Iterator[Engine]:
    """The embedded engine with the planted corpus; never write to it."""
    with open_engine(str(tmp_path_factory.mktemp("engine"))) as engine:
        build_index(documents.values(), engine, INDEX, processes=1)
        yield engine


@pytest.fixture(scope="session")
def indexed_elasticsearch_engine(elasticsearch_url: str, documents: dict[str, Document]) -> Iterator[Engine]:
    """Elasticsearch with the planted corpus; never write to it."""
    with open_elasticsearch(elasticsearch_url) as engine:
        build_index(documents.values(), engine, INDEX, processes=1)
        yield engine


@pytest.fixture(scope="session", params=["embedded", "elasticsearch"])
def indexed_engine(request: pytest.FixtureRequest) -> Engine:
    """Each engine in turn with the planted corpus; never write to it."""
    engine: Engine = request.getfixturevalue(f"indexed_{request.param}_engine")
    return engine


@pytest.fixture
def writable_engine(engine: Engine, indexed_embedded_engine: Engine) -> Engine:
    """Each engine in turn with a copy of the planted corpus that a test may change."""
    copy_index(indexed_embedded_engine.open_reader(INDEX), engine)
    return engine


@pytest.fixture(scope="session")
def comparer(indexed_engine: Engine) -> Comparer:
    """A comparer on each engine in turn."""
    return Comparer(indexed_engine)


@pytest.fixture(scope="session")
def embedded_comparer(indexed_embedded_engine: Engine) -> Comparer:
    """A comparer on the embedded engine alone, for what does not depend on the engine."""
    return Comparer(indexed_embedded_engine)


@pytest.fixture
def write_side_file(tmp_path: Path) -> Callable[[str], str]:
    """Puts a text into a file and returns the side that names it."""

    def write(text: str) -> str:
        path = tmp_path / "side.txt"
        path.write_text(text)
        return f"file:{path}"

    return write


@pytest.fixture
def container(work_config: WorkConfig) -> Iterator[ServiceContainer]:
    container = ServiceContainer(work_config)
    yield container
    container.close()


@pytest.fixture
def gateway(container: ServiceContainer) -> Iterator[JobGateway]:
    gateway = JobGateway(container)
    yield gateway
    gateway.close()
