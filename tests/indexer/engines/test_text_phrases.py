"""Phrases of the texts in an index: the same when they are built, added, fetched, scanned and copied."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.analysis.analyzer import Analyzer
from indexer.documents import AnalysedDocument, Document, TextPhrase
from indexer.engines.base import Engine
from indexer.engines.document_codec import pack_document, unpack_document
from indexer.indexing.build import build_index
from indexer.indexing.export import export_documents
from indexer.indexing.update import add_documents, refresh_index
from indexer.readers.registry import read_documents
from indexer.readers.rejects import Rejects
from indexer.runtime.transfer import pack_for_transfer, unpack_transferred
from tests.support.analysed_documents import make_analysed_document
from tests.support.corpora.small_corpus import generate_documents
from tests.support.engines import open_empty_engine, reopen_engine
from tests.support.index_copies import copy_index
from tests.support.text_phrases import check_text_phrases, name_text_phrases

INDEX = "made-up"
ADDED = Document("added", "On the copper whistle", "The copper whistle rang. A waggle dance of Ann Hill.")
text_phrases = st.lists(
    st.builds(TextPhrase, st.integers(0, 2**31), st.integers(1, 6), st.integers(1, 2**20)), max_size=20
).map(tuple)


def build(engine: Engine, processes: int = 1) -> dict[str, AnalysedDocument]:
    """Build an index and return its documents as an analysis of each alone gives them."""
    documents = list(generate_documents(60))
    build_index(documents, engine, INDEX, processes=processes)
    analyzer = Analyzer(engine.open_reader(INDEX).model)
    return {document.id: analyzer.analyse(document) for document in documents}


@pytest.mark.parametrize("processes", [1, 2])
def test_every_way_to_read_a_document_gives_its_phrases(engine: Engine, processes: int) -> None:
    expected = build(engine, processes)
    reader = reopen_engine(engine).open_reader(INDEX)
    ids = list(expected)
    for read in (
        reader.fetch(ids),
        reader.fetch_lazy(ids),
        sorted(reader.scan(), key=lambda d: ids.index(d.document.id)),
    ):
        assert [d and d.text_phrases for d in read] == [expected[id].text_phrases for id in ids]
    assert all(check_text_phrases(document) for document in expected.values())


def test_an_added_document_has_its_phrases(engine: Engine) -> None:
    build(engine)
    add_documents([ADDED], engine, INDEX)
    (added,) = engine.open_reader(INDEX).fetch(["added"])
    assert added and {"copper whistle", "waggle dance", "ann hill"} <= set(check_text_phrases(added))
    (lazy,) = engine.open_reader(INDEX).fetch_lazy(["added"])
    assert lazy and lazy.text_phrases == added.text_phrases and lazy == added


def test_a_copy_of_an_index_has_the_same_phrases(
    engine: Engine, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    expected = build(engine)
    with open_empty_engine("tantivy", tmp_path / "copy", request) as other:
        copy_index(engine.open_reader(INDEX), other)
        for document in other.open_reader(INDEX).scan():
            assert document.text_phrases == expected[document.document.id].text_phrases


def test_exported_documents_get_the_same_phrases_again(engine: Engine, tmp_path: Path) -> None:
    expected = build(engine)
    path = tmp_path / "documents.jsonl"
    export_documents(engine.open_reader(INDEX), path)
    build_index(read_documents([str(path)], Rejects()), engine, "again", processes=1)
    again = {document.document.id: document.text_phrases for document in engine.open_reader("again").scan()}
    assert again == {id: document.text_phrases for id, document in expected.items()}


def test_a_refreshed_index_has_the_phrases_of_added_documents(engine: Engine) -> None:
    build(engine)
    add_documents([ADDED], engine, INDEX)
    refresh_index(engine, INDEX, processes=1)
    (added,) = engine.open_reader(INDEX).fetch(["added"])
    assert added and "copper whistle" in name_text_phrases(added)


@settings(deadline=None)
@given(text_phrases)
def test_phrases_survive_storage_and_transfer(phrases: tuple[TextPhrase, ...]) -> None:
    analysed = replace(make_analysed_document("A copper whistle rang."), text_phrases=phrases)
    stored = unpack_document(orjson.loads(orjson.dumps(pack_document(analysed))))
    assert stored.text_phrases == phrases and all(isinstance(phrase, TextPhrase) for phrase in stored.text_phrases)
    (transferred,) = unpack_transferred(lambda: [analysed.document], [pack_for_transfer(analysed)])
    assert transferred == analysed and all(isinstance(phrase, TextPhrase) for phrase in transferred.text_phrases)


def test_a_document_of_a_former_version_has_no_phrases() -> None:
    packed = pack_document(make_analysed_document("A copper whistle rang."))
    del packed["text_phrases"]
    assert unpack_document(packed).text_phrases == ()
