"""Lazily fetched documents equal fetched ones, whatever is read of them and in whatever order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import orjson
import pytest

from indexer.documents import AnalysedDocument
from indexer.engines import open_engine
from indexer.engines.base import Engine, Reader
from indexer.engines.embedded.document_columns import SINGLE_READ_SHARE
from indexer.engines.lazy_documents import DocumentColumns, LazyDocument, find_shared_columns
from tests.support.corpora.engine_corpus import AnalysedCorpus, make_draft, weigh_document, weigh_drafts, write_index
from tests.support.damaged_files import remove_checksums


def test_lazily_fetched_documents_equal_fetched_ones(papers: Reader, corpus: AnalysedCorpus) -> None:
    ids = [*corpus.documents_by_id(), "absent", "", "\ud800", next(iter(corpus.documents_by_id()))]
    for groups in (None, frozenset({"board"}), frozenset[str]()):
        assert papers.fetch_lazy(ids, groups) == papers.fetch(ids, groups)
        assert papers.fetch(ids, groups) == papers.fetch_lazy(ids, groups)


def fetch_with_columns(engine: Engine, ids: list[str]) -> tuple[DocumentColumns, list[AnalysedDocument]]:
    documents = [document for document in engine.open_reader("papers").fetch_lazy(ids) if document is not None]
    shared = find_shared_columns(documents)
    assert shared is not None and shared[1].tolist() == list(range(len(ids)))
    return shared[0], documents


def test_columns_of_all_documents_equal_the_fields_of_each(tantivy_engine: Engine, corpus: AnalysedCorpus) -> None:
    reader, ids = write_index(tantivy_engine, corpus), list(corpus.documents_by_id())[::-1]
    columns, lazy = fetch_with_columns(tantivy_engine, ids)
    fetched = [document for document in reader.fetch(ids) if document is not None]
    selected = np.array([7, 3, 3, 41])
    line_ids, lengths = columns.get_lines(selected)
    lines = [
        [reader.model.word_ids[w] for w in line.split()] + [-1]
        for i in selected
        for line in fetched[i].tokens.split("\n")
    ]
    assert line_ids.tolist() == [number for line in lines for number in line]
    assert lengths.tolist() == [len(fetched[i].tokens.split()) for i in selected]
    rows, weights, sizes = columns.get_edges(selected)
    assert [columns.get_phrase(row) for row in rows.tolist()] == [
        phrase for i in selected for phrase in fetched[i].phrases
    ]
    assert weights.tolist() == [weight for i in selected for weight in fetched[i].weights]
    assert sizes.tolist() == [len(fetched[i].phrases) for i in selected]
    rows, salience, sizes = columns.get_salience(selected)
    assert [(columns.get_phrase(row), value) for row, value in zip(rows.tolist(), salience.tolist(), strict=True)] == [
        (salient.phrase, salient.salience) for i in selected for salient in fetched[i].salient
    ]
    assert [columns.find_phrase_row(columns.get_phrase(row)) for row in rows.tolist()] == rows.tolist()
    assert [document.tokens for document in lazy] == [document.tokens for document in fetched]


def test_text_is_read_only_for_documents_accessed(
    tantivy_engine: Engine, corpus: AnalysedCorpus, read_sizes: list[int]
) -> None:
    write_index(tantivy_engine, corpus)
    _, lazy = fetch_with_columns(tantivy_engine, list(corpus.documents_by_id()))
    assert [(d.document.id, d.document.acl, d.version, d.degree) for d in lazy]
    assert "".join(document.tokens for document in lazy) and read_sizes == []
    assert lazy[3].document.title == f"Title of {lazy[3].document.id}" and lazy[3].salient and lazy[5].phrases
    assert read_sizes == [1, 1]
    assert all(document.document.text for document in lazy)
    assert read_sizes[-1] == len(lazy) and len(read_sizes) <= SINGLE_READ_SHARE * len(lazy) + 1


@pytest.fixture
def read_sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by the number of stored documents read, at each read."""
    from indexer.engines.embedded import fulltext_index

    sizes: list[int] = []
    fetch = fulltext_index.fetch_documents

    def record_size(searcher: object, schema: object, ids: list[str]) -> object:
        sizes.extend([len(ids)] if ids else [])
        return fetch(searcher, schema, ids)  # type: ignore[arg-type]

    monkeypatch.setattr(fulltext_index, "fetch_documents", record_size)
    return sizes


def test_changed_documents_are_read_in_their_current_state(tantivy_engine: Engine, corpus: AnalysedCorpus) -> None:
    reader, ids = write_index(tantivy_engine, corpus), list(corpus.documents_by_id())
    new = [weigh_document(make_draft(name, ["unheard of words"], ["mail"]), corpus.model) for name in (ids[4], "new")]
    tantivy_engine.add_documents("papers", new)
    tantivy_engine.delete_documents("papers", [ids[5]])
    requested = [*ids, "new"]
    found = reader.fetch_lazy(requested)
    assert found == reader.fetch(requested) and found[5] is None
    kinds = {type(document) for document in found if document is not None}
    assert kinds == {AnalysedDocument, LazyDocument}
    assert find_shared_columns([document for document in found if document is not None]) is None


@pytest.mark.parametrize(
    "tokens", ["unknown mail", "mail  graph", "mail\tgraph", "\nmail", "mail\n\ngraph", "mail ", ""]
)
def test_documents_that_cannot_be_encoded_are_read_as_stored(
    tantivy_engine: Engine, corpus: AnalysedCorpus, tokens: str
) -> None:
    unencodable = replace(corpus.documents[0], tokens=tokens)
    documents = [unencodable, replace(corpus.documents[1], version="of another kind"), *corpus.documents[2:]]
    reader = write_index(tantivy_engine, replace(corpus, documents=documents))
    ids = [document.document.id for document in documents]
    found = reader.fetch_lazy(ids)
    assert found == reader.fetch(ids)
    assert [type(document) is LazyDocument for document in found[:3]] == [tokens == "", False, True]


def test_an_index_without_a_forward_index_is_readable(tmp_path: Path, corpus: AnalysedCorpus) -> None:
    with open_engine(str(tmp_path)) as engine:
        write_index(engine, corpus)
    for path in tmp_path.rglob("forward_*"):
        path.unlink()
    info = next(tmp_path.rglob("info.json"))
    ids = list(corpus.documents_by_id())
    saved = orjson.loads(info.read_bytes())
    saved["files"] = {name: size for name, size in saved["files"].items() if "forward_" not in name}
    info.write_bytes(orjson.dumps(saved))
    remove_checksums(info.parent)
    with open_engine(str(tmp_path)) as engine:
        reader = engine.open_reader("papers")
        found = reader.fetch_lazy(ids)
        assert (
            found == reader.fetch(ids)
            and find_shared_columns([document for document in found if document is not None]) is None
        )


def test_an_empty_corpus_has_no_documents(tantivy_engine: Engine) -> None:
    empty = weigh_drafts([])
    reader = write_index(tantivy_engine, empty)
    assert reader.fetch_lazy(["a"]) == [None]
