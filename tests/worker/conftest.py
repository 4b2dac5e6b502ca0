"""The planted corpus, indexed once a run on each engine; what changes an index works on a copy."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from indexer.documents import Document
from indexer.engines import open_engine
from indexer.engines.base import Engine
from indexer.indexing.build import build_index
from tests.support.corpora.planted_pairs import corpus
from worker.answer.comparison import Comparison
from worker.comparer import Comparer
from worker.explain.side import Side

INDEX = "papers"
ENGINES = ("embedded", "remote")

Compare = Callable[..., Comparison]


@pytest.fixture(scope="session")
def documents() -> dict[str, Document]:
    """The indexed documents by id."""
    return {document.id: document for document in corpus()}


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory, documents: dict[str, Document]) -> Iterator[Engine]:
    """The embedded engine with the planted corpus on it; never write to it."""
    with open_engine(str(tmp_path_factory.mktemp("engine"))) as engine:
        build_index(documents.values(), engine, INDEX, processes=1)
        yield engine


@pytest.fixture(scope="session")
def remote(elasticsearch_url: str, documents: dict[str, Document]) -> Iterator[Engine]:
    """Elasticsearch with the planted corpus on it; never write to it."""
    with open_engine(elasticsearch_url, prefix=f"test-{uuid.uuid4().hex[:12]}-") as engine:
        build_index(documents.values(), engine, INDEX, processes=1)
        yield engine
        engine.delete_index(INDEX)


@pytest.fixture(scope="session", params=ENGINES)
def library(request: pytest.FixtureRequest) -> Engine:
    """Each engine in turn with the planted corpus on it; never write to it."""
    engine: Engine = request.getfixturevalue(request.param)
    return engine


@pytest.fixture
def copied(engine: Engine, embedded: Engine) -> Engine:
    """Each engine in turn with a copy of the index that a test may change."""
    original = embedded.open_reader(INDEX)
    with engine.start_build(INDEX) as build:
        build.write(original.scan())
        build.commit(original.model, original.info)
    return engine


@pytest.fixture(scope="session")
def comparer(library: Engine) -> Comparer:
    return Comparer(library)


@pytest.fixture(scope="session")
def local(embedded: Engine) -> Comparer:
    """A comparer on the embedded engine alone, for what does not depend on the engine."""
    return Comparer(embedded)


def ask(comparer: Comparer, a: str | Side, b: str | Side, **given: Any) -> Comparison:
    """Compare two sides written as on the shell; what is not a name of a question's field is an option."""
    fields = {name: given.pop(name) for name in ("method", "preset", "groups", "index") if name in given}
    fields["is_full_graph"] = given.pop("full", False)
    sides = [side if isinstance(side, Side) else Side.from_text(side) for side in (a, b)]
    index = fields.pop("index", INDEX)
    return comparer.compare(comparer.make_spec(index, *sides, options=given, **fields))


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], str]:
    """Puts a text into a file and gives the side that names it."""

    def write(text: str) -> str:
        path = tmp_path / "side.txt"
        path.write_text(text)
        return f"file:{path}"

    return write
