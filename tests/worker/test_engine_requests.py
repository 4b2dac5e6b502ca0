"""What a comparison costs an engine, counted in requests."""

from __future__ import annotations

import pytest

from tests.worker.conftest import INDEX, ask
from worker.comparer import Comparer
from worker.methods import METHODS

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
def test_two_sides_cost_two_requests_and_each_search_one_more(comparer: Comparer, a: str, b: str, cost: int) -> None:
    ask(comparer, "a1", "b1")
    before = comparer.engine.request_count
    ask(comparer, a, b, candidates=True, graph=True, cap=0)
    assert comparer.engine.request_count - before == cost


@pytest.mark.parametrize("method", METHODS)
def test_methods_that_read_the_neighbours_cost_one_more(comparer: Comparer, method: str) -> None:
    before = comparer.engine.request_count
    ask(comparer, "a1", "b1", method=method)
    assert comparer.engine.request_count - before == (3 if METHODS[method].needs_neighbour_texts else 2)


def test_an_index_is_opened_once_however_many_are_compared(remote_calls: list[str], comparer: Comparer) -> None:
    ask(comparer, "a1", "b1")
    remote_calls.clear()
    for number in range(5):
        ask(comparer, "a1", f"d{number:04}")
    assert remote_calls == []


@pytest.fixture
def remote_calls(comparer: Comparer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Notes every time that an index of the engine is opened."""
    opened: list[str] = []
    really = type(comparer.engine).open_reader

    def noted(engine: object, index: str) -> object:
        opened.append(index)
        return really(engine, index)  # type: ignore[arg-type]

    monkeypatch.setattr(type(comparer.engine), "open_reader", noted)
    assert comparer.engine.open_reader(INDEX)
    return opened
