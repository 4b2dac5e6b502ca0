"""Requests to the engine that a comparison costs."""

from __future__ import annotations

import pytest

from tests.support.comparisons import INDEX, compare_sides
from worker.comparer import Comparer
from worker.methods.registry import METHODS

COSTS = [
    ("a1", "b1", 2),
    ("a1", "ids:b1,b2,d0000", 2),
    ("a1", "a1", 2),
    ("a1", "text:waggle dance and rye flour", 2),
    ("a1", "query:waggle dance", 2),
    ("a1", "search:rye flour", 3),
    ("search:waggle dance", "search:rye flour", 3),
    ("text:waggle dance", "text:rye flour and waggle dance", 1),
    ("text:the of it", "text:and then", 0),
]


@pytest.mark.parametrize(("a", "b", "cost"), COSTS)
def test_two_sides_cost_two_requests_and_searches_one_more(comparer: Comparer, a: str, b: str, cost: int) -> None:
    compare_sides(comparer, "a1", "b1")
    before = comparer.engine.request_count
    compare_sides(comparer, a, b, candidates=True, graph=True, cap=0)
    assert comparer.engine.request_count - before == cost


LIMITED_COSTS = [
    ("a1", "b1", 2),
    ("a1", "search:rye flour", 3),
    ("a1", "query:waggle dance", 3),
    ("text:waggle dance", "text:waggle dance of a honey bee", 2),
    ("text:the of it", "text:and then", 0),
]


@pytest.mark.parametrize(("a", "b", "cost"), LIMITED_COSTS)
def test_the_own_texts_of_a_limited_caller_cost_one_more_together(
    comparer: Comparer, a: str, b: str, cost: int
) -> None:
    """It asks which phrases documents that they may read hold."""
    before = comparer.engine.request_count
    compare_sides(comparer, a, b, groups=frozenset({"staff"}))
    assert comparer.engine.request_count - before == cost


def test_phrases_without_a_document_in_the_neighbourhood_cost_one_more(comparer: Comparer) -> None:
    """An answer names a document for each phrase of the caller's own text."""
    before = comparer.engine.request_count
    answer = compare_sides(comparer, "text:waggle dance", "text:rye flour", groups=frozenset())
    assert comparer.engine.request_count - before == 3
    holders = [d for d in comparer.engine.open_reader(INDEX).fetch(sorted(answer.holders)) if d is not None]
    assert {"waggle dance", "rye flour"} <= {phrase for document in holders for phrase in document.phrases}
    assert not compare_sides(comparer, "text:waggle dance", "text:rye flour").holders


@pytest.mark.parametrize("method", METHODS)
def test_methods_that_read_the_neighbours_cost_one_more(comparer: Comparer, method: str) -> None:
    before = comparer.engine.request_count
    compare_sides(comparer, "a1", "b1", method=method)
    assert comparer.engine.request_count - before == (3 if METHODS[method].needs_neighbour_texts else 2)


def test_an_index_is_opened_once_for_many_comparisons(opened_indexes: list[str], comparer: Comparer) -> None:
    compare_sides(comparer, "a1", "b1")
    opened_indexes.clear()
    for number in range(5):
        compare_sides(comparer, "a1", f"d{number:04}")
    assert opened_indexes == []


@pytest.fixture
def opened_indexes(comparer: Comparer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The indexes opened on the engine, one entry each time."""
    opened: list[str] = []
    open_reader = type(comparer.engine).open_reader

    def open_and_record(engine: object, index: str) -> object:
        opened.append(index)
        return open_reader(engine, index)  # type: ignore[arg-type]

    monkeypatch.setattr(type(comparer.engine), "open_reader", open_and_record)
    assert comparer.engine.open_reader(INDEX)
    return opened
