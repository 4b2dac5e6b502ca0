"""An index to read from, built once a module on each engine, and the corpus in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from indexer.engines.base import Engine, Reader
from tests.support.corpora.engine_corpus import AnalysedCorpus, make_corpus, write_index
from tests.support.engines import ENGINE_KINDS, open_empty_engine


@pytest.fixture(scope="session")
def corpus() -> AnalysedCorpus:
    return make_corpus(60)


@pytest.fixture(scope="module", params=ENGINE_KINDS)
def shared_engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Each engine in turn, for tests that only read."""
    with open_empty_engine(request.param, tmp_path_factory.mktemp("engine"), request) as engine:
        yield engine


@pytest.fixture(scope="module")
def papers(shared_engine: Engine, corpus: AnalysedCorpus) -> Reader:
    """A reader of the index ``papers``, which contains the corpus; do not write to it."""
    return write_index(shared_engine, corpus)
