"""The folder of the embedded engine: locks, damage, crashes, memory."""

from __future__ import annotations

import shutil
import threading
import tracemalloc
from pathlib import Path

import numpy as np
import orjson
import pytest

from indexer.engines import open_engine
from indexer.engines.base import Engine
from indexer.engines.embedded.phrase_graph_writer import PhraseGraphWriter
from indexer.engines.search_types import NeighbourhoodRequest
from indexer.errors import BadSetting, CorruptIndex, IndexBusy, UnsupportedVersion
from indexer.lazy_sequences import OffsetStringTable
from tests.support import index_processes
from tests.support.corpora.engine_corpus import AnalysedCorpus, make_corpus, make_draft, write_index
from tests.support.engines import reopen_engine


@pytest.fixture
def epoch_folder(tantivy_engine: Engine, corpus: AnalysedCorpus) -> Path:
    """The folder of a built epoch."""
    write_index(tantivy_engine, corpus)
    folder = Path(tantivy_engine.address) / "papers"
    return folder / (folder / "current").read_text()


def read_index(engine: Engine) -> None:
    reader = engine.open_reader("papers")
    reader.fetch(["doc-0001"])
    reader.find_neighbourhood(NeighbourhoodRequest({"mail": 1.0}, {"graph": 1.0}, ("doc-0001",), 10))
    list(reader.scan())


def test_a_second_writer_waits_then_says_that_the_index_is_busy(tantivy_engine: Engine, corpus: AnalysedCorpus) -> None:
    write_index(tantivy_engine, corpus)
    impatient = open_engine(tantivy_engine.address, lock_timeout=0.05)
    with tantivy_engine.start_build("papers"):
        for write in (
            lambda: impatient.start_build("papers"),
            lambda: impatient.add_documents("papers", corpus.documents[:1]),
            lambda: impatient.delete_documents("papers", ["doc-0001"]),
            lambda: impatient.delete_index("papers"),
        ):
            with pytest.raises(IndexBusy, match="papers"):
                write()
        read_index(impatient)
    assert impatient.add_documents("papers", corpus.documents[:1]).count == 1


def test_a_writer_that_waits_gets_its_turn(tantivy_engine: Engine, corpus: AnalysedCorpus) -> None:
    write_index(tantivy_engine, corpus)
    writers = [open_engine(tantivy_engine.address, lock_timeout=60) for _ in range(4)]
    threads = [
        threading.Thread(
            target=engine.add_documents, args=("papers", [index_processes.make_added_document(f"from-{i}")])
        )
        for i, engine in enumerate(writers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert None not in tantivy_engine.open_reader("papers").fetch([f"from-{i}" for i in range(4)])


FILES = [
    "info.json",
    "model.npz",
    "delta",
    "graph/documents.npy",
    "graph/starts.npy",
    "graph/names.json",
    "graph/forward_word_ids.npy",
    "index/meta.json",
]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "garbage"])
def test_damage_is_reported_with_the_command_that_repairs_it(
    tantivy_engine: Engine, epoch_folder: Path, name: str, damage: str
) -> None:
    path = epoch_folder / name
    content = path.read_bytes()
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes({"empty": b"", "cut": content[: len(content) // 2], "garbage": b"\x00" * 57}[damage])
    with pytest.raises(CorruptIndex, match="phrasecom index PATH --index papers") as caught:
        engine = reopen_engine(tantivy_engine)
        read_index(engine)
        assert engine.open_reader("papers").model
    assert "\n" not in str(caught.value)


def test_a_damaged_index_can_be_rebuilt(tantivy_engine: Engine, epoch_folder: Path, corpus: AnalysedCorpus) -> None:
    shutil.rmtree(epoch_folder)
    with pytest.raises(CorruptIndex):
        read_index(reopen_engine(tantivy_engine))
    write_index(tantivy_engine, corpus)
    read_index(reopen_engine(tantivy_engine))


def test_a_newer_format_is_refused(tantivy_engine: Engine, epoch_folder: Path) -> None:
    info = orjson.loads((epoch_folder / "info.json").read_bytes())
    (epoch_folder / "info.json").write_bytes(orjson.dumps(info | {"format": 99}))
    with pytest.raises(UnsupportedVersion, match="99"):
        reopen_engine(tantivy_engine).open_reader("papers")


def test_a_folder_that_cannot_be_written_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("")
    for address in (tmp_path / "a file", tmp_path / "a file" / "below", Path("/proc/phrasecom")):
        with open_engine(str(address)) as engine, pytest.raises(BadSetting, match="--engine") as caught:
            engine.start_build("papers")
        assert "\n" not in str(caught.value)


def test_memory_of_a_build_does_not_grow_with_the_edges(tmp_path: Path) -> None:
    """Build with 100 and with 2000 edges a document."""

    def measure_peak(edges: int, folder: Path) -> int:
        names = [f"phrase {i}" for i in range(edges)]
        document = make_draft("x", [], names)
        writer = PhraseGraphWriter(folder)
        for number in range(300):
            object.__setattr__(document.document, "id", f"{number:05d}")
            object.__setattr__(document, "weights", (1.0,) * edges)
            if number == 100:  # by now names and buffers are there
                tracemalloc.start()
            writer.add(document)
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        writer.finish({name: i for i, name in enumerate(names)}, {})
        return used

    few, many = measure_peak(100, tmp_path / "few"), measure_peak(2000, tmp_path / "many")
    assert many < few + 400_000  # the 380,000 further edges would take 3 million bytes


def test_strings_are_found_by_code_point_order() -> None:
    names = sorted(["", "a", "b/c", "é", "日本", "🎉", "z" * 300])
    strings = OffsetStringTable.from_strings(names)
    assert [strings.find(name) for name in names] == list(range(len(names)))
    assert strings.find("absent") == -1 and strings.find("\ud800") == -1
    many = [*names, "absent", "\ud800", "a", "z" * 299]
    assert strings.find_many(many).tolist() == [strings.find(name) for name in many]
    assert strings.find_many([]).tolist() == [] and OffsetStringTable.from_strings([]).find_many(["a"]).tolist() == [-1]
    assert strings.take(np.array([2, 0])) == [names[2], names[0]] and strings.to_list() == names


def test_only_finished_indexes_are_listed(tantivy_engine: Engine) -> None:
    (Path(tantivy_engine.address) / "stray").mkdir(parents=True)
    write_index(tantivy_engine, make_corpus(2))
    assert tantivy_engine.list_indexes() == ["papers"]
    assert open_engine(tantivy_engine.address + "/nowhere").list_indexes() == []
