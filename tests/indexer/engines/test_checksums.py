"""Checksums of an embedded index: when files are compared with them, and what a writer that died leaves."""

from __future__ import annotations

import os
import shutil
import stat
import threading
from pathlib import Path

import pytest

from indexer.engines import open_engine
from indexer.engines.base import Engine
from indexer.engines.embedded import checksums
from indexer.errors import CorruptIndex
from tests.support import index_processes
from tests.support.corpora.engine_corpus import AnalysedCorpus, write_index
from tests.support.damaged_files import flipped_bit, get_epoch_folder, remove_checksums


@pytest.fixture
def epoch(tantivy_engine: Engine, corpus: AnalysedCorpus) -> Path:
    """The folder of a built epoch."""
    write_index(tantivy_engine, corpus)
    return get_epoch_folder(tantivy_engine.address)


@pytest.fixture
def read_files(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files that are read to be compared with their checksums."""
    names: list[str] = []
    compute_checksum = checksums._compute_checksum

    def compute_and_record(path: Path, *more: object) -> tuple[int, int]:
        names.append(path.name)
        return compute_checksum(path, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(checksums, "_compute_checksum", compute_and_record)
    return names


def test_a_copied_index_is_compared_once_as_a_whole(epoch: Path, tmp_path: Path, read_files: list[str]) -> None:
    root = epoch.parents[1]
    open_engine(str(root)).open_reader("papers")
    assert read_files == [], "the machine that wrote the files need not read them again"
    shutil.copytree(root, tmp_path / "copy")
    open_engine(str(tmp_path / "copy")).open_reader("papers")
    assert {"model.npz", "documents.npy", "meta.json", "delta", "info.json"} <= set(read_files)
    read_files.clear()
    open_engine(str(tmp_path / "copy")).open_reader("papers")
    assert read_files == []


@pytest.mark.parametrize("name", ["model.npz", "graph/weights.npy", "delta", "index/meta.json", "checksums"])
def test_damage_in_a_copy_is_found_when_it_is_opened(epoch: Path, tmp_path: Path, name: str) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(epoch.parents[1], copy)
    with (
        flipped_bit(get_epoch_folder(copy) / name, 801, keeps_time=True),
        pytest.raises(CorruptIndex, match="rebuild it"),
    ):
        open_engine(str(copy)).open_reader("papers")
    open_engine(str(copy)).open_reader("papers")


def test_damage_that_keeps_the_modification_time_is_found_by_a_check(tantivy_engine: Engine, epoch: Path) -> None:
    assert tantivy_engine.check_files("papers")
    with (
        flipped_bit(epoch / "graph/weights.npy", 1601, keeps_time=True),
        open_engine(tantivy_engine.address) as engine,
    ):
        engine.open_reader("papers")  # costs nothing, so it does not read the file
        with pytest.raises(CorruptIndex, match=r"graph/weights\.npy differs from its checksum"):
            engine.check_files("papers")


def test_a_write_lists_what_it_changed_and_reads_nothing_else(
    tantivy_engine: Engine, epoch: Path, read_files: list[str]
) -> None:
    tantivy_engine.add_documents("papers", [index_processes.make_added_document("new")])
    assert "delta" in read_files and not {"model.npz", "documents.npy", "info.json"} & set(read_files)
    read_files.clear()
    reader = open_engine(tantivy_engine.address).open_reader("papers")
    assert reader.fetch(["new"]) != [None] and read_files == []
    assert tantivy_engine.check_files("papers")
    with flipped_bit(epoch / "delta", 801, keeps_time=True), pytest.raises(CorruptIndex, match="rebuild it"):
        open_engine(tantivy_engine.address).check_files("papers")


def test_a_writer_that_died_before_its_list_is_no_damage(tantivy_engine: Engine, epoch: Path) -> None:
    before = (epoch / "checksums").read_bytes()
    tantivy_engine.add_documents("papers", [index_processes.make_added_document("new")])
    (epoch / "checksums").write_bytes(before)
    with pytest.raises(CorruptIndex, match="delta"):
        open_engine(tantivy_engine.address).open_reader("papers")
    (epoch / "writing").touch()  # as the writer leaves it
    engine = open_engine(tantivy_engine.address)
    assert engine.open_reader("papers").fetch(["new"]) != [None] and engine.check_files("papers")
    with flipped_bit(epoch / "model.npz", 801, keeps_time=True), pytest.raises(CorruptIndex, match=r"model\.npz"):
        engine.check_files("papers")
    engine.delete_documents("papers", ["new"])
    assert not (epoch / "writing").exists(), "the next writer lists all files"
    with flipped_bit(epoch / "index/meta.json", 801, keeps_time=True), pytest.raises(CorruptIndex, match=r"meta\.json"):
        open_engine(tantivy_engine.address).check_files("papers")


def test_readers_that_open_a_copy_at_once_do_not_disturb_each_other(epoch: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(epoch.parents[1], copy)
    failures: list[BaseException] = []

    def open_copy() -> None:
        try:
            assert open_engine(str(copy)).open_reader("papers").fetch(["doc-0001"]) != [None]
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=open_copy) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert (copy / ".checked" / "papers").stat().st_size > 0


def test_an_index_whose_stamps_cannot_be_saved_is_compared_at_each_opening(
    epoch: Path, tmp_path: Path, read_files: list[str]
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(epoch.parents[1], copy)
    shutil.rmtree(copy / ".checked")
    (copy / ".checked").touch()  # a file where the folder should be
    for _ in range(2):
        read_files.clear()
        open_engine(str(copy)).open_reader("papers")
        assert "model.npz" in read_files


def test_an_index_of_a_former_version_has_no_checksums_and_works(tantivy_engine: Engine, epoch: Path) -> None:
    remove_checksums(epoch)
    with open_engine(tantivy_engine.address) as engine:
        assert not engine.check_files("papers")
        engine.add_documents("papers", [index_processes.make_added_document("new")])
        assert engine.open_reader("papers").fetch(["new"]) != [None]
        assert not engine.check_files("papers") and not (epoch / "writing").exists()


def test_a_missing_list_of_checksums_is_damage(tantivy_engine: Engine, epoch: Path) -> None:
    (epoch / "checksums").unlink()
    with pytest.raises(CorruptIndex, match="checksums is missing"):
        open_engine(tantivy_engine.address).open_reader("papers")


@pytest.mark.parametrize(
    ("root_mode", "folder_mode", "file_mode"),
    [(None, 0o700, 0o600), (0o755, 0o750, 0o640), (0o777, 0o770, 0o660), (0o700, 0o700, 0o600)],
)
def test_only_the_owner_may_read_an_index_and_the_group_if_the_root_says_so(
    tmp_path: Path, corpus: AnalysedCorpus, root_mode: int | None, folder_mode: int, file_mode: int
) -> None:
    root = tmp_path / "engine"
    if root_mode is not None:
        root.mkdir()
        root.chmod(root_mode)
    former = os.umask(0)
    try:
        with open_engine(str(root)) as engine:
            write_index(engine, corpus)
            engine.add_documents("papers", [index_processes.make_added_document("new")])
    finally:
        os.umask(former)
    modes = {
        path: stat.S_IMODE(path.stat().st_mode) for path in root.rglob("*") if not path.name.startswith(".tantivy")
    }
    assert {mode for path, mode in modes.items() if path.is_dir()} == {folder_mode}
    assert {mode for path, mode in modes.items() if path.is_file()} <= {file_mode, 0o600}
    assert stat.S_IMODE(root.stat().st_mode) == (root_mode or 0o700)
