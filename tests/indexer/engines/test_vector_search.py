"""Search by a vector, alone and with words, on both engines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest

from indexer.documents import AnalysedDocument
from indexer.engines.attachment import ATTACHMENT_SETTING, Attachment
from indexer.engines.base import Engine, Reader
from indexer.engines.date_histogram import Interval
from indexer.engines.elasticsearch.engine import ElasticsearchEngine
from indexer.engines.query_tree import Bool, FacetTerms, Match, MatchAll, SortKey
from indexer.engines.search_types import SearchResult, Selection, VectorQuery
from indexer.errors import BadInput, BadParameter
from indexer.vectors import VECTOR_SETTING, decode_vector, encode_vector
from tests.support.corpora.engine_corpus import (
    AnalysedCorpus,
    make_corpus,
    make_draft,
    weigh_document,
    weigh_drafts,
    write_index,
)
from tests.support.neighbourhood_oracle import is_readable
from tests.support.vector_oracle import assert_nearest, make_random_vectors, rank_by_vector

DIMENSIONS = 8
QUERY = make_random_vectors(1, DIMENSIONS, seed=99)[0]
STAFF = frozenset({"staff"})
NOBODY: frozenset[str] = frozenset()


def add_vectors(corpus: AnalysedCorpus, seed: int = 7) -> AnalysedCorpus:
    """Return the corpus with a vector in every document but each fifth."""
    vectors = make_random_vectors(len(corpus.documents), DIMENSIONS, seed)
    documents = [
        set_vector(analysed, None if n % 5 == 4 else vector)
        for n, (analysed, vector) in enumerate(zip(corpus.documents, vectors, strict=True))
    ]
    return replace(corpus, documents=documents)


def set_vector(analysed: AnalysedDocument, vector: bytes | None) -> AnalysedDocument:
    document = replace(analysed.document, vector=vector)
    return replace(analysed, document=document, version=document.compute_version())


def write_vector_index(engine: Engine, corpus: AnalysedCorpus, name: str = "papers") -> Reader:
    info = corpus.make_info(name)
    with engine.start_build(name) as build:
        build.write(corpus.documents)
        build.commit(corpus.model, replace(info, settings={**info.settings, VECTOR_SETTING: DIMENSIONS}))
    return engine.open_reader(name)


@pytest.fixture(scope="module")
def vector_corpus() -> AnalysedCorpus:
    return add_vectors(make_corpus(60))


@pytest.fixture(scope="module")
def vectors(shared_engine: Engine, vector_corpus: AnalysedCorpus) -> Reader:
    """A reader of an index with vectors; do not write to it."""
    return write_vector_index(shared_engine, vector_corpus, "vectors")


def list_hits(result: SearchResult) -> list[tuple[str, float]]:
    return [(hit.id, hit.score) for hit in result.hits]


def has_word(analysed: AnalysedDocument, *words: str) -> bool:
    return not set(words).isdisjoint(analysed.tokens.split())


def test_a_document_keeps_its_vector(vectors: Reader, vector_corpus: AnalysedCorpus) -> None:
    by_id = vector_corpus.documents_by_id()
    for read in vectors.scan():
        assert read.document.vector == by_id[read.document.id].document.vector
        assert read.version == by_id[read.document.id].version
    assert [d.document.vector for d in vectors.fetch(list(by_id)) if d] == [d.document.vector for d in by_id.values()]


@pytest.mark.parametrize("k", [1, 10, 48, 200])
def test_the_hits_are_the_nearest_documents_with_a_vector(
    vectors: Reader, vector_corpus: AnalysedCorpus, k: int
) -> None:
    result = vectors.search(Selection(), size=1000, vector=VectorQuery(QUERY, k))
    assert_nearest(list_hits(result), rank_by_vector(vector_corpus.documents, QUERY), k)
    assert result.total == len(result.hits) == min(k, 48)
    assert {hit.found_by for hit in result.hits} == {frozenset({"vector"})}
    assert all(hit.document.document.id == hit.id for hit in result.hits)


def test_pages_of_the_nearest_laid_end_to_end_are_the_whole_list(vectors: Reader) -> None:
    query = VectorQuery(QUERY, 20)
    whole = list_hits(vectors.search(Selection(), size=20, vector=query))
    pages = [vectors.search(Selection(), size=7, offset=at, vector=query) for at in (0, 7, 14, 21)]
    assert [hit for page in pages for hit in list_hits(page)] == whole
    assert {page.total for page in pages} == {20}
    assert vectors.search(Selection(), size=0, vector=query).hits == ()


@pytest.mark.parametrize("groups", [STAFF, NOBODY, frozenset({"board", "guests"})])
def test_limited_groups_get_the_nearest_of_what_they_may_read(
    vectors: Reader, vector_corpus: AnalysedCorpus, groups: frozenset[str]
) -> None:
    result = vectors.search(Selection(), size=100, vector=VectorQuery(QUERY, 5), groups=groups, facets=["venue"])
    readable = [d for d in vector_corpus.documents if is_readable(d, groups)]
    assert_nearest(list_hits(result), rank_by_vector(readable, QUERY), 5)
    assert sum(result.facets["venue"].values()) == result.total == 5


@pytest.mark.parametrize(
    ("selection", "vector_filter"),
    [
        (Selection(facets={"venue": ["ACL"]}), None),
        (Selection(), FacetTerms("venue", ("ACL",))),
        (Selection(query=FacetTerms("venue", ("ACL",))), None),
        (Selection(query=Bool(filter=(FacetTerms("venue", ("ACL",)),))), None),
        (Selection(query=Bool(must_not=(FacetTerms("venue", ("ICML", "Le Monde")),))), None),
        (Selection(query=MatchAll()), FacetTerms("venue", ("ACL",))),
    ],
)
def test_filters_without_words_limit_the_nearest(
    vectors: Reader, vector_corpus: AnalysedCorpus, selection: Selection, vector_filter: FacetTerms | None
) -> None:
    result = vectors.search(selection, size=100, vector=VectorQuery(QUERY, 6, filter=vector_filter), groups=STAFF)
    allowed = [d for d in vector_corpus.documents if is_readable(d, STAFF) and d.document.facets["venue"] == ("ACL",)]
    assert_nearest(list_hits(result), rank_by_vector(allowed, QUERY), 6)


def test_dates_limit_the_nearest(vectors: Reader, vector_corpus: AnalysedCorpus) -> None:
    selection = Selection(date_from="2020-03", date_to="2020-06")
    result = vectors.search(selection, size=100, vector=VectorQuery(QUERY, 6))
    allowed = [d for d in vector_corpus.documents if "2020-03" <= str(d.document.date) < "2020-07"]
    assert_nearest(list_hits(result), rank_by_vector(allowed, QUERY), 6)


def check_fusion(
    result: SearchResult, words_ids: Sequence[str], vector_ids: Sequence[str], page: slice = slice(None)
) -> None:
    """Require the hits that reciprocal rank fusion of the two lists gives."""
    scores: Counter[str] = Counter()
    for ids in (words_ids, vector_ids):
        for rank, id in enumerate(ids, start=1):
            scores[id] += 1 / (60 + rank)  # type: ignore[assignment]
    ranked = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[page]
    assert [hit.id for hit in result.hits] == [id for id, _ in ranked]
    assert [hit.score for hit in result.hits] == pytest.approx([score for _, score in ranked])
    for hit in result.hits:
        assert ("words" in hit.found_by) == (hit.id in words_ids)
        assert ("vector" in hit.found_by) == (hit.id in vector_ids)


@pytest.mark.parametrize("groups", [None, STAFF, NOBODY])
@pytest.mark.parametrize(
    "selection",
    [
        Selection(words=("mail", "graph")),
        Selection(query=Match(("mail", "graph"))),
        Selection(words=("mail",), facets={"venue": ["ACL", "ICML"]}),
        Selection(words=("mail",), date_from="2020-04"),
    ],
)
def test_words_and_a_vector_are_fused_by_rank(
    vectors: Reader, selection: Selection, groups: frozenset[str] | None
) -> None:
    query = VectorQuery(QUERY, 10)
    filters = replace(selection, words=None, query=None)
    words_ids = [hit.id for hit in vectors.search(selection, size=100, groups=groups).hits]
    vector_ids = [hit.id for hit in vectors.search(filters, size=10, groups=groups, vector=query).hits]
    result = vectors.search(selection, size=100, groups=groups, vector=query)
    check_fusion(result, words_ids, vector_ids)
    assert result.total == len({*words_ids, *vector_ids})
    found = [hit.found_by for hit in result.hits]
    assert frozenset({"words", "vector"}) in found or not set(words_ids) & set(vector_ids)
    page = vectors.search(selection, size=5, offset=3, groups=groups, vector=query)
    check_fusion(page, words_ids, vector_ids, slice(3, 8))
    assert page.total == result.total


def test_filter_clauses_of_a_query_with_words_hold_for_the_vector_too(vectors: Reader) -> None:
    acl_only, no_tag = FacetTerms("venue", ("ACL",)), FacetTerms("tag", ("a",))
    ranking = Bool(must=(Match(("mail", "graph")),), filter=(acl_only,), must_not=(no_tag,))
    result = vectors.search(Selection(query=ranking), size=100, vector=VectorQuery(QUERY, 10))
    assert result.hits
    for hit in result.hits:
        assert hit.document.document.facets["venue"] == ("ACL",) and "a" not in hit.document.document.facets["tag"]


def test_a_filter_of_the_vector_does_not_hold_for_the_words(vectors: Reader, vector_corpus: AnalysedCorpus) -> None:
    query = VectorQuery(QUERY, 10, filter=FacetTerms("venue", ("ACL",)))
    result = vectors.search(Selection(words=("mail",)), size=100, vector=query)
    by_words = {hit.id for hit in result.hits if "words" in hit.found_by}
    assert by_words == {d.document.id for d in vector_corpus.documents if has_word(d, "mail")}
    assert {hit.document.document.facets["venue"] for hit in result.hits if "vector" in hit.found_by} == {("ACL",)}


def test_facets_and_dates_count_what_either_part_finds(vectors: Reader, vector_corpus: AnalysedCorpus) -> None:
    month = Interval.from_calendar_unit("month")
    options = {"facets": ["venue", "nothing"], "histograms": [month]}
    for selection in (Selection(), Selection(words=("mail",))):
        whole = vectors.search(selection, size=100, vector=VectorQuery(QUERY, 10))
        counted = vectors.search(selection, size=2, vector=VectorQuery(QUERY, 10), **options)  # type: ignore[arg-type]
        venues = Counter(hit.document.document.facets["venue"][0] for hit in whole.hits)
        assert dict(counted.facets["venue"]) == venues and counted.facets["nothing"] == {}
        assert sum(counted.histograms[month].values()) == counted.total == len(whole.hits)


def test_words_that_find_nothing_leave_the_nearest(vectors: Reader) -> None:
    for words in (("unheard",), ()):
        result = vectors.search(Selection(words=words), size=100, vector=VectorQuery(QUERY, 3))
        assert len(result.hits) == result.total == 3
        assert {hit.found_by for hit in result.hits} == {frozenset({"vector"})}
        assert result.hits[0].score == pytest.approx(1 / 61)


def test_equal_vectors_come_by_id(engine: Engine) -> None:
    twin = encode_vector([1.0, 2.0] * 4)
    names = [f"twin-{i:02d}" for i in range(20)]
    drafts = [make_draft(name, ["mail"], vector=twin) for name in reversed(names)]
    drafts.append(make_draft("other", ["graph"], vector=encode_vector([-1.0] * 8)))
    corpus = weigh_drafts(drafts)
    reader = write_vector_index(engine, corpus)
    result = reader.search(Selection(), size=100, vector=VectorQuery(twin, 21))
    assert [hit.id for hit in result.hits] == [*names, "other"]
    assert result.hits[0].score == pytest.approx(1.0, abs=1e-3)
    added = weigh_document(make_draft("twin-005", ["mail"], vector=encode_vector([2.0, 4.0] * 4)), corpus.model)
    engine.add_documents("papers", [added])
    result = reader.search(Selection(), size=100, vector=VectorQuery(twin, 30))
    assert [hit.id for hit in result.hits] == [*sorted([*names, "twin-005"]), "other"]


def test_documents_added_replaced_and_deleted_are_found_as_they_are_now(
    engine: Engine, vector_corpus: AnalysedCorpus
) -> None:
    reader = write_vector_index(engine, vector_corpus)
    ranked = [id for id, _ in rank_by_vector(vector_corpus.documents, QUERY)]
    documents = vector_corpus.documents_by_id()
    opposite = encode_vector((-decode_vector(QUERY)).tolist())
    moved = set_vector(documents[ranked[0]], opposite)
    without = set_vector(documents[ranked[1]], None)
    near = weigh_document(make_draft("near", ["mail"], vector=QUERY, acl=("staff",)), vector_corpus.model)
    plain = weigh_document(make_draft("plain", ["mail"]), vector_corpus.model)
    engine.add_documents("papers", [moved, without, near, plain])
    engine.delete_documents("papers", [ranked[2]])
    now = documents | {d.document.id: d for d in (moved, without, near, plain)}
    del now[ranked[2]]
    for groups in (None, STAFF, NOBODY):
        for k in (5, 200):
            result = reader.search(Selection(), size=1000, vector=VectorQuery(QUERY, k), groups=groups)
            readable = [d for d in now.values() if is_readable(d, groups)]
            assert_nearest(list_hits(result), rank_by_vector(readable, QUERY), k)
    fused = reader.search(Selection(words=("mail",)), size=1000, vector=VectorQuery(QUERY, 5))
    assert next(hit for hit in fused.hits if hit.id == "near").found_by == {"words", "vector"}
    engine.delete_documents("papers", ["near"])
    result = reader.search(Selection(), size=1000, vector=VectorQuery(QUERY, 5))
    assert "near" not in [hit.id for hit in result.hits]
    assert reader.fetch([ranked[0]])[0].document.vector == opposite  # type: ignore[union-attr]


def test_an_index_without_vectors_says_so(papers: Reader) -> None:
    with pytest.raises(BadParameter, match="'papers' has no vectors; search by words, or build"):
        papers.search(Selection(), vector=VectorQuery(QUERY, 10))


@pytest.mark.parametrize(
    ("query", "sort", "message"),
    [
        (
            VectorQuery(encode_vector([1.0] * 7), 10),
            (),
            "has 7 numbers, those of index 'vectors' have 8; use the model",
        ),
        (VectorQuery(QUERY, 0), (), "k must be a whole number from 1 to 1,000"),
        (VectorQuery(QUERY, 1001), (), "k must be a whole number from 1 to 1,000"),
        (VectorQuery(QUERY, 10, 9), (), "num_candidates must be"),
        (VectorQuery(QUERY, 10, 10_001), (), "num_candidates must be"),
        (VectorQuery(QUERY, 10), (SortKey("date"),), "cannot be sorted"),
    ],
)
def test_a_vector_query_that_cannot_be_answered_is_refused(
    vectors: Reader, query: VectorQuery, sort: tuple[SortKey, ...], message: str
) -> None:
    with pytest.raises(BadParameter, match=message):
        vectors.search(Selection(), vector=query, sort=sort)


def test_a_search_by_a_vector_is_one_request(shared_engine: Engine, vectors: Reader) -> None:
    before = shared_engine.request_count
    vectors.search(Selection(words=("mail",)), facets=["venue"], vector=VectorQuery(QUERY, 10))
    assert shared_engine.request_count == before + 1


def test_a_search_without_a_vector_does_not_say_how_hits_were_found(vectors: Reader) -> None:
    assert {hit.found_by for hit in vectors.search(Selection(words=("mail",))).hits} == {frozenset()}


def test_a_vector_of_other_dimensions_is_not_written(engine: Engine, vector_corpus: AnalysedCorpus) -> None:
    reader = write_vector_index(engine, vector_corpus)
    good = weigh_document(make_draft("good", ["mail"], vector=QUERY), vector_corpus.model)
    bad = weigh_document(make_draft("bad", ["mail"], vector=encode_vector([1.0] * 7)), vector_corpus.model)
    with pytest.raises(BadInput, match="'bad'"):
        engine.add_documents("papers", [bad, good])
    with engine.start_build("papers") as build, pytest.raises(BadInput, match="'bad'"):
        build.write([good, bad])
        build.commit(vector_corpus.model, vector_corpus.make_info("papers"))
    assert reader.fetch(["bad"]) == [None]


def test_an_index_of_documents_without_vectors_is_built_and_read_as_before(
    engine: Engine, corpus: AnalysedCorpus
) -> None:
    reader = write_index(engine, corpus)
    assert reader.search(Selection(words=("mail",))).hits
    assert all(read.document.vector is None for read in reader.scan())


def test_vectors_of_an_attached_index_are_stored_but_searched_in_the_source(
    elasticsearch_engine: Engine, vector_corpus: AnalysedCorpus
) -> None:
    assert isinstance(elasticsearch_engine, ElasticsearchEngine)
    attachment = Attachment(index="source", cluster="another", fields={})
    info = vector_corpus.make_info("papers")
    values = {**info.settings, VECTOR_SETTING: DIMENSIONS, ATTACHMENT_SETTING: attachment.to_setting()}
    with elasticsearch_engine.start_build("papers") as build:
        build.is_attached = True
        build.write(vector_corpus.documents)
        build.commit(vector_corpus.model, replace(info, settings=values))
    reader = elasticsearch_engine.open_reader("papers")
    mappings = elasticsearch_engine.connection.client.indices.get_mapping(index=f"{elasticsearch_engine.prefix}papers")
    assert ["vector" in one["mappings"]["properties"] for one in mappings.values()] == [False]
    assert [d.document.vector for d in reader.scan()] == [d.document.vector for d in vector_corpus.documents]
    with pytest.raises(BadParameter, match="attached to a source"):
        reader.search(Selection(), vector=VectorQuery(QUERY, 10))
