"""Runs of a query that a hit contains word for word."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from indexer.documents import Document
from indexer.engines import open_engine
from indexer.engines.base import Engine
from indexer.indexing.build import AnalysisOptions, build_index
from tests.support.comparisons import INDEX, compare_sides, resolve_texts
from tests.support.corpora.planted_pairs import SHARED
from worker.comparer import Comparer
from worker.explain.candidates import PairCandidates
from worker.explain.query_runs import MAX_QUERY_WORDS, find_query_runs

HIT = "Its date follows RFC 2822. X-Forwarded-For names the proxy. Whoever reads my mail wants to be or not to be."


@pytest.mark.parametrize(
    ("query", "runs"),
    [
        ("rfc 2822 date", ("rfc 2822",)),
        ("the rfc 2822, proxy", ("rfc 2822",)),
        ("stop people reading my mail", ("read my mail",)),
        ("2822 rfc", ()),
        ("2822 x", ()),  # a sentence ends between them
        ("names rfc 2822 names the proxy", ("rfc 2822", "name the proxy")),
        ("of the proxy", ()),
        ("x-forwarded-for", ("x forward for",)),
        ("to be or not to be", ("to be or not to be",)),
        ("proxies", ("proxy",)),
        ("the", ()),
        ("?", ()),
        ("rfc 2822 " + "date " * MAX_QUERY_WORDS, ()),
    ],
)
def test_runs_are_the_longest_sequences_of_a_query_in_a_hit(
    indexed_embedded_engine: Engine, query: str, runs: tuple[str, ...]
) -> None:
    hit, asked = resolve_texts(indexed_embedded_engine, f"text:{HIT}", f"query:{query}")
    assert find_query_runs(asked, hit) == runs
    assert find_query_runs(hit, asked) == ()


def test_each_word_of_a_query_begins_and_ends_one_search_at_most(
    indexed_embedded_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = ("rfc 2822 date names the proxy " * MAX_QUERY_WORDS).split()[:MAX_QUERY_WORDS]
    hit, asked = resolve_texts(indexed_embedded_engine, f"text:{HIT}", f"query:{' '.join(query)}")
    searches: list[str] = []
    contains = hit.text.contains
    monkeypatch.setattr(hit.text, "contains", lambda phrase: searches.append(phrase) or contains(phrase))
    assert find_query_runs(asked, hit) == ("rfc 2822", "name the proxy")
    assert len(searches) <= 2 * MAX_QUERY_WORDS + 1


@pytest.mark.parametrize(("query", "display"), [("rfc 2822 date", "RFC 2822"), ("x-forwarded-for", "X-Forwarded-For")])
def test_a_run_is_a_reason_in_the_spelling_of_the_hit(embedded_comparer: Comparer, query: str, display: str) -> None:
    answer = compare_sides(embedded_comparer, f"text:{HIT}", f"query:{query}")
    first = answer.common[0]
    assert (first.display, first.kind) == (display, "shared") and first.score >= 0.95
    assert display.lower() not in {entry.display.lower() for entry in (*answer.distinct_a, *answer.distinct_b)}


def test_a_limited_caller_is_told_runs_of_a_hit(embedded_comparer: Comparer) -> None:
    answer = compare_sides(embedded_comparer, f"text:{HIT}", "query:rfc 2822 date", groups=frozenset())
    assert answer.common[0].display == "RFC 2822"


def test_a_run_that_the_index_does_not_know_is_a_candidate_of_no_salience(embedded_comparer: Comparer) -> None:
    answer = compare_sides(embedded_comparer, f"text:{HIT}", "query:rfc 2822 date", candidates=True)
    assert answer.candidates
    assert [c.salience for c in answer.candidates["b"] if c.phrase == "rfc 2822"] == [0.0]


def test_a_known_run_is_a_candidate_once(embedded_comparer: Comparer) -> None:
    answer = compare_sides(embedded_comparer, "b1", f"query:{SHARED}", candidates=True)
    assert answer.candidates
    assert [c.phrase for c in answer.candidates["b"]].count(SHARED) == 1


def test_a_run_keeps_its_name_on_the_full_graph(embedded_comparer: Comparer) -> None:
    answer = compare_sides(embedded_comparer, f"text:{HIT}", "query:rfc 2822 date", full=True, cap=0)
    assert answer.common[0].phrase == "rfc 2822"
    assert {entry.phrase for entry in answer.common} <= {"rfc 2822", "date"}


def test_two_texts_of_a_limited_caller_are_not_looked_up_in_hidden_documents(
    embedded_comparer: Comparer, indexed_embedded_engine: Engine
) -> None:
    text, query = f"text:A {SHARED} was there.", f"query:{SHARED} zzyzx"
    hit, asked = (replace(side, groups=frozenset()) for side in resolve_texts(indexed_embedded_engine, text, query))
    hit, asked = (replace(side, documents=(replace(side.documents[0], salient=()),)) for side in (hit, asked))
    candidates = PairCandidates.from_sides(hit, asked)
    assert SHARED in candidates.phrases and set(candidates.phrase_ids.tolist()) == {-1}


def test_frequent_words_of_another_language_make_no_run(tmp_path: Path) -> None:
    documents = [Document(f"d{n}", f"Der Zug von der Stadt {n} und mit dem Rad fuhr.") for n in range(60)]
    with open_engine(str(tmp_path)) as engine:
        build_index(documents, engine, INDEX, AnalysisOptions(language="de"), processes=1)
        hit, asked = resolve_texts(
            engine, "text:Das Rad von der Alm, mit dem roten Griff.", "query:von der mit dem Rad"
        )
        assert find_query_runs(asked, hit) == ()
