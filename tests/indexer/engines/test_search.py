"""Search by words, facets and dates; pages, ties and access rights."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from indexer.engines.base import Engine, Reader
from indexer.engines.search_types import Selection
from indexer.errors import BadParameter
from indexer.model.bm25 import Bm25Scorer
from tests.support.corpora.engine_corpus import AnalysedCorpus, make_draft, weigh_drafts, write_index
from tests.support.neighbourhood_oracle import is_readable

STAFF = frozenset({"staff"})
NOBODY: frozenset[str] = frozenset()


def search_ids(reader: Reader, selection: Selection, groups: frozenset[str] | None = None) -> list[str]:
    return [hit.id for hit in reader.search(selection, size=1000, groups=groups).hits]


def test_documents_come_in_the_order_asked_for(papers: Reader) -> None:
    requested = ["doc-0007", "missing", "doc-0003", "doc-0007", "doc-0000"]
    found = papers.fetch(requested)
    assert [a.document.id if a else None for a in found] == ["doc-0007", None, "doc-0003", "doc-0007", "doc-0000"]
    assert papers.fetch([]) == []


def test_a_fetch_of_two_is_one_request(shared_engine: Engine, papers: Reader) -> None:
    before = shared_engine.request_count
    papers.fetch(["doc-0007", "doc-0003"])
    assert shared_engine.request_count == before + 1
    papers.search(Selection(words=("mail",)), facets=["venue"])
    assert shared_engine.request_count == before + 2


def test_opening_again_loads_the_model_once(shared_engine: Engine, papers: Reader) -> None:
    assert shared_engine.open_reader("papers").model is shared_engine.open_reader("papers").model


def test_a_scan_gives_every_document_by_id(papers: Reader, corpus: AnalysedCorpus) -> None:
    assert [a.document.id for a in papers.scan()] == sorted(a.document.id for a in corpus.documents)


def test_words_find_documents_that_hold_any_of_them_ranked_by_bm25(papers: Reader, corpus: AnalysedCorpus) -> None:
    words = ("mail", "graph")
    result = papers.search(Selection(words=words), size=1000)
    scorer = Bm25Scorer(corpus.model)
    scores = {d.document.id: scorer.score_phrases(d.tokens.split(), [" ".join(words)])[0] for d in corpus.documents}
    matching = {name: score for name, score in scores.items() if score > 0}
    assert result.total == len(matching) == len(result.hits)
    np.testing.assert_allclose([hit.score for hit in result.hits], [matching[hit.id] for hit in result.hits], rtol=1e-5)
    assert [hit.score for hit in result.hits] == sorted((hit.score for hit in result.hits), reverse=True)
    assert all(hit.document.document.id == hit.id for hit in result.hits)


@pytest.mark.parametrize("word", ["c++", '"cheese"', "a*b?", "(half]", "50%", "back\\slash", "語", "and", "naïve"])
def test_a_word_of_special_characters_is_only_a_word(papers: Reader, corpus: AnalysedCorpus, word: str) -> None:
    holding = sorted(d.document.id for d in corpus.documents if word in d.tokens.split())
    assert sorted(search_ids(papers, Selection(words=(word,)))) == holding and holding


def test_an_unknown_word_finds_nothing(papers: Reader) -> None:
    assert papers.search(Selection(words=("unheard",))).total == 0


def test_without_words_documents_come_by_id(papers: Reader, corpus: AnalysedCorpus) -> None:
    result = papers.search(Selection(), size=5, offset=10)
    assert [hit.id for hit in result.hits] == sorted(d.document.id for d in corpus.documents)[10:15]
    assert result.total == len(corpus.documents) and {hit.score for hit in result.hits} == {0.0}


def test_pages_laid_end_to_end_are_the_whole_list(papers: Reader) -> None:
    all_ids = search_ids(papers, Selection(words=("mail", "model")))
    pages = [
        papers.search(Selection(words=("mail", "model")), size=7, offset=at) for at in range(0, len(all_ids) + 7, 7)
    ]
    assert [hit.id for page in pages for hit in page.hits] == all_ids
    assert papers.search(Selection(words=("mail",)), size=0).hits == ()


def test_equal_scores_come_by_id(engine: Engine) -> None:
    names = [f"twin-{i:02d}" for i in range(40)]
    corpus = weigh_drafts(
        [make_draft(name, ["mail box"]) for name in reversed(names)] + [make_draft("other", ["graph"])]
    )
    reader = write_index(engine, corpus)
    assert search_ids(reader, Selection(words=("mail",))) == names
    page = reader.search(Selection(words=("mail",)), size=3, offset=5)
    assert [hit.id for hit in page.hits] == names[5:8]
    engine.add_documents("papers", [corpus.documents[-2], make_draft("twin-005", ["mail box"])])
    assert search_ids(reader, Selection(facets={}, words=("box",))) == sorted([*names, "twin-005"])


def test_every_named_facet_must_hold_one_of_its_values(papers: Reader, corpus: AnalysedCorpus) -> None:
    found = search_ids(papers, Selection(facets={"venue": ["ACL", "Le Monde"], "tag": ["a"]}))
    assert found == sorted(
        d.document.id
        for d in corpus.documents
        if d.document.facets["venue"][0] in ("ACL", "Le Monde") and "a" in d.document.facets["tag"]
    )
    assert search_ids(papers, Selection(facets={"venue": ["acl"]})) == []
    assert search_ids(papers, Selection(facets={"no such facet": ["x"]})) == []


def test_facet_values_are_counted_over_all_matches_most_frequent_first(papers: Reader, corpus: AnalysedCorpus) -> None:
    result = papers.search(Selection(words=("mail",)), size=1, facets=["venue", "tag", "nothing"])
    matching = [d for d in corpus.documents if "mail" in d.tokens.split()]
    for name in ("venue", "tag"):
        counts = Counter(value for d in matching for value in d.document.facets[name])
        assert dict(result.facets[name]) == counts
        assert list(result.facets[name]) == sorted(counts, key=lambda value: (-counts[value], value))
    assert result.facets["nothing"] == {}


def test_facet_names_and_values_of_any_characters_do_not_mix(engine: Engine) -> None:
    facets = {"a": ("b=c", "x.*"), "a=b": ("c",), "a.": ("dot",), "50%": ("%3D",), "é [": ('"q"',)}
    reader = write_index(
        engine,
        weigh_drafts([make_draft("one", ["mail"], facets=facets), make_draft("two", ["mail"], facets={"a": ("c",)})]),
    )
    for name, values in facets.items():
        for value in values:
            assert search_ids(reader, Selection(facets={name: [value]})) == ["one"]
    counted = reader.search(Selection(), facets=list(facets)).facets
    assert sorted(reader.facet_names()) == sorted(facets)
    assert counted["a"] == {"b=c": 1, "c": 1, "x.*": 1} and counted["a=b"] == {"c": 1} and counted["é ["] == {'"q"': 1}


DATED = {
    "day": "2011-03-14",
    "morning": "2011-03-14T09:00:00",
    "last": "2011-03-14T23:59:59.999",
    "zone": "2011-03-15T00:30:00+01:00",
    "next": "2011-03-15",
    "year": "2012",
    "old": "1066-10-14",
    "none": None,
    "bad": "the ides of March",
    "impossible": "2011-02-30",
}


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ("2011-03-14", "2011-03-14", "day last morning zone"),
        ("2011-03-14T09:00:00", "2011-03-14T09:00:00", "morning"),
        ("2011-03-15", None, "next year"),
        (None, "2011-03-14", "day last morning old zone"),
        ("2011-03", "2011-03", "day last morning next zone"),
        ("2011", "2011", "day last morning next zone"),
        ("2013", None, ""),
        ("2011-03-15", "2011-03-14", ""),
    ],
)
def test_a_date_range_includes_all_of_its_last_day(
    engine: Engine, start: str | None, end: str | None, expected: str
) -> None:
    reader = write_index(engine, weigh_drafts([make_draft(name, ["mail"], date=date) for name, date in DATED.items()]))
    assert search_ids(reader, Selection(date_from=start, date_to=end)) == expected.split()
    assert search_ids(reader, Selection(words=("mail",), date_from=start, date_to=end)) == expected.split()


def test_a_bad_date_bound_is_refused(papers: Reader) -> None:
    with pytest.raises(BadParameter, match="yesterday"):
        papers.search(Selection(date_from="yesterday"))


@pytest.mark.parametrize("groups", [None, STAFF, NOBODY, frozenset({"board", "guests"})])
def test_access_rights_apply_to_every_read(
    papers: Reader, corpus: AnalysedCorpus, groups: frozenset[str] | None
) -> None:
    allowed = sorted(d.document.id for d in corpus.documents if is_readable(d, groups))
    everything = [d.document.id for d in corpus.documents]
    assert sorted(a.document.id for a in papers.fetch(everything, groups) if a) == allowed
    assert [a.document.id for a in papers.scan(groups)] == allowed
    assert search_ids(papers, Selection(), groups) == allowed
    assert papers.readable_ids(groups, 1000) == allowed and papers.readable_ids(groups, 3) == allowed[:3]
    found = papers.search(Selection(words=("mail",)), size=1000, facets=["venue"], groups=groups)
    matching = [d for d in corpus.documents if is_readable(d, groups) and "mail" in d.tokens.split()]
    assert sorted(hit.id for hit in found.hits) == sorted(d.document.id for d in matching)
    assert dict(found.facets["venue"]) == Counter(d.document.facets["venue"][0] for d in matching)


def test_facets_of_hidden_documents_are_not_named(engine: Engine) -> None:
    drafts = [
        make_draft("open", ["mail"], facets={"venue": ("ACL",), "tag": ("a",)}),
        make_draft("other", ["mail"], facets={"venue": ("ACL",)}),
        make_draft("closed", ["mail"], facets={"project": ("zarquon",)}, acl=("staff",)),
    ]
    reader = write_index(engine, weigh_drafts(drafts))
    assert reader.facet_names() == reader.facet_names(STAFF) == ["venue", "project", "tag"]
    assert reader.facet_names(NOBODY) == ["venue", "tag"]


def test_no_word_to_search_for_finds_nothing(papers: Reader) -> None:
    assert papers.search(Selection(words=())).total == 0
