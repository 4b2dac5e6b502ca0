"""The vectors of the embedded engine: exact for limited callers, close to exact for all, the same in every build."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.documents import AnalysedDocument
from indexer.engines import open_engine
from indexer.engines.base import Engine, Reader
from indexer.engines.embedded import vector_search
from indexer.engines.embedded.delta import load_delta
from indexer.engines.embedded.epoch_builder import EmbeddedBuild
from indexer.engines.embedded.vectors import vector_index
from indexer.engines.embedded.vectors.vector_index import VECTORS_FILE, load_vector_indexes, make_row
from indexer.engines.search_types import Selection, VectorQuery
from indexer.errors import CorruptIndex
from indexer.vectors import VECTOR_SETTING, encode_vector
from tests.support.corpora.engine_corpus import AnalysedCorpus, make_draft, weigh_drafts
from tests.support.neighbourhood_oracle import is_readable
from tests.support.vector_oracle import assert_nearest, make_random_vectors, rank_by_vector

GROUPS = ("a", "b", "c")
DIMENSIONS = 32


def write_vectors(engine: Engine, corpus: AnalysedCorpus, dimensions: int = DIMENSIONS) -> Reader:
    info = corpus.make_info("papers")
    with engine.start_build("papers") as build:
        build.write(corpus.documents)
        build.commit(corpus.model, replace(info, settings={**info.settings, VECTOR_SETTING: dimensions}))
    return engine.open_reader("papers")


def find_epoch(engine: Engine) -> Path:
    folder = Path(engine.address) / "papers"
    return folder / (folder / "current").read_text()


def make_vector_corpus(count: int) -> AnalysedCorpus:
    vectors = make_random_vectors(count, DIMENSIONS, seed=1)
    return weigh_drafts(
        [
            make_draft(f"d{n:05d}", ["mail"], vector=vector, acl=("a",) if n % 3 else ())
            for n, vector in enumerate(vectors)
        ]
    )


@pytest.fixture(scope="module")
def large_corpus() -> AnalysedCorpus:
    return make_vector_corpus(2500)


def test_the_graph_of_neighbours_finds_nearly_all_of_the_nearest(
    tantivy_engine: Engine, large_corpus: AnalysedCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = write_vectors(tantivy_engine, large_corpus)
    searched = count_graph_searches(monkeypatch)
    found = 0
    queries = make_random_vectors(30, DIMENSIONS, seed=2)
    for query in queries:
        nearest = {id for id, _ in rank_by_vector(large_corpus.documents, query)[:10]}
        found += len(nearest & {hit.id for hit in reader.search(Selection(), vector=VectorQuery(query, 10)).hits})
    assert found >= 0.97 * 10 * len(queries)
    assert len(searched) == len(queries)


def test_limited_callers_never_search_the_graph_that_has_hidden_documents(
    tantivy_engine: Engine, large_corpus: AnalysedCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = write_vectors(tantivy_engine, large_corpus)
    searched = count_graph_searches(monkeypatch)
    for query in make_random_vectors(5, DIMENSIONS, seed=3):
        for groups in (frozenset[str](), frozenset({"a"})):
            result = reader.search(Selection(), size=20, vector=VectorQuery(query, 20), groups=groups)
            readable = [d for d in large_corpus.documents if is_readable(d, groups)]
            assert_nearest([(hit.id, hit.score) for hit in result.hits], rank_by_vector(readable, query), 20)
    assert searched == []


def test_removed_documents_leave_their_places_to_the_next(
    tantivy_engine: Engine, large_corpus: AnalysedCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = write_vectors(tantivy_engine, large_corpus)
    searched = count_graph_searches(monkeypatch)
    (query,) = make_random_vectors(1, DIMENSIONS, seed=4)
    ranked = rank_by_vector(large_corpus.documents, query)
    tantivy_engine.delete_documents("papers", [id for id, _ in ranked[:600]])
    result = reader.search(Selection(), size=10, vector=VectorQuery(query, 10))
    assert_nearest([(hit.id, hit.score) for hit in result.hits], ranked[600:], 10, tolerance=0.02)
    assert len(searched) == 1


def count_graph_searches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that grows with each search of the graph, which is then used for any index."""
    searched: list[int] = []
    find_candidates = vector_search.VectorIndex.find_candidates

    def find_and_count(index: vector_search.VectorIndex, query: object, count: int) -> object:
        searched.append(count)
        return find_candidates(index, query, count)  # type: ignore[arg-type]

    monkeypatch.setattr(vector_search.VectorIndex, "find_candidates", find_and_count)
    return searched


