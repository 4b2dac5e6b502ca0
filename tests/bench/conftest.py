"""A generated corpus, indexed once a run on each engine."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from indexer.engines import open_engine
from indexer.engines.base import Engine
from indexer.indexing.build import build_index
from worker.benchmark.generated_corpus import generate_documents
from worker.benchmark.workload import DocumentPair, draw_workload

INDEX = "generated"
DOCUMENTS = 400


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with open_engine(str(tmp_path_factory.mktemp("engine"))) as engine:
        build_index(generate_documents(DOCUMENTS), engine, INDEX, processes=1)
        yield engine


@pytest.fixture(scope="session")
def remote(elasticsearch_url: str, embedded: Engine) -> Iterator[Engine]:
    original = embedded.open_reader(INDEX)
    with open_engine(elasticsearch_url, prefix=f"test-{uuid.uuid4().hex[:12]}-") as engine:
        with engine.start_build(INDEX) as build:
            build.write(original.scan())
            build.commit(original.model, original.info)
        yield engine
        engine.delete_index(INDEX)


@pytest.fixture(scope="session", params=["embedded", "remote"])
def library(request: pytest.FixtureRequest) -> Engine:
    """Each engine in turn with the corpus on it; never write to it."""
    engine: Engine = request.getfixturevalue(request.param)
    return engine


@pytest.fixture(scope="session")
def pairs(embedded: Engine) -> list[DocumentPair]:
    ids = [document.id for document in generate_documents(DOCUMENTS)]
    return draw_workload(embedded.open_reader(INDEX), ids, 10)[0]
