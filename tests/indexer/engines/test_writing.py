"""Writing, replacing and deleting documents: what goes into an index comes out of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from indexer.documents import AnalysedDocument, Document
from indexer.engines.base import Engine
from indexer.engines.search_types import NeighbourhoodRequest, Selection
from indexer.errors import BadInput, BadParameter, UnknownIndex
from tests.support.corpora.engine_corpus import (
    AnalysedCorpus,
    make_corpus,
    make_draft,
    weigh_document,
    weigh_drafts,
    write_index,
)
from tests.support.neighbourhood_oracle import collect_edges

UNUSUAL_IDS = (
    "https://example.org/a/b?c=d&e=f#g",
    "with space",
    "..",
    "_leading",
    "a/b/c",
    "quote\"and'tick",
    "back\\slash",
    "100%",
    "naïve-日本語-🎉",
    "new\nline",
    "x" * 512,
    "*",
    "a,b",
    "{json: [1]}",
)


def is_same_document(read: AnalysedDocument | None, written: AnalysedDocument) -> bool:
    """Return whether the documents are equal; require equal weights, to single precision."""
    assert read is not None
    np.testing.assert_allclose(read.weights, written.weights, rtol=1e-6)
    return replace(read, weights=written.weights) == written


def test_a_document_comes_back_as_it_was_written(engine: Engine, corpus: AnalysedCorpus) -> None:
    reader = write_index(engine, corpus)
    for written in corpus.documents:
        assert is_same_document(reader.fetch([written.document.id])[0], written)


def test_the_model_comes_back_as_it_was_written(engine: Engine, corpus: AnalysedCorpus) -> None:
    model = write_index(engine, corpus).model
    assert model.to_bytes() == corpus.model.to_bytes()


@pytest.mark.slow
def test_a_model_of_many_megabytes_comes_back_whole(engine: Engine, corpus: AnalysedCorpus) -> None:
    noise = np.random.default_rng(1).integers(0, 2**31, 3_000_000, dtype=np.int32)
    model = replace(corpus.model, phrase_word_ids=noise)
    with engine.start_build("papers") as building:
        building.write(corpus.documents)
        building.commit(model, corpus.make_info("papers"))
    np.testing.assert_array_equal(engine.open_reader("papers").model.phrase_word_ids, noise)


def test_index_info_comes_back_as_it_was_written(engine: Engine, corpus: AnalysedCorpus) -> None:
    info = write_index(engine, corpus).info
    assert info == corpus.make_info("papers")
    assert engine.list_indexes() == ["papers"]


def test_an_added_document_is_there_when_add_returns(engine: Engine, corpus: AnalysedCorpus) -> None:
    reader = write_index(engine, corpus)
    new = weigh_document(make_draft("new", ["web graph of mail"], ["web graph", "mail"]), corpus.model)
    assert engine.add_documents("papers", [new]).count == 1
    assert is_same_document(reader.fetch(["new"])[0], new)
    assert "new" in {hit.id for hit in reader.search(Selection(words=("mail",)), size=100).hits}
    assert "new" in [analysed.document.id for analysed in reader.scan()]
    neighbourhood = reader.find_neighbourhood(NeighbourhoodRequest({"web graph": 1.0}, {"mail": 1.0}, (), 1000))
    assert "new" in neighbourhood.ids
    assert collect_edges(neighbourhood)["mail", "new"] == pytest.approx(new.weights[1], rel=0.1)
    assert neighbourhood.degrees[neighbourhood.ids.index("new")] == pytest.approx(new.degree)
    assert neighbourhood.titles[neighbourhood.ids.index("new")] == "Title of new"


def test_a_replaced_document_leaves_nothing_behind(engine: Engine, corpus: AnalysedCorpus) -> None:
    reader = write_index(engine, corpus)
    old = next(d for d in corpus.documents if {"graph", "mail"} <= set(d.phrases))
    name = old.document.id
    for word in ("topic model", "model"):
        newer = weigh_document(make_draft(name, [f"{word} alone"], [word], facets={"venue": ("New",)}), corpus.model)
        assert engine.add_documents("papers", [newer]).count == 1
    assert is_same_document(reader.fetch([name])[0], newer)
    assert name not in {hit.id for hit in reader.search(Selection(words=("mail",)), size=100).hits}
    assert reader.search(Selection(facets={"venue": ["New"]}), facets=["venue"]).facets == {"venue": {"New": 1}}
    neighbourhood = reader.find_neighbourhood(NeighbourhoodRequest({"graph": 1.0}, {"mail": 1.0}, (name,), 1000))
    assert neighbourhood.ids[0] == name and (0 not in neighbourhood.columns)
    assert engine.open_reader("papers").info.documents == len(corpus.documents)


def test_a_deleted_document_is_gone_from_every_read(engine: Engine, corpus: AnalysedCorpus) -> None:
    reader = write_index(engine, corpus)
    gone = next(d for d in corpus.documents if {"graph", "mail"} <= set(d.phrases)).document.id
    assert engine.delete_documents("papers", [gone, "never there", gone]).count == 1
    assert engine.delete_documents("papers", [gone]).count == 0
    assert reader.fetch([gone]) == [None]
    assert gone not in {hit.id for hit in reader.search(Selection(), size=100).hits}
    assert gone not in {analysed.document.id for analysed in reader.scan()}
    request = NeighbourhoodRequest({"graph": 1.0}, {"mail": 1.0}, (gone,), 1000)
    assert gone not in reader.find_neighbourhood(request).ids


def test_drift_counts_added_replaced_and_deleted_documents(engine: Engine, corpus: AnalysedCorpus) -> None:
    write_index(engine, corpus)
    ids = [analysed.document.id for analysed in corpus.documents]
    engine.add_documents(
        "papers",
        [weigh_document(make_draft(name, ["mail"], ["mail"]), corpus.model) for name in ("new", ids[0], ids[1])],
    )
    engine.add_documents(
        "papers", [weigh_document(make_draft(name, ["graph"], ["graph"]), corpus.model) for name in ("new", ids[0])]
    )
    engine.delete_documents("papers", [ids[2], ids[1]])
    info = engine.open_reader("papers").info
    assert info.documents == len(ids) - 1
    assert info.drift == pytest.approx(4 / len(ids))
    assert info.epoch == "epoch-1"


def test_a_document_deleted_and_added_again_is_there(engine: Engine, corpus: AnalysedCorpus) -> None:
    reader = write_index(engine, corpus)
    first = corpus.documents[0]
    engine.delete_documents("papers", [first.document.id])
    engine.add_documents("papers", [first])
    assert is_same_document(reader.fetch([first.document.id])[0], first)
    assert [a.document.id for a in reader.scan()] == sorted(a.document.id for a in corpus.documents)


def test_an_id_written_twice_in_one_build_keeps_the_later_document(engine: Engine) -> None:
    drafts = [
        make_draft("a", ["mail"], ["mail"]),
        make_draft("b", ["mail graph"], ["graph"]),
        make_draft("a", ["graph"], ["graph"]),
    ]
    corpus = weigh_drafts(drafts)
    reader = write_index(engine, corpus)
    assert [analysed.document.id for analysed in reader.scan()] == ["a", "b"]
    assert is_same_document(reader.fetch(["a"])[0], corpus.documents[2])
    assert not len(reader.find_neighbourhood(NeighbourhoodRequest({"mail": 1.0}, {"mail": 1.0}, (), 9)).ids)


def test_adding_in_several_calls_and_none_at_all(engine: Engine, corpus: AnalysedCorpus) -> None:
    reader = write_index(engine, corpus)
    for i in range(3):
        engine.add_documents(
            "papers", [weigh_document(make_draft(f"new-{i}", ["web graph"], ["web graph"]), corpus.model)]
        )
    assert engine.add_documents("papers", []).count == 0
    assert engine.delete_documents("papers", []).count == 0
    assert all(found is not None for found in reader.fetch(["new-0", "new-1", "new-2"]))


def test_any_string_of_up_to_512_bytes_can_be_an_id(engine: Engine) -> None:
    corpus = make_corpus(ids=UNUSUAL_IDS)
    reader = write_index(engine, corpus)
    assert [a and a.document.id for a in reader.fetch(UNUSUAL_IDS)] == list(UNUSUAL_IDS)
    assert [a.document.id for a in reader.scan()] == sorted(UNUSUAL_IDS)
    everything = dict.fromkeys(corpus.model.phrases, 1.0)
    neighbourhood = reader.find_neighbourhood(NeighbourhoodRequest(everything, everything, UNUSUAL_IDS[:3], 100))
    assert tuple(neighbourhood.ids[:3]) == UNUSUAL_IDS[:3] and set(neighbourhood.ids) == set(UNUSUAL_IDS)
    engine.add_documents("papers", corpus.documents[:2])
    assert engine.delete_documents("papers", UNUSUAL_IDS).count == len(UNUSUAL_IDS)


@pytest.mark.parametrize("name", ["", "x" * 513, "é" * 257, "\ud800"])
def test_an_id_that_cannot_be_stored_is_refused_in_one_line(engine: Engine, corpus: AnalysedCorpus, name: str) -> None:
    with engine.start_build("papers") as building, pytest.raises(BadInput) as caught:
        building.write([make_draft(name, ["mail"], ["mail"])])
    assert "document id" in str(caught.value) and "\n" not in str(caught.value)


def test_an_impossible_id_is_simply_not_found(engine: Engine, corpus: AnalysedCorpus) -> None:
    reader = write_index(engine, corpus)
    assert reader.fetch(["", "x" * 600, "\ud800", "doc-0000"])[:3] == [None, None, None]
    assert engine.delete_documents("papers", ["", "\ud800"]).count == 0
    neighbourhood = reader.find_neighbourhood(NeighbourhoodRequest({"mail": 1.0}, {"mail": 1.0}, ("", "\ud800"), 3))
    assert len(neighbourhood.ids) == 3


def test_broken_unicode_in_a_text_does_not_stop_the_build(engine: Engine) -> None:
    document = Document(id="a", title="half \ud83d pair", text="an \udcff odd byte")
    reader = write_index(engine, weigh_drafts([AnalysedDocument(document, "half pair", ("half",), (), (), 0.0, "v")]))
    read = reader.fetch(["a"])[0]
    assert read is not None and read.document.text == "an ? odd byte" and read.document.title == "half ? pair"


@pytest.mark.parametrize("name", ["", "Upper", "with space", "../up", "a/b", "a.b", "x" * 101, "*", "_all", "ü"])
def test_a_bad_index_name_is_refused(engine: Engine, name: str) -> None:
    with pytest.raises(BadParameter):
        engine.open_reader(name)
    with pytest.raises(BadParameter):
        engine.start_build(name)


def test_a_missing_index_is_named_in_the_error(engine: Engine) -> None:
    for call in (
        lambda: engine.open_reader("papers"),
        lambda: engine.delete_index("papers"),
        lambda: engine.add_documents("papers", make_corpus(1).documents),
        lambda: engine.delete_documents("papers", ["a"]),
    ):
        with pytest.raises(UnknownIndex, match="papers"):
            call()
    assert engine.list_indexes() == []


def test_a_deleted_index_is_gone_and_its_name_free(engine: Engine, corpus: AnalysedCorpus) -> None:
    write_index(engine, corpus)
    write_index(engine, corpus, "papers-2")
    engine.delete_index("papers")
    assert engine.list_indexes() == ["papers-2"]
    with pytest.raises(UnknownIndex):
        engine.open_reader("papers")
    assert write_index(engine, corpus).fetch(["doc-0001"])[0] is not None
    assert engine.list_indexes() == ["papers", "papers-2"]


def test_an_empty_index_answers_everything_with_nothing(engine: Engine) -> None:
    reader = write_index(engine, weigh_drafts([]))
    assert reader.info.documents == 0
    assert reader.fetch(["a"]) == [None]
    assert list(reader.scan()) == []
    assert reader.search(Selection(words=("mail",)), facets=["venue"]).total == 0
    assert reader.search(Selection()).hits == ()
    neighbourhood = reader.find_neighbourhood(NeighbourhoodRequest({"mail": 1.0}, {"graph": 1.0}, ("a",), 10))
    assert not len(neighbourhood.ids) and neighbourhood.reached_count == 0 and len(neighbourhood.weights) == 0
    assert engine.add_documents("papers", [make_draft("a", ["mail"], [])]).count == 1
    assert reader.fetch(["a"])[0] is not None


def test_an_index_of_one_document(engine: Engine) -> None:
    corpus = weigh_drafts([make_draft("only", ["web graph", "mail"], ["web graph", "mail"])])
    reader = write_index(engine, corpus)
    neighbourhood = reader.find_neighbourhood(NeighbourhoodRequest({"web graph": 1.0}, {"mail": 1.0}, ("only",), 10))
    assert tuple(neighbourhood.ids) == ("only",) and neighbourhood.reached_count == 1
    assert collect_edges(neighbourhood) == pytest.approx(
        {("web graph", "only"): corpus.documents[0].weights[0], ("mail", "only"): corpus.documents[0].weights[1]},
        rel=1e-5,
    )


def test_documents_without_phrases_or_without_any_text(engine: Engine) -> None:
    corpus = weigh_drafts(
        [make_draft("bare", ["mail graph"]), make_draft("empty"), make_draft("full", ["mail"], ["mail"])]
    )
    reader = write_index(engine, corpus)
    assert all(is_same_document(reader.fetch([d.document.id])[0], d) for d in corpus.documents)
    neighbourhood = reader.find_neighbourhood(NeighbourhoodRequest({"mail": 1.0}, {"mail": 1.0}, ("empty", "bare"), 10))
    assert tuple(neighbourhood.ids) == ("empty", "bare", "full") and neighbourhood.degrees.tolist()[:2] == [0.0, 0.0]
    assert neighbourhood.columns.tolist() == [2]


def test_an_aborted_build_leaves_no_trace(engine: Engine, corpus: AnalysedCorpus) -> None:
    reader = write_index(engine, corpus)
    with engine.start_build("papers") as building:
        building.write(corpus.documents[:3])
    with engine.start_build("other") as building:
        building.write(corpus.documents[:3])
    assert reader.fetch(["doc-0050"])[0] is not None
    assert engine.open_reader("papers").info.documents == len(corpus.documents)
    assert engine.list_indexes() == ["papers"]