def test_two_builds_of_the_same_documents_have_the_same_bytes(tmp_path: Path, large_corpus: AnalysedCorpus) -> None:
    contents = []
    for name, documents in (("one", large_corpus.documents), ("two", large_corpus.documents[::-1])):
        with open_engine(str(tmp_path / name)) as engine:
            write_vectors(engine, replace(large_corpus, documents=list(documents)))
            contents.append((find_epoch(engine) / "graph" / VECTORS_FILE).read_bytes())
    assert contents[0] == contents[1]


def test_the_file_begins_with_the_vectors_in_the_order_of_documents(tantivy_engine: Engine) -> None:
    """The library's layout, on which exact searches depend."""
    vectors = make_random_vectors(7, DIMENSIONS, seed=5)
    corpus = weigh_drafts(
        [make_draft(f"d{n}", ["mail"], vector=vectors[n] if n != 3 else None) for n in (5, 0, 6, 3, 2, 1, 4)]
    )
    write_vectors(tantivy_engine, corpus)
    (index,) = load_vector_indexes(find_epoch(tantivy_engine) / "graph")
    assert index.documents.tolist() == [0, 1, 2, 4, 5, 6]
    np.testing.assert_array_equal(index.rows, [make_row(vectors[n]) for n in index.documents.tolist()])


def test_a_document_written_twice_has_its_last_vector(tantivy_engine: Engine) -> None:
    first, second = encode_vector([1.0, 0.0]), encode_vector([0.0, 1.0])
    corpus = weigh_drafts([make_draft("d", ["mail"], vector=second), make_draft("e", ["mail"])])
    written = [make_draft("d", ["mail"], vector=first), *corpus.documents]
    with tantivy_engine.start_build("papers") as build:
        build.write(weigh_drafts(written).documents)
        build.commit(corpus.model, replace(corpus.make_info("papers"), settings={VECTOR_SETTING: 2}))
    reader = tantivy_engine.open_reader("papers")
    assert [(hit.id, hit.score) for hit in reader.search(Selection(), vector=VectorQuery(second, 5)).hits] == [("d", 1)]


