"""Building an index on both engines: its contents, that it repeats exactly, and that it survives kill -9."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from indexer.documents import AnalysedDocument, Document
from indexer.engines import open_engine
from indexer.engines.base import Engine
from indexer.errors import BadInput, BadParameter, UnknownIndex
from indexer.indexing.build import AnalysisOptions, BuildReport, build_index
from indexer.indexing.export import export_documents, export_graph
from indexer.indexing.update import add_documents, delete_documents, refresh_index
from indexer.readers.registry import read_documents
from indexer.readers.rejects import Rejects
from tests.support.corpora.small_corpus import generate_documents, write_jsonl


def build_made_up(engine: Engine, documents: Iterator[Document], **options: object) -> BuildReport:
    return build_index(documents, engine, "made-up", processes=1, **options)  # type: ignore[arg-type]


def scan_documents(engine: Engine, index: str = "made-up") -> list[AnalysedDocument]:
    return list(engine.open_reader(index).scan())


def test_a_build_makes_an_index_with_the_planted_phrases(engine: Engine) -> None:
    stages: list[str] = []
    report = build_made_up(engine, generate_documents(60), progress=lambda stage, done, total: stages.append(stage))
    assert (report.documents, report.rejects, report.unchanged) == (60, 0, False)
    assert report.epoch.startswith("1-")
    assert list(report.seconds) == ["collect", "mine", "analyse and write", "commit"]
    assert {"collect", "analyse"} <= set(stages)
    reader = engine.open_reader("made-up")
    assert reader.info.epoch == report.epoch
    assert report.phrases == len(reader.model.phrases)
    assert {"honey bee", "sour dough"} <= set(reader.model.phrases)
    assert report.edges == sum(len(document.phrases) for document in reader.scan())
    assert [d.document for d in reader.scan()] == sorted(generate_documents(60), key=lambda d: d.id)


def test_building_the_same_again_changes_nothing(engine: Engine) -> None:
    first = build_made_up(engine, generate_documents(30))
    again = build_made_up(engine, generate_documents(30))
    assert again.unchanged
    assert again.epoch == first.epoch
    forced = build_made_up(engine, generate_documents(30), force=True)
    assert not forced.unchanged
    assert forced.epoch == "2-" + first.epoch.partition("-")[2]


def test_an_index_of_another_version_of_the_analysis_is_built_again(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indexer.indexing.build.ANALYSIS_VERSION", 0)
    build_made_up(engine, generate_documents(30))
    monkeypatch.undo()
    assert not build_made_up(engine, generate_documents(30)).unchanged


def test_other_content_or_settings_make_a_new_epoch(engine: Engine) -> None:
    epochs = [
        build_made_up(engine, generate_documents(30)).epoch,
        build_made_up(engine, generate_documents(30, seed=2)).epoch,
        build_made_up(engine, generate_documents(30, seed=2), analysis=AnalysisOptions(k=5)).epoch,
    ]
    assert [epoch.partition("-")[0] for epoch in epochs] == ["1", "2", "3"]
    assert len({epoch.partition("-")[2] for epoch in epochs}) == 3
    assert max(len(document.salient) for document in scan_documents(engine)) <= 5


def test_how_many_processes_share_the_work_makes_no_difference(tantivy_engine: Engine) -> None:
    build_index(generate_documents(60), tantivy_engine, "one", processes=1)
    build_index(generate_documents(60), tantivy_engine, "two", processes=2)
    assert scan_documents(tantivy_engine, "one") == scan_documents(tantivy_engine, "two")
    models = [tantivy_engine.open_reader(name).model.to_bytes() for name in ("one", "two")]
    assert models[0] == models[1]


def test_an_empty_corpus_is_refused_and_leaves_what_is_there(engine: Engine) -> None:
    with pytest.raises(BadInput, match="no documents found"):
        build_made_up(engine, iter(()))
    with pytest.raises(UnknownIndex):
        engine.open_reader("made-up")
    build_made_up(engine, generate_documents(12))
    with pytest.raises(BadInput):
        build_made_up(engine, iter(()))
    assert len(scan_documents(engine)) == 12


def test_when_every_record_is_bad_the_first_reason_is_reported(tantivy_engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"body": "x"}\n{"body": "y"}\n')
    rejects = Rejects()
    documents = read_documents([str(tmp_path / "a.jsonl")], rejects)
    with pytest.raises(BadInput, match=r"none of 2 records .* line 1\): no text; name the text field"):
        build_made_up(tantivy_engine, documents, rejects=rejects)


@pytest.mark.parametrize("count", [1, 2])
def test_a_very_small_corpus_can_be_indexed(engine: Engine, count: int) -> None:
    assert build_made_up(engine, generate_documents(count)).documents == count
    assert len(scan_documents(engine)) == count


def test_identical_documents_can_be_indexed(engine: Engine) -> None:
    document = next(generate_documents(1))
    assert build_made_up(engine, (replace(document, id=f"copy-{i}") for i in range(20))).documents == 20
    assert len({document.phrases for document in scan_documents(engine)}) == 1


def test_documents_without_a_single_word_are_kept(tantivy_engine: Engine) -> None:
    wordless = [Document("odd", text="!!! ... ???"), Document("digits", text="1 2 3")]
    build_made_up(tantivy_engine, iter([*generate_documents(12), *wordless]))
    assert {"odd", "digits"} <= {document.document.id for document in scan_documents(tantivy_engine)}


def test_a_bad_index_name_is_refused_before_anything_is_read(tantivy_engine: Engine) -> None:
    def fail_if_read() -> Iterator[Document]:
        raise AssertionError
        yield

    with pytest.raises(BadParameter):
        build_index(fail_if_read(), tantivy_engine, "Not A Name")


def test_added_documents_are_analysed_with_the_phrases_of_the_index(engine: Engine) -> None:
    build_made_up(engine, generate_documents(60))
    phrases = set(engine.open_reader("made-up").model.phrases)
    new = Document("new", text="A honey bee met a honey bee at the harbour wall. Neologism neologism.")
    assert add_documents(iter([new]), engine, "made-up") == 1
    added = engine.open_reader("made-up").fetch(["new"])[0]
    assert added is not None
    assert {"honey bee", "harbour wall"} <= set(added.phrases) <= phrases


def test_deleted_documents_are_gone_and_counted(engine: Engine) -> None:
    build_made_up(engine, generate_documents(12))
    ids = [document.document.id for document in scan_documents(engine)]
    result = delete_documents(engine, "made-up", [ids[0], ids[0], "nobody", ""])
    assert (result.count, result.missing) == (1, ("nobody", ""))
    assert [document.document.id for document in scan_documents(engine)] == ids[1:]


def test_refresh_mines_again_from_the_live_documents_with_the_same_settings(engine: Engine) -> None:
    build_made_up(engine, generate_documents(60), analysis=AnalysisOptions(k=7))
    add_documents(generate_documents(20, topics=("whales",)), engine, "made-up")
    delete_documents(engine, "made-up", ["bees-000"])
    assert "blue whale" not in engine.open_reader("made-up").model.phrases
    report = refresh_index(engine, "made-up", processes=1)
    reader = engine.open_reader("made-up")
    assert report.documents == 79
    assert report.epoch.startswith("2-")
    assert "blue whale" in reader.model.phrases
    assert reader.info.drift == 0
    assert AnalysisOptions.from_index(reader.info) == AnalysisOptions(k=7)


def test_adding_to_an_index_that_is_not_there_names_the_fix(engine: Engine) -> None:
    with pytest.raises(UnknownIndex, match="phrasecom index PATH --index nowhere"):
        add_documents(iter(()), engine, "nowhere")


def test_the_exported_graph_is_the_graph_of_the_index(engine: Engine, tmp_path: Path) -> None:
    build_made_up(engine, generate_documents(30))
    reader = engine.open_reader("made-up")
    counts = export_graph(reader, tmp_path / "graph.npz")
    with np.load(tmp_path / "graph.npz", allow_pickle=False) as arrays:
        graph = dict(arrays)
    assert counts == {"phrases": len(graph["phrases"]), "documents": 30, "edges": len(graph["weights"])}
    for column, document in enumerate(reader.scan()):
        assert graph["ids"][column] == document.document.id
        rows = [row for row in range(len(graph["phrases"])) if column in get_row_columns(graph, row)]
        assert set(graph["phrases"][rows]) == set(document.phrases)
        start, end = graph["salient_start"][column : column + 2]
        assert list(graph["phrases"][graph["salient"][start:end]]) == [salient.phrase for salient in document.salient]
    assert graph["document_degree"].sum() == pytest.approx(graph["weights"].sum())
    assert [path.name for path in tmp_path.glob("graph*")] == ["graph.npz"]


def get_row_columns(graph: dict[str, np.ndarray], row: int) -> list[int]:  # type: ignore[type-arg]
    return list(graph["indices"][graph["indptr"][row] : graph["indptr"][row + 1]])


def test_exported_documents_make_the_same_index_again(tantivy_engine: Engine, tmp_path: Path) -> None:
    build_made_up(tantivy_engine, generate_documents(30))
    path = tmp_path / "documents.jsonl.gz"
    assert export_documents(tantivy_engine.open_reader("made-up"), path) == {"documents": 30}
    again = list(read_documents([str(path)], Rejects()))
    assert again == [document.document for document in scan_documents(tantivy_engine)]


KILLED_BUILD = """
import os, signal, sys
import indexer.indexing.build as pipeline
from indexer.engines import open_engine
from indexer.readers.registry import read_documents
from indexer.readers.rejects import Rejects

