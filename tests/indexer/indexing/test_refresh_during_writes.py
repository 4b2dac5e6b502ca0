"""Documents written while an index is being rebuilt: refused or kept, never lost."""

from __future__ import annotations

import multiprocessing
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from indexer.documents import Document
from indexer.engines import open_engine
from indexer.engines.base import Engine
from indexer.errors import IndexBusy
from indexer.indexing.build import build_index
from indexer.indexing.update import add_documents, delete_documents, refresh_index
from tests.support import index_processes


def documents(first: int, last: int) -> list[Document]:
    said = "The web graph is crawled. Link analysis ranks the pages of the web graph. "
    return [Document(f"d{n}", f"Part {n}", said * 2 + f"Topic {n % 3}.") for n in range(first, last)]


@pytest.fixture
def other(engine: Engine) -> Iterator[Engine]:
    """Another process's view of the same engine, one that does not wait long."""
    address, options = index_processes.address_of(engine)
    impatient = {"lock_timeout": 0.05} if engine.kind == "tantivy" else {}
    with open_engine(address, **options, **impatient) as opened:
        yield opened


@contextmanager
def refreshing(engine: Engine) -> Iterator[None]:
    """A refresh that has read all its documents and goes on once the block ends."""
    reached, go = threading.Event(), threading.Event()
    errors: list[Exception] = []

    def progress(stage: str, done: int, total: int) -> None:
        if stage == "collect" and done == total:
            reached.set()
            go.wait(60)

    def run() -> None:
        try:
            refresh_index(engine, "papers", progress, processes=1)
        except Exception as error:  # noqa: BLE001 - told by the test
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    assert reached.wait(60)
    try:
        yield
    finally:
        go.set()
        thread.join(60)
    assert not errors, errors


def ids(engine: Engine) -> set[str]:
    return {analysed.document.id for analysed in engine.open_reader("papers").scan()}


def test_a_write_during_a_refresh_is_refused_and_works_afterwards(engine: Engine, other: Engine) -> None:
    build_index(documents(0, 12), engine, "papers", processes=1)
    add_documents(documents(12, 13), other, "papers")
    with refreshing(engine):
        with pytest.raises(IndexBusy) as busy:
            add_documents(documents(13, 14), other, "papers")
        assert busy.value.retryable and busy.value.status == 409
        with pytest.raises(IndexBusy):
            delete_documents(other, "papers", ["d1"])
        assert len(ids(other)) == 13, "reading goes on"
    assert ids(other) == {f"d{n}" for n in range(13)}
    assert add_documents(documents(13, 14), other, "papers") == 1
    assert delete_documents(other, "papers", ["d1"]) == 1
    assert ids(engine) == {f"d{n}" for n in range(14)} - {"d1"}


def test_whatever_was_taken_in_is_there_after_refreshes(engine: Engine, other: Engine) -> None:
    build_index(documents(0, 12), engine, "papers", processes=1)
    taken: set[str] = set()
    stop = threading.Event()

    def add() -> None:
        number = 100
        while not stop.is_set():
            try:
                add_documents(documents(number, number + 1), other, "papers")
            except IndexBusy:
                continue
            taken.add(f"d{number}")
            number += 1

    adding = threading.Thread(target=add)
    adding.start()
    for _ in range(3):
        wanted = len(taken) + 1
        while len(taken) < wanted:
            stop.wait(0.01)
        refreshed = False
        while not refreshed:
            try:
                refresh_index(engine, "papers", processes=1)
                refreshed = True
            except IndexBusy:  # the adding thread has its turn on the embedded engine
                continue
    stop.set()
    adding.join(60)
    assert taken <= ids(engine)


def test_a_build_given_up_lets_writers_in_again(engine: Engine, other: Engine) -> None:
    build_index(documents(0, 12), engine, "papers", processes=1)
    with engine.start_build("papers"), pytest.raises(IndexBusy):
        add_documents(documents(12, 13), other, "papers")
    assert add_documents(documents(12, 13), other, "papers") == 1


def test_a_dead_builder_is_noticed_and_cannot_commit_any_more(elasticsearch_url: str) -> None:
    options = {"prefix": f"test-{uuid.uuid4().hex[:12]}-", "build_lease": 1.0}
    with open_engine(elasticsearch_url, **options) as engine:
        build_index(documents(0, 12), engine, "papers", processes=1)
        reader = engine.open_reader("papers")
        build = engine.start_build("papers")
        build._hold.end()  # type: ignore[attr-defined]  # as if its process had stopped
        done = False
        while not done:
            try:
                done = add_documents(documents(12, 13), engine, "papers") == 1
            except IndexBusy:
                threading.Event().wait(0.05)
        with pytest.raises(IndexBusy):
            build.commit(reader.model, reader.info)
        build.abort()
        assert "d12" in ids(engine)
        engine.delete_index("papers")


def test_a_killed_builder_does_not_lock_the_index(elasticsearch_url: str) -> None:
    options = {"prefix": f"test-{uuid.uuid4().hex[:12]}-", "build_lease": 1.0}
    with open_engine(elasticsearch_url, **options) as engine:
        index_processes.build_generation(engine, 1)
        ready = multiprocessing.get_context("spawn").Event()
        builder = index_processes.spawn(index_processes.build_and_hang, (elasticsearch_url, options), ready)
        assert ready.wait(60)
        builder.kill()
        builder.join(30)
        written = 0
        while not written:
            try:
                written = engine.add_documents("papers", [index_processes.added("taken")])
            except IndexBusy:
                threading.Event().wait(0.05)
        assert engine.open_reader("papers").fetch(["taken"])[0] is not None
        engine.delete_index("papers")
