"""A built index to read from, one a module for each engine, and a corpus to compare it with."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from indexer.engines import open_engine
from indexer.engines.base import Engine, Reader
from tests.support.corpora.engine_corpus import Corpus, build, make_corpus


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    return make_corpus(60)


@pytest.fixture(scope="module", params=["tantivy", "elasticsearch"])
def shared_engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An engine for tests that only read."""
    if request.param == "tantivy":
        with open_engine(str(tmp_path_factory.mktemp("engine"))) as engine:
            yield engine
        return
    with open_engine(request.getfixturevalue("elasticsearch_url"), prefix=f"test-{uuid.uuid4().hex[:12]}-") as engine:
        yield engine
        for index in engine.list_indexes():
            engine.delete_index(index)


@pytest.fixture(scope="module")
def papers(shared_engine: Engine, corpus: Corpus) -> Reader:
    """The corpus as an index named papers, only to be read."""
    return build(shared_engine, corpus)
