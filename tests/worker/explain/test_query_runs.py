"""Runs of a query that a hit contains word for word."""

from __future__ import annotations

import pytest

from indexer.engines.base import Engine
from tests.support.comparisons import compare_sides, resolve_texts
from worker.comparer import Comparer
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
