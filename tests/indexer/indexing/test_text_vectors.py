"""Search by meaning in the embedded engine: vectors are made from the texts of documents that bring none."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from indexer.documents import Document
from indexer.engines import open_engine
from indexer.engines.base import Engine, Reader
from indexer.engines.query_tree import FacetTerms
from indexer.engines.search_types import Groups, Selection, TextQuery, VectorQuery
from indexer.errors import BadInput, BadParameter
from indexer.indexing.build import AnalysisOptions, build_index
from indexer.indexing.update import add_documents, delete_documents, refresh_index
from indexer.model.query_words import list_lemmas, split_query
from indexer.vectors import TEXT_VECTOR_SETTING, VECTOR_SETTING, encode_vector
from tests.support.corpora.meaning_corpus import FIELDS, QUERIES, UNRELATED_QUERY, get_field, make_meaning_documents

INDEX = "meanings"


@pytest.fixture(scope="module")
def shared_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An engine with the planted corpus, which no test changes."""
    with open_engine(str(tmp_path_factory.mktemp("meanings"))) as engine:
        build_index(make_meaning_documents(), engine, INDEX, processes=1)
        yield engine


@pytest.fixture
def reader(shared_engine: Engine) -> Reader:
    return shared_engine.open_reader(INDEX)


def find_ids(reader: Reader, text: str, k: int = 10, groups: Groups = None) -> list[str]:
    return [hit.id for hit in reader.search(Selection(), size=k, vector=TextQuery(text, k), groups=groups).hits]


def read_words(reader: Reader, id: str) -> set[str]:
    (document,) = reader.fetch([id])
    assert document is not None
    return set(document.tokens.split())


@pytest.mark.parametrize("field", QUERIES)
def test_documents_are_found_without_a_shared_word(reader: Reader, field: str) -> None:
    found = reader.search(Selection(), size=10, vector=TextQuery(QUERIES[field], 10)).hits
    assert found and {get_field(hit.id) for hit in found} == {field}
    lemmas = set(list_lemmas(split_query(QUERIES[field], reader.model)))
    assert all(lemmas.isdisjoint(read_words(reader, hit.id)) for hit in found)
    assert all(hit.score > 0.6 and hit.found_by == {"vector"} for hit in found)


def test_words_and_meaning_together_say_what_found_a_hit(reader: Reader) -> None:
    both = reader.search(Selection(words=("telescope",)), size=50, vector=TextQuery("stargazing", 10)).hits
    assert {part for hit in both for part in hit.found_by} == {"words", "vector"}
    for hit in both:
        assert ("telescope" in read_words(reader, hit.id)) == ("words" in hit.found_by)


@pytest.mark.parametrize("text", [UNRELATED_QUERY, "qwertyuiop asdfghjkl", "", "...", "日本"])
def test_a_text_that_is_near_nothing_finds_nothing(reader: Reader, text: str) -> None:
    result = reader.search(Selection(), vector=TextQuery(text, 10), facets=["field"])
    assert (result.total, result.hits) == (0, ())
    words = reader.search(Selection(words=("violin",)), size=5, vector=TextQuery(text, 10))
    assert words.total > 5 and all(hit.found_by == {"words"} for hit in words.hits)


def test_filters_limit_what_is_found(reader: Reader) -> None:
    wanted = Selection(facets={"field": ["music", "football"]})
    assert not reader.search(wanted, vector=TextQuery("stargazing", 10)).hits
    for selection, limit in ((wanted, None), (Selection(), FacetTerms("field", ("music",)))):
        result = reader.search(selection, size=10, vector=TextQuery("songs", 10, filter=limit), facets=["field"])
        assert dict(result.facets["field"]) == {"music": 10}


def test_vectors_are_no_part_of_the_documents(reader: Reader) -> None:
    assert TEXT_VECTOR_SETTING in reader.info.settings and VECTOR_SETTING not in reader.info.settings
    assert all(document.document.vector is None for document in reader.scan())


def test_a_vector_of_another_model_is_refused(reader: Reader) -> None:
    dimensions = reader.info.settings[TEXT_VECTOR_SETTING]
    assert isinstance(dimensions, int)
    with pytest.raises(BadParameter, match="made from the words of its texts"):
        reader.search(Selection(), vector=VectorQuery(encode_vector([1.0] * dimensions), 10))
    with pytest.raises(BadParameter, match="k must be"):
        reader.search(Selection(), vector=TextQuery("songs", 0))


def test_documents_with_vectors_can_only_be_searched_by_vectors(engine: Engine) -> None:
    documents = [replace(one, vector=encode_vector([1.0, n])) for n, one in enumerate(make_meaning_documents(5))]
    build_index(documents, engine, INDEX, processes=1)
    reader = engine.open_reader(INDEX)
    assert TEXT_VECTOR_SETTING not in reader.info.settings
    with pytest.raises(BadParameter, match="brought their own vectors"):
        reader.search(Selection(), vector=TextQuery("songs", 10))


def test_elasticsearch_has_no_search_by_meaning(elasticsearch_engine: Engine) -> None:
    build_index(make_meaning_documents(5), elasticsearch_engine, INDEX, processes=1)
    with pytest.raises(BadParameter, match="cannot be searched by meaning"):
        elasticsearch_engine.open_reader(INDEX).search(Selection(), vector=TextQuery("songs", 10))


def test_documents_with_vectors_cannot_be_added(tantivy_engine: Engine) -> None:
    build_index(make_meaning_documents(5), tantivy_engine, INDEX, processes=1)
    dimensions = tantivy_engine.open_reader(INDEX).info.settings[TEXT_VECTOR_SETTING]
    assert isinstance(dimensions, int)
    vector = encode_vector([1.0] * dimensions)
    with pytest.raises(BadInput, match="the index was built without vectors"):
        add_documents([Document("new", text="The violin.", vector=vector)], tantivy_engine, INDEX)


