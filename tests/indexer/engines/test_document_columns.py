"""Many documents fetched lightly are the same documents, whatever is asked of them and in whatever order."""

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
from tests.support.corpora.engine_corpus import Corpus, analyse, build, draft, weigh


def test_documents_fetched_lightly_are_the_same(papers: Reader, corpus: Corpus) -> None:
    ids = [*corpus.by_id(), "absent", "", "\ud800", next(iter(corpus.by_id()))]
    for groups in (None, frozenset({"board"}), frozenset[str]()):
        assert papers.fetch_lazy(ids, groups) == papers.fetch(ids, groups)
        assert papers.fetch(ids, groups) == papers.fetch_lazy(ids, groups)


def fetch_with_columns(engine: Engine, ids: list[str]) -> tuple[DocumentColumns, list[AnalysedDocument]]:
    found = [document for document in engine.open_reader("papers").fetch_lazy(ids) if document is not None]
    on = find_shared_columns(found)
    assert on is not None and on[1].tolist() == list(range(len(ids)))
    return on[0], found


def test_what_is_asked_of_all_is_what_each_holds(tantivy_engine: Engine, corpus: Corpus) -> None:
    reader, ids = build(tantivy_engine, corpus), list(corpus.by_id())[::-1]
    columns, light = fetch_with_columns(tantivy_engine, ids)
    whole = [document for document in reader.fetch(ids) if document is not None]
    some = np.array([7, 3, 3, 41])
    lined, lengths = columns.get_lines(some)
    lines = [
        [reader.model.word_ids[w] for w in line.split()] + [-1] for i in some for line in whole[i].tokens.split("\n")
    ]
    assert lined.tolist() == [number for line in lines for number in line]
    assert lengths.tolist() == [len(whole[i].tokens.split()) for i in some]
    rows, weights, sizes = columns.get_edges(some)
    assert [columns.get_phrase(row) for row in rows.tolist()] == [phrase for i in some for phrase in whole[i].phrases]
    assert weights.tolist() == [weight for i in some for weight in whole[i].weights]
    assert sizes.tolist() == [len(whole[i].phrases) for i in some]
    rows, salience, sizes = columns.get_salience(some)
    assert [(columns.get_phrase(row), value) for row, value in zip(rows.tolist(), salience.tolist(), strict=True)] == [
        (one.phrase, one.salience) for i in some for one in whole[i].salient
    ]
    assert [columns.find_row(columns.get_phrase(row)) for row in rows.tolist()] == rows.tolist()
    assert [document.tokens for document in light] == [document.tokens for document in whole]


def test_text_is_read_of_those_that_are_looked_at(tantivy_engine: Engine, corpus: Corpus, counted: list[int]) -> None:
    build(tantivy_engine, corpus)
    _, light = fetch_with_columns(tantivy_engine, list(corpus.by_id()))
    assert [(d.document.id, d.document.acl, d.version, d.degree) for d in light]
    assert "".join(document.tokens for document in light) and counted == []
    assert light[3].document.title == f"Title of {light[3].document.id}" and light[3].salient and light[5].phrases
    assert counted == [1, 1]
    assert all(document.document.text for document in light)
    assert counted[-1] == len(light) and len(counted) <= SINGLE_READ_SHARE * len(light) + 1


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many documents were read as stored, each time some were."""
    from indexer.engines.embedded import fulltext_index

    sizes: list[int] = []
    fetch = fulltext_index.fetch_documents

    def watched(searcher: object, schema: object, ids: list[str]) -> object:
        sizes.extend([len(ids)] if ids else [])
        return fetch(searcher, schema, ids)  # type: ignore[arg-type]

    monkeypatch.setattr(fulltext_index, "fetch_documents", watched)
    return sizes


def test_documents_that_changed_since_are_read_as_they_are_now(tantivy_engine: Engine, corpus: Corpus) -> None:
    reader, ids = build(tantivy_engine, corpus), list(corpus.by_id())
    new = [weigh(draft(name, ["unheard of words"], ["mail"]), corpus.model) for name in (ids[4], "new")]
    tantivy_engine.add_documents("papers", new)
    tantivy_engine.delete_documents("papers", [ids[5]])
    wanted = [*ids, "new"]
    found = reader.fetch_lazy(wanted)
    assert found == reader.fetch(wanted) and found[5] is None
    kinds = {type(document) for document in found if document is not None}
    assert kinds == {AnalysedDocument, LazyDocument}
    assert find_shared_columns([document for document in found if document is not None]) is None


@pytest.mark.parametrize(
    "tokens", ["unknown mail", "mail  graph", "mail\tgraph", "\nmail", "mail\n\ngraph", "mail ", ""]
)
def test_what_cannot_be_numbered_is_read_as_it_was_stored(tantivy_engine: Engine, corpus: Corpus, tokens: str) -> None:
    strange = replace(corpus.documents[0], tokens=tokens)
    documents = [strange, replace(corpus.documents[1], version="of another kind"), *corpus.documents[2:]]
    reader = build(tantivy_engine, replace(corpus, documents=documents))
    ids = [document.document.id for document in documents]
    found = reader.fetch_lazy(ids)
    assert found == reader.fetch(ids)
    assert [type(one) is LazyDocument for one in found[:3]] == [tokens == "", False, True]


def test_an_index_built_without_it_is_read_as_well(tmp_path: Path, corpus: Corpus) -> None:
    with open_engine(str(tmp_path)) as engine:
        build(engine, corpus)
    for path in tmp_path.rglob("forward_*"):
        path.unlink()
    info = next(tmp_path.rglob("info.json"))
    ids = list(corpus.by_id())
    told = orjson.loads(info.read_bytes())
    told["files"] = {name: size for name, size in told["files"].items() if "forward_" not in name}
    info.write_bytes(orjson.dumps(told))
    with open_engine(str(tmp_path)) as engine:
        reader = engine.open_reader("papers")
        found = reader.fetch_lazy(ids)
        assert found == reader.fetch(ids) and find_shared_columns([one for one in found if one is not None]) is None


def test_an_empty_corpus_has_no_documents(tantivy_engine: Engine) -> None:
    empty = analyse([])
    reader = build(tantivy_engine, empty)
    assert reader.fetch_lazy(["a"]) == [None]
