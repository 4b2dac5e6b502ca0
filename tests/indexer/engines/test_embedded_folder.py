"""The embedded engine's folder: locks, damage, leftovers, memory."""

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
from tests.support.corpora.engine_corpus import Corpus, build, draft, make_corpus


@pytest.fixture
def version(tantivy_engine: Engine, corpus: Corpus) -> Path:
    """The folder of a built epoch."""
    build(tantivy_engine, corpus)
    folder = Path(tantivy_engine.address) / "papers"
    return folder / (folder / "current").read_text()


def reopened(engine: Engine) -> Engine:
    return open_engine(engine.address)


def use(engine: Engine) -> None:
    reader = engine.open_reader("papers")
    reader.fetch(["doc-0001"])
    reader.find_neighbourhood(NeighbourhoodRequest({"mail": 1.0}, {"graph": 1.0}, ("doc-0001",), 10))
    list(reader.scan())


def test_a_second_writer_waits_then_says_that_the_index_is_busy(tantivy_engine: Engine, corpus: Corpus) -> None:
    build(tantivy_engine, corpus)
    hasty = open_engine(tantivy_engine.address, lock_timeout=0.05)
    with tantivy_engine.start_build("papers"):
        for write in (
            lambda: hasty.start_build("papers"),
            lambda: hasty.add_documents("papers", corpus.documents[:1]),
            lambda: hasty.delete_documents("papers", ["doc-0001"]),
            lambda: hasty.delete_index("papers"),
        ):
            with pytest.raises(IndexBusy, match="papers"):
                write()
        use(hasty)
    assert hasty.add_documents("papers", corpus.documents[:1]) == 1


def test_a_writer_that_waits_gets_its_turn(tantivy_engine: Engine, corpus: Corpus) -> None:
    build(tantivy_engine, corpus)
    ends = [open_engine(tantivy_engine.address, lock_timeout=60) for _ in range(4)]
    threads = [
        threading.Thread(target=engine.add_documents, args=("papers", [index_processes.added(f"from-{i}")]))
        for i, engine in enumerate(ends)
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
def test_damage_is_told_with_the_command_that_mends_it(
    tantivy_engine: Engine, version: Path, name: str, damage: str
) -> None:
    path = version / name
    whole = path.read_bytes()
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes({"empty": b"", "cut": whole[: len(whole) // 2], "garbage": b"\x00" * 57}[damage])
    with pytest.raises(CorruptIndex, match="phrasecom index PATH --index papers") as told:
        engine = reopened(tantivy_engine)
        use(engine)
        assert engine.open_reader("papers").model
    assert "\n" not in str(told.value)


def test_a_damaged_index_can_be_built_anew(tantivy_engine: Engine, version: Path, corpus: Corpus) -> None:
    shutil.rmtree(version)
    with pytest.raises(CorruptIndex):
        use(reopened(tantivy_engine))
    build(tantivy_engine, corpus)
    use(reopened(tantivy_engine))


def test_a_newer_format_is_refused(tantivy_engine: Engine, version: Path) -> None:
    info = orjson.loads((version / "info.json").read_bytes())
    (version / "info.json").write_bytes(orjson.dumps(info | {"format": 99}))
    with pytest.raises(UnsupportedVersion, match="99"):
        reopened(tantivy_engine).open_reader("papers")


def test_a_folder_that_cannot_be_written_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("")
    for address in (tmp_path / "a file", tmp_path / "a file" / "below", Path("/proc/phrasecom")):
        with open_engine(str(address)) as engine, pytest.raises(BadSetting, match="--engine") as told:
            engine.start_build("papers")
        assert "\n" not in str(told.value)


def test_a_crash_between_the_two_commits_is_mended_by_the_next_writer(
    tantivy_engine: Engine, version: Path, corpus: Corpus
) -> None:
    tantivy_engine.add_documents("papers", [index_processes.added("first")])
    before = (version / "delta").read_bytes()
    tantivy_engine.add_documents("papers", [index_processes.added("second"), index_processes.added("doc-0004")])
    tantivy_engine.delete_documents("papers", ["doc-0005", "first"])
    (version / "delta").write_bytes(before)  # as if the process had died before it replaced the file
    engine = reopened(tantivy_engine)
    ids = ["doc-0003", "doc-0004", "doc-0005"]
    assert (reader := engine.open_reader("papers")).fetch_lazy(ids) == reader.fetch(ids), "until then, what tantivy has"
    engine.add_documents("papers", [index_processes.added("third")])
    reader = engine.open_reader("papers")
    around = reader.find_neighbourhood(
        NeighbourhoodRequest({"web graph": 1.0}, {"mail": 1.0}, ("doc-0005", "first"), 9999)
    )
    assert {"second", "third", "doc-0004"} <= set(around.ids) and not {"doc-0005", "first"} & set(around.ids)
    assert reader.info.documents == len(corpus.documents) + 1
    assert [d.document.id for d in reader.scan()].count("doc-0004") == 1


def test_edges_do_not_pile_up_in_memory(tmp_path: Path) -> None:
    """Ten times the edges, and the memory of a build hardly moves."""

    def peak(edges: int, folder: Path) -> int:
        names = [f"phrase {i}" for i in range(edges)]
        document = draft("x", [], names)
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

    few, many = peak(100, tmp_path / "few"), peak(2000, tmp_path / "many")
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


def test_indexes_lists_only_finished_ones(tantivy_engine: Engine) -> None:
    (Path(tantivy_engine.address) / "stray").mkdir(parents=True)
    build(tantivy_engine, make_corpus(2))
    assert tantivy_engine.list_indexes() == ["papers"]
    assert open_engine(tantivy_engine.address + "/nowhere").list_indexes() == []
