"""The benchmark's generated corpus, indexed on each engine once a run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from indexer.engines import open_engine
from indexer.engines.base import Engine
from indexer.indexing.build import build_index
from indexer.text.stopwords import ENGLISH_STOPWORDS
from tests.support.corpora.bench_corpus import DOCUMENT_COUNT, INDEX
from tests.support.engines import open_elasticsearch
from tests.support.index_copies import copy_index
from worker.benchmark.generated_corpus import generate_documents
from worker.benchmark.workload import DocumentPair, draw_workload


@pytest.fixture(scope="session")
def generated_embedded_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """The embedded engine with the generated corpus; never write to it."""
    with open_engine(str(tmp_path_factory.mktemp("engine"))) as engine:
        build_index(generate_documents(DOCUMENT_COUNT), engine, INDEX, processes=1)
        yield engine


@pytest.fixture(scope="session")
def generated_elasticsearch_engine(elasticsearch_url: str, generated_embedded_engine: Engine) -> Iterator[Engine]:
    """Elasticsearch with the generated corpus; never write to it."""
    with open_elasticsearch(elasticsearch_url) as engine:
        copy_index(generated_embedded_engine.open_reader(INDEX), engine)
        yield engine


@pytest.fixture(scope="session", params=["embedded", "elasticsearch"])
def generated_engine(request: pytest.FixtureRequest) -> Engine:
    """Each engine in turn with the generated corpus; never write to it."""
    engine: Engine = request.getfixturevalue(f"generated_{request.param}_engine")
    return engine


@pytest.fixture(scope="session")
def pairs(generated_embedded_engine: Engine) -> list[DocumentPair]:
    """Ten pairs of documents of the generated corpus."""
    ids = [document.id for document in generate_documents(DOCUMENT_COUNT)]
    return draw_workload(generated_embedded_engine.open_reader(INDEX), ids, 10)[0]


@pytest.fixture(scope="session")
def page_query(generated_embedded_engine: Engine) -> str:
    """A query of many hits: the most frequent word of the generated corpus that has a vector and is no stopword."""
    model = generated_embedded_engine.open_reader(INDEX).model
    words = [word for word, row in zip(model.words, model.topic_space.vector_rows, strict=False) if row >= 0]
    return max(
        words, key=lambda word: (word not in ENGLISH_STOPWORDS) * model.word_document_frequency[model.word_ids[word]]
    )