def test_added_documents_are_found_and_deleted_ones_are_not(tantivy_engine: Engine) -> None:
    build_index(make_meaning_documents(10), tantivy_engine, INDEX, processes=1)
    added = [
        Document("new", "Moons", "The telescope and the galaxy and the comet and the nebula."),
        Document("music-1", "Moons", "The planet and the eclipse and the comet and the orbit."),
        Document("unknown", "qwertyuiop", "asdfghjkl zxcvbnm"),
    ]
    add_documents(added, tantivy_engine, INDEX)
    assert {"new", "music-1"} <= set(find_ids(tantivy_engine.open_reader(INDEX), "stargazing", 30))
    assert "music-1" not in find_ids(tantivy_engine.open_reader(INDEX), "songs", 30)
    delete_documents(tantivy_engine, INDEX, ["new", "astronomy-1"])
    found = find_ids(tantivy_engine.open_reader(INDEX), "stargazing", 30)
    assert "music-1" in found and not {"new", "astronomy-1"} & set(found)
    refresh_index(tantivy_engine, INDEX, processes=1)
    found = find_ids(tantivy_engine.open_reader(INDEX), "stargazing", 30)
    assert "music-1" in found and not {"new", "astronomy-1"} & set(found)


def test_a_replaced_document_of_a_build_is_found_by_its_last_text(tantivy_engine: Engine) -> None:
    changed = Document("music-1", "Moons", "The planet and the eclipse and the comet and the orbit.")
    build_index([*make_meaning_documents(10), changed], tantivy_engine, INDEX, processes=1)
    assert "music-1" in find_ids(tantivy_engine.open_reader(INDEX), "stargazing", 30)
    assert "music-1" not in find_ids(tantivy_engine.open_reader(INDEX), "songs", 30)


@pytest.mark.parametrize("processes", [1, 2])
def test_the_same_documents_give_the_same_bytes(tmp_path: Path, processes: int) -> None:
    contents = []
    for name, used in (("a", 1), ("b", processes)):
        with open_engine(str(tmp_path / name)) as engine:
            build_index(make_meaning_documents(20), engine, INDEX, processes=used)
        contents.append({p.name: p.read_bytes() for p in (tmp_path / name).rglob("vector*") if p.is_file()})
    assert set(contents[0]) == {"vectors.usearch", "vector_documents.npy"}
    assert contents[0] == contents[1]


def test_a_tiny_index_is_searched_by_meaning(tantivy_engine: Engine) -> None:
    fields = list(FIELDS)[:5]
    build_index(make_meaning_documents(1, fields), tantivy_engine, INDEX, processes=1)
    reader = tantivy_engine.open_reader(INDEX)
    for field in fields:
        assert find_ids(reader, QUERIES[field])[:1] == [f"{field}-0"]
    assert find_ids(reader, UNRELATED_QUERY) == []


def test_documents_without_a_known_word_are_not_found(tantivy_engine: Engine) -> None:
    strange = [Document(f"strange-{n}", text=f"qwertyuiop{n} asdfghjkl{n}") for n in range(3)]
    build_index([*strange, *make_meaning_documents(2)], tantivy_engine, INDEX, processes=1)
    reader = tantivy_engine.open_reader(INDEX)
    assert not any(id.startswith("strange") for query in QUERIES.values() for id in find_ids(reader, query, 20))
    build_index(strange, tantivy_engine, "strange", processes=1)
    assert find_ids(tantivy_engine.open_reader("strange"), "stargazing") == []
    add_documents([Document("known", text="telescope")], tantivy_engine, "strange")
    assert find_ids(tantivy_engine.open_reader("strange"), "telescope") == []


def test_another_language_is_searched_by_its_topics(tantivy_engine: Engine) -> None:
    """Words of a field stand beside each other in some documents, so that others are found too."""
    draw = random.Random(1)
    words = {field: [f"{field}{n}wort" for n in range(100)] for field in ("sterne", "brote")}
    documents = [
        Document(f"{field}-{n}", text=" ".join(draw.sample(own, 25)))
        for n in range(150)
        for field, own in words.items()
    ]
    build_index(documents, tantivy_engine, INDEX, AnalysisOptions(language="de"), processes=1)
    reader = tantivy_engine.open_reader(INDEX)
    assert reader.model.word_space is None
    found = find_ids(reader, "sterne1wort sterne2wort", 50)
    assert found and {get_field(id) for id in found} == {"sterne"}
    searched = {"sterne1wort", "sterne2wort"}
    assert any(searched.isdisjoint(read_words(reader, id)) for id in found)


def test_hidden_documents_do_not_change_what_a_limited_caller_finds(tantivy_engine: Engine) -> None:
    """A word that only hidden documents have counts as a word that the index does not have."""
    public = make_meaning_documents(30)
    hidden = [
        Document(f"hidden-{n}", text="zorblax the violin and the melody and the opera", acl=("staff",))
        for n in range(9)
    ]
    build_index([*public, *hidden], tantivy_engine, INDEX, processes=1)
    reader = tantivy_engine.open_reader(INDEX)
    guests = frozenset({"guests"})
    assert find_ids(reader, "zorblax") != []
    assert find_ids(reader, "zorblax", groups=guests) == find_ids(reader, "qwertyuiop", groups=guests) == []
    assert find_ids(reader, "zorblax stargazing", groups=guests) == find_ids(
        reader, "qwertyuiop stargazing", groups=guests
    )
    found = find_ids(reader, "songs", 50, groups=guests)
    assert found and not any(id.startswith("hidden") for id in found)
    assert "hidden" in {get_field(id) for id in find_ids(reader, "violin melody", 50)}
