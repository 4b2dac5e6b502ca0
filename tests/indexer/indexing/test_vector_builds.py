"""Vectors through builds: the first decides the dimensions, others are refused, and none is lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from indexer.documents import Document
from indexer.engines import open_engine
from indexer.engines.base import Engine
from indexer.engines.search_types import Selection, VectorQuery
from indexer.errors import BadInput
from indexer.indexing.build import build_index
from indexer.indexing.export import export_documents
from indexer.indexing.update import add_documents, refresh_index
from indexer.readers.registry import read_documents
from indexer.readers.rejects import Rejects
from indexer.vectors import VECTOR_SETTING, encode_vector
from tests.support.corpora.small_corpus import generate_documents
from tests.support.vector_oracle import make_random_vectors

QUERY = encode_vector([1.0, 0.0, 0.0])


def generate_with_vectors(count: int, without: int = 0) -> Iterator[Document]:
    """Generate documents with vectors of three dimensions; the first ``without`` have none."""
    vectors = make_random_vectors(count, 3, seed=1)
    for n, (document, vector) in enumerate(zip(generate_documents(count), vectors, strict=True)):
        yield replace(document, vector=None if n < without else vector)


def find_nearest_ids(engine: Engine) -> list[str]:
    found = engine.open_reader("made-up").search(Selection(), size=5, vector=VectorQuery(QUERY, 5))
    return [hit.id for hit in found.hits]


def test_the_first_vector_decides_the_dimensions_of_the_index(engine: Engine) -> None:
    build_index(generate_with_vectors(30, without=3), engine, "made-up", processes=1)
    assert engine.open_reader("made-up").info.settings[VECTOR_SETTING] == 3
    assert len(find_nearest_ids(engine)) == 5


def test_an_index_without_vectors_has_no_dimensions(tantivy_engine: Engine) -> None:
    build_index(generate_documents(30), tantivy_engine, "made-up", processes=1)
    assert VECTOR_SETTING not in tantivy_engine.open_reader("made-up").info.settings


def test_several_processes_keep_the_vectors(engine: Engine) -> None:
    build_index(generate_with_vectors(30), engine, "made-up", processes=2)
    expected = {document.id: document.vector for document in generate_with_vectors(30)}
    assert {d.document.id: d.document.vector for d in engine.open_reader("made-up").scan()} == expected


def test_a_record_with_a_vector_of_another_length_is_rejected(tantivy_engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "papers.jsonl"
    rows = [{"id": d.id, "text": d.text, "vector": [1, n, 3]} for n, d in enumerate(generate_documents(30))]
    rows[4]["vector"] = [1, 2]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with Rejects(tmp_path / "rejects.jsonl") as rejects:
        report = build_index(read_documents([str(path)], rejects), tantivy_engine, "made-up", rejects=rejects)
    assert (report.documents, report.rejects) == (29, 1)
    reject = json.loads((tmp_path / "rejects.jsonl").read_text())
    assert (reject["source"], reject["line"]) == (str(path), 5)
    assert "its vector has 2 numbers, those of the index 3; use the same model" in reject["reason"]
    assert repr(rows[4]["id"]) in reject["reason"]


def test_without_a_list_of_rejects_a_vector_that_does_not_fit_ends_the_build(tantivy_engine: Engine) -> None:
    documents = [*generate_with_vectors(10), Document("odd", text="honey bee", vector=encode_vector([1, 2]))]
    with pytest.raises(BadInput, match="document 'odd': its vector has 2 numbers, those of the index 3"):
        build_index(documents, tantivy_engine, "made-up", processes=1)
    assert tantivy_engine.list_indexes() == []


@pytest.mark.parametrize(
    ("count_without", "fault"),
    [(0, "its vector has 2 numbers, those of the index 3"), (30, "it has a vector, but the index was built without")],
)
def test_a_document_that_does_not_fit_keeps_its_whole_batch_out(engine: Engine, count_without: int, fault: str) -> None:
    build_index(generate_with_vectors(30, without=count_without), engine, "made-up", processes=1)
    batch = [Document("good", text="honey bee"), Document("odd", text="sour dough", vector=encode_vector([1, 2]))]
    with pytest.raises(BadInput, match=f"document 'odd': {fault}"):
        add_documents(batch, engine, "made-up")
    assert engine.open_reader("made-up").fetch(["good", "odd"]) == [None, None]
    assert add_documents(batch[:1], engine, "made-up") == 1


def test_refresh_and_export_keep_vectors(engine: Engine, tmp_path: Path) -> None:
    build_index(generate_with_vectors(30, without=3), engine, "made-up", processes=1)
    add_documents([Document("near", text="honey bee", vector=QUERY)], engine, "made-up")
    before = find_nearest_ids(engine)
    assert before[0] == "near"
    refresh_index(engine, "made-up", processes=1)
    assert find_nearest_ids(engine) == before
    reader = engine.open_reader("made-up")
    assert reader.info.settings[VECTOR_SETTING] == 3
    export_documents(reader, tmp_path / "out.jsonl")
    with open_engine(str(tmp_path / "copy")) as copy:
        build_index(read_documents([str(tmp_path / "out.jsonl")], Rejects()), copy, "made-up", processes=1)
        assert find_nearest_ids(copy) == before
        vectors = {d.document.id: d.document.vector for d in reader.scan()}
        assert {d.document.id: d.document.vector for d in copy.open_reader("made-up").scan()} == vectors
