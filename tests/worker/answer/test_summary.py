"""The summary: grammatical whatever the phrases are, and true whatever lists are empty."""

from __future__ import annotations

from typing import Literal

import pytest

from worker.answer.comparison import Entry
from worker.answer.summary import write_summary
from worker.explain.query_match import MatchedWord, QueryMatch
from worker.explain.side import SideInfo, SideKind


def make_side(kind: SideKind = "document") -> SideInfo:
    return SideInfo(kind, (), "")


def make_entries(*names: str, kind: Literal["shared", "implied", "distinct"] = "distinct") -> list[Entry]:
    return [Entry(name, name, 1.0, kind, 1, 1, 1.0, 1.0) for name in names]


def make_shared(*names: str) -> list[Entry]:
    return make_entries(*names, kind="shared")


def make_implied(*names: str) -> list[Entry]:
    return make_entries(*names, kind="implied")


def test_the_first_three_of_each_list_are_named() -> None:
    summary = write_summary(
        make_side(), make_side(), make_shared("w", "x", "y", "z"), make_entries("p", "q"), make_entries("r")
    )
    assert summary == "Both are about “w”, “x” and “y”; only A is about “p” and “q”; only B is about “r”."


def test_verbs_and_fragments_stay_grammatical() -> None:
    summary = write_summary(
        make_side(),
        make_side(),
        make_shared("search and rescue", "Solve"),
        make_entries("Get", "set"),
        make_entries("so far"),
    )
    assert summary == (
        "Both are about “search and rescue” and “Solve”; only A is about “Get” and “set”; only B is about “so far”."
    )


def test_implied_phrases_are_named_as_such() -> None:
    mixed = [*make_implied("i"), *make_shared("s"), *make_implied("j")]
    assert write_summary(make_side(), make_side(), mixed, [], make_entries("b")) == (
        "Both are about “s” and, by context, “i” and “j”; only B is about “b”."
    )
    assert write_summary(make_side(), make_side(), make_implied("i"), make_entries("a"), []) == (
        "Both are, by context, about “i”; only A is about “a”."
    )


def test_without_a_common_phrase_it_says_so() -> None:
    assert write_summary(make_side(), make_side(), [], make_entries("a"), make_entries("b", "c")) == (
        "They share nothing that stands out; A is about “a”; B is about “b” and “c”."
    )
    assert write_summary(make_side(), make_side("text"), [], make_entries("a"), []) == (
        "They share nothing that stands out; A is about “a”; nothing was found in the text."
    )


def test_without_distinct_phrases_it_says_so() -> None:
    assert write_summary(make_side(), make_side(), make_shared("s"), [], []) == (
        "Both are about “s”; nothing was found that sets them apart."
    )


def test_without_any_phrase_it_says_so() -> None:
    assert (
        write_summary(make_side(), make_side(), [], [], [])
        == "Nothing stands out that they share or that sets them apart."
    )


def test_sides_are_named_by_their_kind_where_it_differs() -> None:
    one, other = make_entries("a"), make_entries("b")
    assert "only A is about “a”; only the text is" in write_summary(
        make_side(), make_side("text"), make_shared("s"), one, other
    )
    assert "only A is about “a”; only B is" in write_summary(
        make_side("text"), make_side("text"), make_shared("s"), one, other
    )


def make_match(*matched: str, lacks: tuple[str, ...] = ()) -> QueryMatch:
    return QueryMatch(tuple(MatchedWord(word, word, "text", 0, len(word)) for word in matched), lacks)


@pytest.mark.parametrize("is_query_first", [False, True])
def test_of_a_query_its_words_are_named_and_never_what_it_alone_is_about(is_query_first: bool) -> None:
    hit, query, common = make_side(), make_side("query"), [*make_shared("s"), *make_implied("i")]
    of_hit, of_query = make_entries("h"), make_entries("q")
    match = make_match("s", lacks=("q",))
    if is_query_first:
        summary = write_summary(query, hit, common, of_query, of_hit, match)
    else:
        summary = write_summary(hit, query, common, of_hit, of_query, match)
    assert summary == (
        "Both contain “s”; close to the query is “i” in the document; the document is also about “h”; "
        "the document does not contain “q”."
    )


def test_a_hit_without_a_reason_says_so() -> None:
    summary = write_summary(make_side("set"), make_side("query"), [], make_entries("h"), [], make_match(lacks=("q",)))
    assert summary == "Nothing stands out that the set shares with the query; the set is about “h”."