folder, corpus, when, sample_documents = sys.argv[1:]
analysis = pipeline.AnalysisOptions(sample_documents=int(sample_documents))
calls = []

def progress(name, done, total):
    calls.append(name)
    if str(len(calls)) == when:
        os.kill(os.getpid(), signal.SIGKILL)

with open_engine(folder) as engine:
    if when == "committed":
        made = engine.start_build
        def build(index):
            new = made(index)
            commit = new.commit
            def killed(model, info):
                commit(model, info)
                os.kill(os.getpid(), signal.SIGKILL)
            new.commit = killed
            return new
        engine.start_build = build
    documents = read_documents([corpus], Rejects())
    pipeline.build_index(documents, engine, "made-up", analysis, progress, processes=1)
print(len(calls))
"""


@pytest.mark.slow
@pytest.mark.parametrize("sample_documents", [0, 200])
def test_a_killed_build_run_again_gives_the_index_of_an_undisturbed_run(tmp_path: Path, sample_documents: int) -> None:
    """Kill it at moments spread over the whole run, and right after the commit."""
    corpus = write_jsonl(tmp_path / "corpus.jsonl", generate_documents(600))
    calls = int(run_build(tmp_path / "undisturbed", corpus, "never", sample_documents).stdout)
    with open_engine(str(tmp_path / "undisturbed")) as engine:
        expected = engine.open_reader("made-up")
        moments = sorted({1, 2, calls // 3, calls // 2, calls - 1, calls})
        for when in [*map(str, moments), "committed"]:
            folder = tmp_path / f"killed-{when}"
            assert run_build(folder, corpus, when, sample_documents).returncode == -signal.SIGKILL
            assert run_build(folder, corpus, "never", sample_documents).returncode == 0
            with open_engine(str(folder)) as other:
                reader = other.open_reader("made-up")
                assert reader.info == replace(expected.info, created=reader.info.created)
                assert reader.model.to_bytes() == expected.model.to_bytes()
                assert list(reader.scan()) == list(expected.scan())
            assert count_files(folder / "made-up") == count_files(tmp_path / "undisturbed" / "made-up")


def run_build(folder: Path, corpus: Path, when: str, sample_documents: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", KILLED_BUILD, str(folder), str(corpus), when, str(sample_documents)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def count_files(folder: Path) -> int:
    """Count files and folders: nothing of a killed build may stay behind."""
    return sum(1 for _ in folder.rglob("*"))