def test_many_vectors_are_in_several_files_and_found_in_all(
    tantivy_engine: Engine, large_corpus: AnalysedCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    (query,) = make_random_vectors(1, DIMENSIONS, seed=4)
    ranked = rank_by_vector(large_corpus.documents, query)
    monkeypatch.setattr(vector_index, "GRAPH_BYTES", 1 << 19)
    reader = write_vectors(tantivy_engine, large_corpus)
    indexes = load_vector_indexes(find_epoch(tantivy_engine) / "graph")
    assert [len(index) > vector_search.SMALL_INDEX_ROWS for index in indexes] == [True, False]
    numbers = np.concatenate([index.documents for index in indexes])
    assert numbers.tolist() == list(range(len(large_corpus.documents)))
    searched = count_graph_searches(monkeypatch)
    result = reader.search(Selection(), size=10, vector=VectorQuery(query, 10))
    assert len(searched) == 1
    assert_nearest([(hit.id, hit.score) for hit in result.hits], ranked, 10, tolerance=0.02)


def test_only_an_index_with_vectors_has_files_of_them(tantivy_engine: Engine) -> None:
    write_vectors(tantivy_engine, weigh_drafts([make_draft("d", ["mail"])]))
    assert not [path for path in find_epoch(tantivy_engine).rglob("*") if "vector" in path.name]


def test_a_cut_or_damaged_file_of_vectors_is_reported(tantivy_engine: Engine) -> None:
    write_vectors(tantivy_engine, make_vector_corpus(30))
    path = find_epoch(tantivy_engine) / "graph" / VECTORS_FILE
    content = path.read_bytes()
    for damaged in (content[:-1], content[:100] + b"?" + content[101:]):
        path.write_bytes(damaged)
        with open_engine(tantivy_engine.address) as engine, pytest.raises(CorruptIndex, match="papers"):
            engine.open_reader("papers")
    path.unlink()
    with open_engine(tantivy_engine.address) as engine, pytest.raises(CorruptIndex, match="papers"):
        engine.open_reader("papers")


def test_a_build_may_find_documents_by_other_vectors_than_their_own(tantivy_engine: Engine) -> None:
    corpus = weigh_drafts([make_draft("long", ["mail mail mail"]), make_draft("short", ["mail"])])

    def find_vector(analysed: AnalysedDocument) -> bytes:
        return encode_vector([1.0, float(len(analysed.tokens.split()))])

    with tantivy_engine.start_build("papers") as build:
        assert isinstance(build, EmbeddedBuild)
        build.find_vector = find_vector
        build.write(corpus.documents)
        build.commit(corpus.model, replace(corpus.make_info("papers"), settings={VECTOR_SETTING: 2}))
    reader = tantivy_engine.open_reader("papers")
    hits = reader.search(Selection(), vector=VectorQuery(encode_vector([1.0, 1.0]), 2)).hits
    assert [hit.id for hit in hits] == ["short", "long"]
    assert [hit.document.document.vector for hit in hits] == [None, None]


@st.composite
def draw_worlds(draw: st.DrawFn) -> tuple[list[AnalysedDocument], list[AnalysedDocument], list[str]]:
    """Return documents of a build, documents written after it, and ids deleted after that."""
    numbers = st.integers(-3, 3)
    vectors = st.none() | st.lists(numbers, min_size=3, max_size=3).filter(any).map(encode_vector)
    acls = st.lists(st.sampled_from(GROUPS), max_size=2, unique=True).map(tuple)

    def draw_drafts(min_size: int) -> list[AnalysedDocument]:
        names = draw(st.lists(st.integers(0, 15), min_size=min_size, max_size=12, unique=True))
        return [make_draft(f"d{name:02d}", ["mail"], vector=draw(vectors), acl=draw(acls)) for name in names]

    built = [make_draft("d99", ["mail"], vector=encode_vector([1, 1, 1])), *draw_drafts(0)]
    written = draw_drafts(0)
    deleted = draw(st.lists(st.integers(0, 15), max_size=4).map(lambda names: [f"d{name:02d}" for name in names]))
    return built, written, deleted


@settings(max_examples=40, deadline=None)
@given(
    world=draw_worlds(),
    query=st.lists(st.integers(-3, 3), min_size=3, max_size=3).filter(any).map(encode_vector),
    k=st.integers(1, 20),
    groups=st.frozensets(st.sampled_from(GROUPS)),
)
def test_a_limited_caller_gets_what_brute_force_finds_in_the_readable_documents_alone(
    tmp_path_factory: pytest.TempPathFactory,
    world: tuple[list[AnalysedDocument], list[AnalysedDocument], list[str]],
    query: bytes,
    k: int,
    groups: frozenset[str],
) -> None:
    built, written, deleted = world
    folder = tmp_path_factory.mktemp("world")
    corpus = weigh_drafts(built)
    with open_engine(str(folder)) as engine:
        reader = write_vectors(engine, corpus, dimensions=3)
        engine.add_documents("papers", weigh_drafts(written).documents)
        engine.delete_documents("papers", deleted)
        live = {d.document.id: d for d in (*built, *written) if d.document.id not in deleted}
        for caller in (groups, None):
            result = reader.search(Selection(), size=100, vector=VectorQuery(query, k), groups=caller)
            readable = [d for d in live.values() if is_readable(d, caller)]
            assert_nearest([(hit.id, hit.score) for hit in result.hits], rank_by_vector(readable, query), k)
            assert result.total == len(result.hits)
    shutil.rmtree(folder)


def test_filters_follow_deletions_and_additions(tantivy_engine: Engine) -> None:
    vectors = make_random_vectors(20, DIMENSIONS, seed=6)
    corpus = weigh_drafts(
        [
            make_draft(f"d{n:02d}", ["mail"], vector=v, facets={"s": ("even", "odd")[n % 2 :][:1]})
            for n, v in enumerate(vectors)
        ]
    )
    reader = write_vectors(tantivy_engine, corpus)
    tantivy_engine.delete_documents("papers", ["d00", "d01"])
    moved = replace(corpus.documents[3].document, facets={"s": ("even",)})
    tantivy_engine.add_documents("papers", [replace(corpus.documents[3], document=moved)])
    result = reader.search(Selection(facets={"s": ["even"]}), size=50, vector=VectorQuery(vectors[0], 50))
    assert sorted(hit.id for hit in result.hits) == sorted([f"d{n:02d}" for n in range(2, 20, 2)] + ["d03"])


def test_a_delta_of_a_former_version_has_no_vectors(tantivy_engine: Engine) -> None:
    corpus = make_vector_corpus(30)
    reader = write_vectors(tantivy_engine, corpus)
    tantivy_engine.add_documents("papers", weigh_drafts([make_draft("new", ["mail"])]).documents)
    path = find_epoch(tantivy_engine) / "delta"
    with np.load(path) as arrays:
        former = {name: arrays[name] for name in arrays.files if not name.startswith("vector")}
    with path.open("wb") as stream:
        np.savez(stream, allow_pickle=False, **former)
    added = load_delta(path).added
    assert list(added) == ["new"] and added["new"].vector_row is None
    assert reader.info.settings[VECTOR_SETTING] == DIMENSIONS
