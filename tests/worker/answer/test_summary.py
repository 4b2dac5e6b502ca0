"""The one sentence: grammatical whatever the phrases are, and true whatever lists are empty."""

from __future__ import annotations

from typing import Literal

from worker.answer.comparison import Entry
from worker.answer.summary import write_summary
from worker.explain.side import SideInfo, SideKind


def side(kind: SideKind = "document") -> SideInfo:
    return SideInfo(kind, (), "")


def entries(*names: str, kind: Literal["shared", "implied", "distinct"] = "distinct") -> list[Entry]:
    return [Entry(name, name, 1.0, kind, 1, 1, 1.0, 1.0) for name in names]


def shared(*names: str) -> list[Entry]:
    return entries(*names, kind="shared")


def implied(*names: str) -> list[Entry]:
    return entries(*names, kind="implied")


def test_the_first_three_of_each_list_are_named() -> None:
    said = write_summary(side(), side(), shared("w", "x", "y", "z"), entries("p", "q"), entries("r"))
    assert said == "Both are about “w”, “x” and “y”; only A is about “p” and “q”; only B is about “r”."


def test_a_verb_or_a_scrap_of_a_sentence_reads_as_what_it_is() -> None:
    said = write_summary(side(), side(), shared("search and rescue", "Solve"), entries("Get", "set"), entries("so far"))
    assert said == (
        "Both are about “search and rescue” and “Solve”; only A is about “Get” and “set”; only B is about “so far”."
    )


def test_what_only_the_context_implies_is_told_apart() -> None:
    mixed = [*implied("i"), *shared("s"), *implied("j")]
    assert write_summary(side(), side(), mixed, [], entries("b")) == (
        "Both are about “s” and, by context, “i” and “j”; only B is about “b”."
    )
    assert write_summary(side(), side(), implied("i"), entries("a"), []) == (
        "Both are, by context, about “i”; only A is about “a”."
    )


def test_without_a_common_phrase_it_says_so() -> None:
    assert write_summary(side(), side(), [], entries("a"), entries("b", "c")) == (
        "They share nothing that stands out; A is about “a”; B is about “b” and “c”."
    )
    assert write_summary(side(), side("query"), [], entries("a"), []) == (
        "They share nothing that stands out; A is about “a”; nothing was found in the query."
    )


def test_without_anything_of_their_own_it_says_so() -> None:
    assert write_summary(side(), side(), shared("s"), [], []) == (
        "Both are about “s”; nothing was found that sets them apart."
    )


def test_with_nothing_at_all_it_says_so() -> None:
    assert write_summary(side(), side(), [], [], []) == "Nothing stands out that they share or that sets them apart."


def test_sides_are_called_by_what_they_are_where_that_tells_them_apart() -> None:
    one, other = entries("a"), entries("b")
    assert "only the query is about “a”; only B is" in write_summary(
        side("query"), side("set"), shared("s"), one, other
    )
    assert "only A is about “a”; only the text is" in write_summary(side(), side("text"), shared("s"), one, other)
    assert "only the query is about “a”; only the text is" in write_summary(
        side("query"), side("text"), shared("s"), one, other
    )
    assert "only A is about “a”; only B is" in write_summary(side("text"), side("text"), shared("s"), one, other)
