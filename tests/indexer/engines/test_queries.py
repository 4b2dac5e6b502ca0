"""Query trees, sort orders and histograms: both engines select, score and sort alike."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.dates import date_bounds_to_millis, date_to_millis, range_query_to_millis
from indexer.documents import AnalysedDocument
from indexer.engines.base import Engine, Reader
from indexer.engines.date_histogram import Interval, format_timestamp
from indexer.engines.query_tree import (
    Bool,
    DateRange,
    FacetTerms,
    Match,
    MatchAll,
    Query,
    SortKey,
    find_constant_score,
    matches_document,
)
from indexer.engines.search_types import Selection
from indexer.errors import BadParameter
from indexer.model.bm25 import Bm25Scorer
from tests.support.corpora.engine_corpus import AnalysedCorpus, make_corpus, weigh_drafts, write_index

MARCH = DateRange(*range_query_to_millis(gte="2020-03", lt="2020-04"))
MAIL, GRAPH, MODEL = Match(("mail",)), Match(("graph",)), Match(("model", "topic"))
ACL = FacetTerms("venue", ("ACL",))


@pytest.fixture(scope="module")
def sparse_corpus() -> AnalysedCorpus:
    """Every fifth document has no date."""
    drafts = make_corpus(60).documents
    return weigh_drafts(
        [
            replace(d, document=replace(d.document, date=None if i % 5 == 0 else d.document.date))
            for i, d in enumerate(drafts)
        ]
    )


@pytest.fixture(scope="module")
def reader(shared_engine: Engine, sparse_corpus: AnalysedCorpus) -> Reader:
    return write_index(shared_engine, sparse_corpus, "sparse")


leaves = st.one_of(
    st.builds(
        Match,
        st.lists(st.sampled_from(["mail", "graph", "model", "c++", "word3", "unheard"]), max_size=3).map(tuple),
        st.booleans(),
    ),
    st.builds(FacetTerms, st.just("venue"), st.lists(st.sampled_from(["ACL", "ICML", "x"]), max_size=2).map(tuple)),
    st.sampled_from(
        [MARCH, DateRange(), DateRange(start=MARCH.start), DateRange(end=MARCH.end), DateRange(5, 5), MatchAll()]
    ),
)


def combine_queries(inner: st.SearchStrategy[Query]) -> st.SearchStrategy[Query]:
    several = st.lists(inner, max_size=2).map(tuple)
    return st.builds(Bool, several, several, several, several, st.one_of(st.none(), st.integers(0, 2)))


trees: st.SearchStrategy[Query] = st.recursive(leaves, combine_queries, max_leaves=6)


def score_document(query: Query, document: AnalysedDocument, scorer: Bm25Scorer) -> float:
    """Return the score of a document that the tree selects, by its definition."""
    if isinstance(query, Match):
        words = [scorer.score_phrases(document.tokens.split(), [word])[0] for word in query.words]
        return float(sum(words))
    if not isinstance(query, Bool):
        return 1.0
    scoring = [*query.must, *(part for part in query.should if matches_document(part, document))]
    return sum(score_document(part, document, scorer) for part in scoring)


@pytest.mark.slow
def test_a_query_tree_selects_and_scores_by_its_definition(reader: Reader, sparse_corpus: AnalysedCorpus) -> None:
    scorer = Bm25Scorer(sparse_corpus.model)

    @settings(max_examples=150, deadline=None)
    @given(tree=trees)
    def check_query(tree: Query) -> None:
        found = reader.search(Selection(query=tree), size=100)
        expected = {
            d.document.id: score_document(tree, d, scorer) for d in sparse_corpus.documents if matches_document(tree, d)
        }
        assert {hit.id: hit.score for hit in found.hits} == pytest.approx(expected, rel=1e-4, abs=1e-6)
        assert found.total == len(expected)
        order = [(-hit.score, hit.id) for hit in found.hits]
        assert order == sorted(order)
        if find_constant_score(tree) is not None:
            assert {hit.score for hit in found.hits} <= {find_constant_score(tree)}

    check_query()


def search_ids(reader: Reader, query: Query, *sort: SortKey, size: int = 100, offset: int = 0) -> list[str]:
    return [hit.id for hit in reader.search(Selection(query=query), size=size, offset=offset, sort=sort).hits]


@pytest.mark.parametrize("descending", [False, True])
def test_sorted_by_date_undated_documents_come_last_and_ties_by_id(
    reader: Reader, sparse_corpus: AnalysedCorpus, descending: bool
) -> None:
    dated = [(date_to_millis(d.document.date), d.document.id) for d in sparse_corpus.documents]
    known = sorted((at, name) for at, name in dated if at is not None)
    if descending:
        known.sort(key=lambda one: -one[0])
    expected = [name for _, name in known] + sorted(name for at, name in dated if at is None)
    assert search_ids(reader, MatchAll(), SortKey("date", descending)) == expected
    pages = [search_ids(reader, MatchAll(), SortKey("date", descending), size=7, offset=at) for at in range(0, 63, 7)]
    assert [name for page in pages for name in page] == expected


def test_sorting_by_descending_id_and_by_ascending_score(reader: Reader) -> None:
    found = search_ids(reader, MAIL)
    assert search_ids(reader, MAIL, SortKey("id", descending=True)) == sorted(found, reverse=True)
    hits = reader.search(Selection(query=MAIL), size=100, sort=[SortKey("score")]).hits
    assert [hit.score for hit in hits] == sorted(hit.score for hit in hits) and hits[0].score > 0
    assert {hit.id for hit in hits} == set(found)


def test_sorting_by_several_keys(reader: Reader, sparse_corpus: AnalysedCorpus) -> None:
    by_id = sparse_corpus.documents_by_id()
    either = Bool(should=(ACL, MARCH))
    hits = reader.search(Selection(query=either), size=100, sort=[SortKey("score", True), SortKey("date", True)]).hits
    keys = [(-hit.score, -(date_to_millis(by_id[hit.id].document.date) or -(2**60)), hit.id) for hit in hits]
    assert keys == sorted(keys) and {hit.score for hit in hits} == {1.0, 2.0}
    again = reader.search(Selection(query=either), size=100, sort=[SortKey("date"), SortKey("score")]).hits
    assert {hit.id: hit.score for hit in again} == {hit.id: hit.score for hit in hits}


def test_hits_sorted_without_the_score_have_score_zero(reader: Reader) -> None:
    assert {hit.score for hit in reader.search(Selection(query=MAIL), sort=[SortKey("date")]).hits} == {0.0}


def test_access_rights_apply_to_every_query_and_order(reader: Reader, sparse_corpus: AnalysedCorpus) -> None:
    nobody: frozenset[str] = frozenset()
    open_ones = {d.document.id for d in sparse_corpus.documents if not d.document.acl}
    for query in (MatchAll(), Bool(must_not=(MAIL,)), Bool(should=(MAIL, MatchAll()), minimum_should_match=0)):
        for sort in ((), (SortKey("date"),), (SortKey("id", True),)):
            found = reader.search(Selection(query=query), size=100, sort=sort, groups=nobody)
            assert {hit.id for hit in found.hits} <= open_ones and found.total == len(found.hits) > 0


def test_a_search_with_facets_and_histogram_is_one_request(shared_engine: Engine, reader: Reader) -> None:
    before = shared_engine.request_count
    day = Interval.from_calendar_unit("day")
    reader.search(Selection(query=MAIL), facets=["venue"], histograms=[day], sort=[SortKey("date")])
    assert shared_engine.request_count == before + 1


def find_bucket_start(at: datetime, unit: str) -> datetime:
    if unit == "month":
        return at.replace(day=1)
    if unit == "quarter":
        return at.replace(month=(at.month - 1) // 3 * 3 + 1, day=1)
    if unit == "year":
        return at.replace(month=1, day=1)
    return datetime.fromordinal(at.toordinal() - at.weekday()).replace(tzinfo=UTC) if unit == "week" else at


@pytest.mark.parametrize("unit", ["day", "week", "month", "quarter", "year"])
def test_documents_are_counted_by_date(reader: Reader, sparse_corpus: AnalysedCorpus, unit: str) -> None:
    interval = Interval.from_calendar_unit(unit)
    counts = reader.search(Selection(query=GRAPH), size=0, histograms=[interval]).histograms[interval]
    moments = [
        datetime.fromisoformat(d.document.date).replace(tzinfo=UTC)
        for d in sparse_corpus.documents
        if d.document.date and matches_document(GRAPH, d)
    ]
    expected = Counter(int(find_bucket_start(at, unit).timestamp() * 1000) for at in moments)
    assert list(counts.items()) == sorted(expected.items())


@pytest.mark.parametrize("interval_text", ["12h", "30d", "7d"])
def test_documents_are_counted_by_fixed_intervals(
    reader: Reader, sparse_corpus: AnalysedCorpus, interval_text: str
) -> None:
    interval = Interval.from_fixed_length(interval_text)
    counts = reader.search(Selection(query=MODEL), size=0, histograms=[interval]).histograms[interval]
    moments = [date_to_millis(d.document.date) for d in sparse_corpus.documents if matches_document(MODEL, d)]
    assert counts == Counter(at // interval.fixed_ms * interval.fixed_ms for at in moments if at is not None)


def test_empty_buckets_are_filled_up_to_the_last_possible_date() -> None:
    month = Interval.from_calendar_unit("month")
    months = [
        format_timestamp(at)[:7]
        for at, _ in month.fill_empty_buckets({month.bucket_start(0): 1, month.bucket_start(100 * 86_400_000): 2})
    ]
    assert months == ["1970-01", "1970-02", "1970-03", "1970-04"]
    last = month.bucket_start(date_to_millis("9999-12-31") or 0)
    assert list(month.fill_empty_buckets({last: 1})) == [(last, 1)] and list(month.fill_empty_buckets({})) == []


@pytest.mark.parametrize("interval_text", ["", "0d", "1s", "99999999d", "day"])
def test_a_bad_interval_length_is_refused(interval_text: str) -> None:
    with pytest.raises(BadParameter):
        Interval.from_fixed_length(interval_text)


def test_date_limits_include_the_whole_day() -> None:
    day = range_query_to_millis(gte="2011-03-11", lte="2011-03-11")
    assert (
        day
        == range_query_to_millis(gt="2011-03-10", lt="2011-03-12")
        == date_bounds_to_millis("2011-03-11", "2011-03-11")
    )
    assert range_query_to_millis() == (None, None)
