"""Empty engines for tests: the embedded one in a folder, or Elasticsearch under a prefix of its own."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from indexer.engines import open_engine
from indexer.engines.base import Engine
from indexer.engines.elasticsearch.engine import ElasticsearchEngine

ENGINE_KINDS = ("tantivy", "elasticsearch")
"""Parameters of a fixture that gives each engine in turn."""


def make_prefix() -> str:
    """Return a prefix for index names that no other test uses."""
    return f"test-{uuid.uuid4().hex[:12]}-"


@contextmanager
def open_elasticsearch(url: str, **options: Any) -> Iterator[Engine]:
    """Open Elasticsearch under a prefix of its own; delete its indexes at the end."""
    with open_engine(url, **{"prefix": make_prefix(), **options}) as engine:
        yield engine
        for index in engine.list_indexes():
            engine.delete_index(index)
        assert isinstance(engine, ElasticsearchEngine)
        engine.connection.client.indices.delete(index=f"{engine.prefix}.generations", ignore_unavailable=True)


@contextmanager
def open_empty_engine(kind: str, folder: Path, request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Open an empty engine of this kind; a server is started only if the kind needs one."""
    if kind == "tantivy":
        with open_engine(str(folder)) as engine:
            yield engine
    else:
        with open_elasticsearch(request.getfixturevalue("elasticsearch_url")) as engine:
            yield engine


def reopen_engine(engine: Engine) -> Engine:
    """Return the same engine as another process opens it: nothing of it is cached."""
    prefix = getattr(engine, "prefix", None)
    return open_engine(engine.address, **({} if prefix is None else {"prefix": prefix}))
