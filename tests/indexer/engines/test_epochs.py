"""Epochs are swapped at once, never mixed, and not harmed by a process that dies."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from indexer.engines import open_engine
from indexer.engines.base import Engine, Reader
from indexer.engines.search_types import NeighbourhoodRequest, Selection
from indexer.errors import EpochChanged, UnknownIndex
from tests.support import index_processes
from tests.support.corpora.engine_corpus import make_corpus

pytestmark = pytest.mark.slow

READS: dict[str, Callable[[Reader], object]] = {
    "fetch": lambda reader: reader.fetch(["doc-0001"]),
    "fetch of what is not there": lambda reader: reader.fetch(["missing"]),
    "search": lambda reader: reader.search(Selection(words=("mail",))),
    "scan": lambda reader: list(reader.scan()),
    "neighbourhood": lambda reader: reader.find_neighbourhood(
        NeighbourhoodRequest({"mail": 1.0}, {"mail": 1.0}, (), 5)
    ),
}


@pytest.mark.parametrize("read", READS)
def test_a_reader_of_a_replaced_epoch_raises_epoch_changed(engine: Engine, read: str) -> None:
    index_processes.build_generation(engine, 1)
    old = engine.open_reader("papers")
    READS[read](old)
    index_processes.build_generation(engine, 2)
    for _ in range(2):
        with pytest.raises(EpochChanged):
            READS[read](old)
    new = engine.open_reader("papers")
    assert READS[read](new) is not None and new.info.epoch == "2"
    assert new.fetch(["doc-0001"])[0].document.title == "generation 2"  # type: ignore[union-attr]


def test_a_new_epoch_brings_its_own_model(engine: Engine) -> None:
    index_processes.build_generation(engine, 1)
    first = engine.open_reader("papers").model
    index_processes.build_generation(engine, 2)
    second = engine.open_reader("papers").model
    assert first.to_bytes() == index_processes.make_generation(1).model.to_bytes()
    assert second.to_bytes() == index_processes.make_generation(2).model.to_bytes()


def test_a_new_epoch_starts_without_drift(engine: Engine) -> None:
    index_processes.build_generation(engine, 1)
    engine.add_documents("papers", [index_processes.make_added_document("extra")])
    engine.delete_documents("papers", ["doc-0001"])
    assert engine.open_reader("papers").info.drift > 0
    index_processes.build_generation(engine, 2)
    info = engine.open_reader("papers").info
    assert info.drift == 0 and info.documents == len(index_processes.DOCUMENT_IDS)
    assert engine.open_reader("papers").fetch(["extra", "doc-0001"])[0] is None


def test_nothing_of_a_build_shows_before_its_commit(engine: Engine) -> None:
    with engine.start_build("papers") as building:
        building.write(index_processes.make_generation(1).documents)
        assert engine.list_indexes() == []
        with pytest.raises(UnknownIndex):
            engine.open_reader("papers")


def test_a_reader_of_a_deleted_index_raises_epoch_changed(engine: Engine) -> None:
    index_processes.build_generation(engine, 1)
    reader = engine.open_reader("papers")
    engine.delete_index("papers")
    with pytest.raises(EpochChanged):
        reader.fetch(["doc-0001"])


def test_readers_in_other_processes_never_see_a_mixture_of_epochs(engine: Engine, tmp_path: Path) -> None:
    index_processes.build_generation(engine, 1)
    stop = multiprocessing.get_context("spawn").Event()
    reports = [tmp_path / f"reader-{i}" for i in range(3)]
    readers = [
        index_processes.spawn_process(
            index_processes.read_until_stopped, index_processes.get_engine_address(engine), stop, report
        )
        for report in reports
    ]
    for number in range(2, 8):
        index_processes.build_generation(engine, number)
    stop.set()
    for reader in readers:
        reader.join(60)
    reported = [report.read_text().split() for report in reports]
    assert all(words[0] == "ok" for words in reported), reported
    assert all(int(words[1]) > 0 for words in reported)


def test_documents_added_by_another_process_are_visible(engine: Engine) -> None:
    index_processes.build_generation(engine, 1)
    reader = engine.open_reader("papers")
    writer = index_processes.spawn_process(
        index_processes.add_document_and_exit, index_processes.get_engine_address(engine), "from elsewhere"
    )
    writer.join(60)
    assert writer.exitcode == 0
    assert reader.fetch(["from elsewhere"])[0] is not None
    request = NeighbourhoodRequest({"web graph": 1.0}, {"mail": 1.0}, ("from elsewhere",), 1)
    assert reader.find_neighbourhood(request).ids[0] == "from elsewhere"


def test_a_build_killed_in_the_middle_leaves_the_old_epoch(engine: Engine) -> None:
    index_processes.build_generation(engine, 1)
    reader = engine.open_reader("papers")
    ready = multiprocessing.get_context("spawn").Event()
    builder = index_processes.spawn_process(
        index_processes.build_until_killed, index_processes.get_engine_address(engine), ready
    )
    assert ready.wait(60)
    kill_process(builder)
    assert reader.fetch(["doc-0001"])[0].document.title == "generation 1"  # type: ignore[union-attr]
    with open_engine(engine.address, **index_processes.get_engine_address(engine)[1]) as other:
        assert other.open_reader("papers").info.epoch == "1"
    index_processes.build_generation(engine, 2)
    assert engine.open_reader("papers").info.epoch == "2"
    assert list_unused_epochs(engine) == []


def test_a_writer_killed_in_the_middle_leaves_an_index_that_works(engine: Engine) -> None:
    index_processes.build_generation(engine, 1)
    ready = multiprocessing.get_context("spawn").Event()
    writer = index_processes.spawn_process(
        index_processes.add_until_killed, index_processes.get_engine_address(engine), ready
    )
    assert ready.wait(60)
    kill_process(writer)
    engine.add_documents("papers", [index_processes.make_added_document("after")])
    reader = engine.open_reader("papers")
    ids = [d.document.id for d in reader.scan()]
    assert {"added-000000", "added-000003", "after"} <= set(ids)
    request = NeighbourhoodRequest({"web graph": 1.0}, {"mail": 1.0}, (), 10_000)
    neighbours = reader.find_neighbourhood(request).ids
    assert {name for name in ids if name.startswith("added")} == {n for n in neighbours if n.startswith("added")}
    assert reader.info.documents == len(ids)


def kill_process(process: multiprocessing.context.SpawnProcess) -> None:
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join(30)


def list_unused_epochs(engine: Engine) -> list[str]:
    """Return folders or indexes that belong to no epoch in use."""
    if engine.kind == "tantivy":
        folder = Path(engine.address) / "papers"
        current = (folder / "current").read_text()
        return [path.name for path in folder.iterdir() if path.is_dir() and path.name != current]
    from indexer.engines.elasticsearch.engine import ElasticsearchEngine

    assert isinstance(engine, ElasticsearchEngine)
    return engine.list_concrete_indexes("papers", in_use=False)


def test_a_build_repeats_exactly(engine: Engine) -> None:
    request = NeighbourhoodRequest({"mail": 1.0, "graph": 0.3}, {"model": 1.0, "walk": 2.0}, ("doc-0003",), 10)
    answers = []
    for _ in range(2):
        index_processes.build_generation(engine, 1)
        found = engine.open_reader("papers").find_neighbourhood(request)
        answers.append((list(found.ids), *(array.tobytes() for array in (found.rows, found.columns, found.weights))))
    assert answers[0] == answers[1]


def test_two_indexes_do_not_touch_each_other(engine: Engine) -> None:
    index_processes.build_generation(engine, 1)
    reader = engine.open_reader("papers")
    with engine.start_build("papers-2") as building:
        building.write(make_corpus(3).documents)
        building.commit(make_corpus(3).model, make_corpus(3).make_info("papers-2"))
    engine.delete_index("papers-2")
    assert reader.fetch(["doc-0001"])[0] is not None
