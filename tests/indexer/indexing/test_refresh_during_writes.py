"""Documents written while an index is being rebuilt are refused or kept, never lost."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import count
from types import SimpleNamespace
from typing import TypeVar

import pytest

from indexer.documents import Document
from indexer.engines import open_engine
from indexer.engines.base import Engine
from indexer.engines.elasticsearch import build_lock
from indexer.engines.elasticsearch.engine import ElasticsearchEngine
from indexer.errors import IndexBusy
from indexer.indexing.build import build_index
from indexer.indexing.update import add_documents, delete_documents, refresh_index
from tests.support import index_processes
from tests.support.engines import make_prefix, open_elasticsearch
from tests.support.polling import wait_until

MAX_SECONDS = 60
"""For anything that waits; a test fails then instead of hanging."""
Result = TypeVar("Result")


def make_documents(first: int, last: int) -> list[Document]:
    sentences = "The web graph is crawled. Link analysis ranks the pages of the web graph. "
    return [Document(f"d{n}", f"Part {n}", sentences * 2 + f"Topic {n % 3}.") for n in range(first, last)]


@pytest.fixture
def impatient_engine(engine: Engine) -> Iterator[Engine]:
    """The engine opened a second time, as by another process that does not wait long for a lock."""
    address, options = index_processes.get_engine_address(engine)
    impatient = {"lock_timeout": 0.05} if engine.kind == "tantivy" else {}
    with open_engine(address, **options, **impatient) as opened:
        yield opened


@contextmanager
def pause_refresh(engine: Engine) -> Iterator[None]:
    """Run a refresh in a thread, hold it once it has read all documents, and let it end after the block."""
    collected, resumed = threading.Event(), threading.Event()

    def pause_after_collecting(stage: str, done: int, total: int) -> None:
        if stage == "collect" and done == total:
            collected.set()
            resumed.wait(MAX_SECONDS)

    with ThreadPoolExecutor(1) as pool:
        refresh = pool.submit(refresh_index, engine, "papers", pause_after_collecting, processes=1)
        refresh.add_done_callback(lambda _: collected.set())
        try:
            assert collected.wait(MAX_SECONDS)
            if refresh.done():
                refresh.result()  # raises what ended it
            yield
        finally:
            resumed.set()
        refresh.result(MAX_SECONDS)


def retry_while_busy(write: Callable[[], Result]) -> Result:
    """Call ``write`` until it no longer raises IndexBusy, for a minute at most."""
    deadline = time.monotonic() + MAX_SECONDS
    while True:
        try:
            return write()
        except IndexBusy:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def list_ids(engine: Engine) -> set[str]:
    return {analysed.document.id for analysed in engine.open_reader("papers").scan()}


def test_a_write_during_a_refresh_is_refused_and_works_afterwards(engine: Engine, impatient_engine: Engine) -> None:
    build_index(make_documents(0, 12), engine, "papers", processes=1)
    add_documents(make_documents(12, 13), impatient_engine, "papers")
    with pause_refresh(engine):
        with pytest.raises(IndexBusy) as busy:
            add_documents(make_documents(13, 14), impatient_engine, "papers")
        assert busy.value.retryable and busy.value.status == 409
        with pytest.raises(IndexBusy):
            delete_documents(impatient_engine, "papers", ["d1"])
        assert len(list_ids(impatient_engine)) == 13, "reads continue"
    assert list_ids(impatient_engine) == {f"d{n}" for n in range(13)}
    assert add_documents(make_documents(13, 14), impatient_engine, "papers") == 1
    assert delete_documents(impatient_engine, "papers", ["d1"]).count == 1
    assert list_ids(engine) == {f"d{n}" for n in range(14)} - {"d1"}


@pytest.mark.slow
def test_documents_accepted_during_refreshes_are_in_the_new_epoch(engine: Engine, impatient_engine: Engine) -> None:
    build_index(make_documents(0, 12), engine, "papers", processes=1)
    accepted: list[str] = []
    stopped = threading.Event()

    def add_until_stopped() -> None:
        for number in count(100):
            if stopped.is_set():
                return
            retry_while_busy(partial(add_documents, make_documents(number, number + 1), impatient_engine, "papers"))
            accepted.append(f"d{number}")

    with ThreadPoolExecutor(1) as pool:
        adding = pool.submit(add_until_stopped)
        try:
            for _ in range(3):
                wait_for_another(accepted, adding)
                retry_while_busy(lambda: refresh_index(engine, "papers", processes=1))
        finally:
            stopped.set()
        adding.result(MAX_SECONDS)
    assert set(accepted) <= list_ids(engine)


def wait_for_another(accepted: Sequence[str], adding: Future[None]) -> None:
    """Wait until one more document was accepted; raise what ended the thread that adds them, if it ended."""
    count_before, deadline = len(accepted), time.monotonic() + MAX_SECONDS
    while len(accepted) == count_before:
        if adding.done():
            adding.result()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_an_aborted_build_admits_writers_again(engine: Engine, impatient_engine: Engine) -> None:
    build_index(make_documents(0, 12), engine, "papers", processes=1)
    with engine.start_build("papers"), pytest.raises(IndexBusy):
        add_documents(make_documents(12, 13), impatient_engine, "papers")
    assert add_documents(make_documents(12, 13), impatient_engine, "papers") == 1


def test_a_builder_without_heartbeat_loses_its_lock_and_cannot_commit(elasticsearch_url: str) -> None:
    with open_elasticsearch(elasticsearch_url, build_lease=1.0) as engine:
        build_index(make_documents(0, 12), engine, "papers", processes=1)
        reader = engine.open_reader("papers")
        build = engine.start_build("papers")
        build._lock.stop_heartbeat()  # type: ignore[attr-defined]  # as if its process had stopped
        assert retry_while_busy(lambda: add_documents(make_documents(12, 13), engine, "papers")) == 1
        with pytest.raises(IndexBusy):
            build.commit(reader.model, reader.info)
        build.abort()
        assert "d12" in list_ids(engine)


@pytest.mark.parametrize("jump_seconds", [3600.0, -3600.0])
def test_a_living_builder_keeps_its_lock_when_the_clock_is_set(
    elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch, jump_seconds: float
) -> None:
    """The clock of the writer is set; that of the builder, as on another machine, is not."""
    with open_elasticsearch(elasticsearch_url, build_lease=4.0) as engine:
        build_index(make_documents(0, 12), engine, "papers", processes=1)
        reader, build = engine.open_reader("papers"), engine.start_build("papers")
        model_index = build._model_index  # type: ignore[attr-defined]
        set_clock(monkeypatch, jump_seconds)
        doubts: set[float] = set()

        def is_doubted_again() -> bool:
            with pytest.raises(IndexBusy):
                add_documents(make_documents(12, 13), engine, "papers")
            doubts.add(fetch_heartbeat(engine, model_index).get("doubted_at", 0.0))
            return len(doubts) > 2  # each was erased by a heartbeat

        wait_until(is_doubted_again, MAX_SECONDS)
        build.commit(reader.model, reader.info)
        assert add_documents(make_documents(12, 13), engine, "papers") == 1


@pytest.mark.parametrize("jump_seconds", [3600.0, -3600.0])
def test_a_dead_builder_loses_its_lock_when_the_clock_is_set(
    elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch, jump_seconds: float
) -> None:
    with open_elasticsearch(elasticsearch_url, build_lease=2.0) as engine:
        build_index(make_documents(0, 12), engine, "papers", processes=1)
        build = engine.start_build("papers")
        build._lock.stop_heartbeat()  # type: ignore[attr-defined]  # as if its process had stopped
        set_clock(monkeypatch, jump_seconds)
        assert retry_while_busy(lambda: add_documents(make_documents(12, 13), engine, "papers")) == 1
        build.abort()


def set_clock(monkeypatch: pytest.MonkeyPatch, jump_seconds: float) -> None:
    """Set the clock by which writers judge a heartbeat; heartbeats are written by the right clock."""
    read_clock = time.time
    writers_clock = SimpleNamespace(time=lambda: read_clock() + jump_seconds)
    monkeypatch.setattr(build_lock, "time", writers_clock)
    monkeypatch.setattr(build_lock, "make_heartbeat", lambda lease: {"alive_until": read_clock() + lease})


def fetch_heartbeat(engine: ElasticsearchEngine, model_index: str) -> dict[str, float]:
    mapping = engine.connection.client.indices.get_mapping(index=model_index).body[model_index]
    heartbeat: dict[str, float] = mapping["mappings"]["_meta"]
    return heartbeat


def test_a_killed_builder_does_not_lock_the_index(elasticsearch_url: str) -> None:
    options = {"prefix": make_prefix(), "build_lease": 1.0}
    with open_elasticsearch(elasticsearch_url, **options) as engine:
        index_processes.build_generation(engine, 1)
        ready = multiprocessing.get_context("spawn").Event()
        builder = index_processes.spawn_process(index_processes.build_until_killed, (elasticsearch_url, options), ready)
        assert ready.wait(MAX_SECONDS)
        builder.kill()
        builder.join(MAX_SECONDS)
        document = index_processes.make_added_document("accepted")
        retry_while_busy(lambda: engine.add_documents("papers", [document]))
        assert engine.open_reader("papers").fetch(["accepted"])[0] is not None
