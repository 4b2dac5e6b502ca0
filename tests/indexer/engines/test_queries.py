"""Query trees, orders and histograms: both engines select, score and sort alike."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

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
from tests.support.corpora.engine_corpus import Corpus, analyse, build, make_corpus

MARCH = DateRange(*range_query_to_millis(gte="2020-03", lt="2020-04"))
MAIL, GRAPH, MODEL = Match(("mail",)), Match(("graph",)), Match(("model", "topic"))
ACL = FacetTerms("venue", ("ACL",))


@pytest.fixture(scope="module")
def sparse() -> Corpus:
    """Every fifth document has no date."""
    drafts = make_corpus(60).documents
    return analyse(
        [
            replace(d, document=replace(d.document, date=None if i % 5 == 0 else d.document.date))
            for i, d in enumerate(drafts)
        ]
    )


@pytest.fixture(scope="module")
def reader(shared_engine: Engine, sparse: Corpus) -> Reader:
    return build(shared_engine, sparse, "sparse")


leaf = some.one_of(
    some.builds(
        Match,
        some.lists(some.sampled_from(["mail", "graph", "model", "c++", "word3", "unheard"]), max_size=3).map(tuple),
        some.booleans(),
    ),
    some.builds(
        FacetTerms, some.just("venue"), some.lists(some.sampled_from(["ACL", "ICML", "x"]), max_size=2).map(tuple)
    ),
    some.sampled_from(
        [MARCH, DateRange(), DateRange(start=MARCH.start), DateRange(end=MARCH.end), DateRange(5, 5), MatchAll()]
    ),
)


def parts(inner: some.SearchStrategy[Query]) -> some.SearchStrategy[Query]:
    several = some.lists(inner, max_size=2).map(tuple)
    return some.builds(Bool, several, several, several, several, some.one_of(some.none(), some.integers(0, 2)))


trees: some.SearchStrategy[Query] = some.recursive(leaf, parts, max_leaves=6)


def score(query: Query, document: AnalysedDocument, weigher: Bm25Scorer) -> float:
    """What the tree scores a document it selects, by its definition."""
    if isinstance(query, Match):
        words = [weigher.score_phrases(document.tokens.split(), [word])[0] for word in query.words]
        return float(sum(words))
    if not isinstance(query, Bool):
        return 1.0
    scoring = [*query.must, *(part for part in query.should if matches_document(part, document))]
    return sum(score(part, document, weigher) for part in scoring)


def test_a_tree_selects_and_scores_as_it_says(reader: Reader, sparse: Corpus) -> None:
    weigher = Bm25Scorer(sparse.model)

    @settings(max_examples=150, deadline=None)
    @given(tree=trees)
    def check(tree: Query) -> None:
        found = reader.search(Selection(query=tree), size=100)
        wanted = {d.document.id: score(tree, d, weigher) for d in sparse.documents if matches_document(tree, d)}
        assert {hit.id: hit.score for hit in found.hits} == pytest.approx(wanted, rel=1e-4, abs=1e-6)
        assert found.total == len(wanted)
        order = [(-hit.score, hit.id) for hit in found.hits]
        assert order == sorted(order)
        if find_constant_score(tree) is not None:
            assert {hit.score for hit in found.hits} <= {find_constant_score(tree)}

    check()


def ids(reader: Reader, query: Query, *sort: SortKey, size: int = 100, offset: int = 0) -> list[str]:
    return [hit.id for hit in reader.search(Selection(query=query), size=size, offset=offset, sort=sort).hits]


@pytest.mark.parametrize("descending", [False, True])
def test_by_date_the_undated_come_last_and_ties_by_id(reader: Reader, sparse: Corpus, descending: bool) -> None:
    dated = [(date_to_millis(d.document.date), d.document.id) for d in sparse.documents]
    known = sorted((at, name) for at, name in dated if at is not None)
    if descending:
        known.sort(key=lambda one: -one[0])
    wanted = [name for _, name in known] + sorted(name for at, name in dated if at is None)
    assert ids(reader, MatchAll(), SortKey("date", descending)) == wanted
    pages = [ids(reader, MatchAll(), SortKey("date", descending), size=7, offset=at) for at in range(0, 63, 7)]
    assert [name for page in pages for name in page] == wanted


def test_by_id_downwards_and_by_the_worst_score(reader: Reader) -> None:
    found = ids(reader, MAIL)
    assert ids(reader, MAIL, SortKey("id", descending=True)) == sorted(found, reverse=True)
    hits = reader.search(Selection(query=MAIL), size=100, sort=[SortKey("score")]).hits
    assert [hit.score for hit in hits] == sorted(hit.score for hit in hits) and hits[0].score > 0
    assert {hit.id for hit in hits} == set(found)


def test_several_keys_one_after_the_other(reader: Reader, sparse: Corpus) -> None:
    by_id = sparse.by_id()
    either = Bool(should=(ACL, MARCH))
    hits = reader.search(Selection(query=either), size=100, sort=[SortKey("score", True), SortKey("date", True)]).hits
    keys = [(-hit.score, -(date_to_millis(by_id[hit.id].document.date) or -(2**60)), hit.id) for hit in hits]
    assert keys == sorted(keys) and {hit.score for hit in hits} == {1.0, 2.0}
    again = reader.search(Selection(query=either), size=100, sort=[SortKey("date"), SortKey("score")]).hits
    assert {hit.id: hit.score for hit in again} == {hit.id: hit.score for hit in hits}


def test_an_order_without_the_score_has_none(reader: Reader) -> None:
    assert {hit.score for hit in reader.search(Selection(query=MAIL), sort=[SortKey("date")]).hits} == {0.0}


def test_rights_hold_for_every_query_and_order(reader: Reader, sparse: Corpus) -> None:
    nobody: frozenset[str] = frozenset()
    open_ones = {d.document.id for d in sparse.documents if not d.document.acl}
    for query in (MatchAll(), Bool(must_not=(MAIL,)), Bool(should=(MAIL, MatchAll()), minimum_should_match=0)):
        for sort in ((), (SortKey("date"),), (SortKey("id", True),)):
            found = reader.search(Selection(query=query), size=100, sort=sort, groups=nobody)
            assert {hit.id for hit in found.hits} <= open_ones and found.total == len(found.hits) > 0


def test_a_query_a_page_and_its_counts_are_one_request(shared_engine: Engine, reader: Reader) -> None:
    before = shared_engine.request_count
    day = Interval.from_calendar_unit("day")
    reader.search(Selection(query=MAIL), facets=["venue"], histograms=[day], sort=[SortKey("date")])
    assert shared_engine.request_count == before + 1


def first_of(at: datetime, unit: str) -> datetime:
    if unit == "month":
        return at.replace(day=1)
    if unit == "quarter":
        return at.replace(month=(at.month - 1) // 3 * 3 + 1, day=1)
    if unit == "year":
        return at.replace(month=1, day=1)
    return datetime.fromordinal(at.toordinal() - at.weekday()).replace(tzinfo=UTC) if unit == "week" else at


@pytest.mark.parametrize("unit", ["day", "week", "month", "quarter", "year"])
def test_documents_are_counted_by_date(reader: Reader, sparse: Corpus, unit: str) -> None:
    interval = Interval.from_calendar_unit(unit)
    counted = reader.search(Selection(query=GRAPH), size=0, histograms=[interval]).histograms[interval]
    moments = [
        datetime.fromisoformat(d.document.date).replace(tzinfo=UTC)
        for d in sparse.documents
        if d.document.date and matches_document(GRAPH, d)
    ]
    wanted = Counter(int(first_of(at, unit).timestamp() * 1000) for at in moments)
    assert list(counted.items()) == sorted(wanted.items())


@pytest.mark.parametrize("written", ["12h", "30d", "7d"])
def test_fixed_intervals_are_counted_alike(reader: Reader, sparse: Corpus, written: str) -> None:
    interval = Interval.from_fixed_length(written)
    counted = reader.search(Selection(query=MODEL), size=0, histograms=[interval]).histograms[interval]
    moments = [date_to_millis(d.document.date) for d in sparse.documents if matches_document(MODEL, d)]
    assert counted == Counter(at // interval.fixed_ms * interval.fixed_ms for at in moments if at is not None)


def test_empty_buckets_between_are_filled_to_the_end_of_time() -> None:
    month = Interval.from_calendar_unit("month")
    said = [
        format_timestamp(at)[:7]
        for at, _ in month.fill_empty_buckets({month.bucket_start(0): 1, month.bucket_start(100 * 86_400_000): 2})
    ]
    assert said == ["1970-01", "1970-02", "1970-03", "1970-04"]
    last = month.bucket_start(date_to_millis("9999-12-31") or 0)
    assert list(month.fill_empty_buckets({last: 1})) == [(last, 1)] and list(month.fill_empty_buckets({})) == []


@pytest.mark.parametrize("written", ["", "0d", "1s", "99999999d", "day"])
def test_what_is_no_length_is_refused(written: str) -> None:
    with pytest.raises(BadParameter):
        Interval.from_fixed_length(written)


def test_limits_take_a_day_whole() -> None:
    day = range_query_to_millis(gte="2011-03-11", lte="2011-03-11")
    assert (
        day
        == range_query_to_millis(gt="2011-03-10", lt="2011-03-12")
        == date_bounds_to_millis("2011-03-11", "2011-03-11")
    )
    assert range_query_to_millis() == (None, None)
