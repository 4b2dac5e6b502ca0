"""The whole corpus as the graph, and how well a neighbourhood stands for it."""

from __future__ import annotations

import pytest

from indexer.documents import Document
from indexer.engines.base import Engine
from tests.support.answer_shape import check
from tests.support.corpora.planted_pairs import IMPLIED, SHARED
from tests.worker.conftest import INDEX, ask
from worker.comparer import Comparer

LISTS = ("common", "distinct_a", "distinct_b")
PAIRS = [(f"d{n:04}", f"d{n + gap:04}") for n in range(0, 240, 20) for gap in (1, 6)]


def sorted_phrases(comparer: Comparer, a: str, b: str, **given: object) -> set[tuple[str, str]]:
    answer = ask(comparer, a, b, cap=0, **given)
    return {(name, p) for name in LISTS for e in getattr(answer, name) for p in (e.phrase, *e.also)}


def jaccard(one: set[tuple[str, str]], other: set[tuple[str, str]]) -> float:
    return len(one & other) / len(one | other) if one | other else 1.0


def test_the_papers_lists_are_those_of_the_full_graph(local: Comparer) -> None:
    found = [
        jaccard(
            sorted_phrases(local, a, b, preset="paper"),
            sorted_phrases(local, a, b, preset="paper", full=True),
        )
        for a, b in PAIRS
    ]
    assert sum(found) / len(found) >= 0.99


@pytest.mark.parametrize(
    ("a", "b"), [("a1", "b1"), ("a1", "text:waggle dance, nectar source"), ("ids:a1,a2", "query:rye flour")]
)
@pytest.mark.parametrize("preset", ["default", "paper"])
def test_every_side_can_be_solved_on_the_full_graph(
    comparer: Comparer, documents: dict[str, Document], a: str, b: str, preset: str
) -> None:
    answer = ask(comparer, a, b, preset=preset, full=True, candidates=True, graph=True)
    check(answer.to_dict(), documents, also=("candidates", "graph"))
    assert answer.stats.reached == len(documents)
    assert answer.stats.phrases == len(comparer.engine.open_reader(INDEX).model.phrases)
    assert answer.stats.left_out == 0


def test_the_default_finds_the_planted_phrases_on_the_full_graph(comparer: Comparer) -> None:
    answer = ask(comparer, "a1", "b1", full=True, cap=0)
    kinds = {entry.phrase: entry.kind for entry in answer.common}
    assert (kinds[SHARED], kinds[IMPLIED]) == ("shared", "implied")


def test_the_full_graph_is_read_once_while_nothing_changes(embedded: Engine) -> None:
    comparer = Comparer(embedded)
    ask(comparer, "a1", "b1", full=True)
    before = embedded.request_count
    ask(comparer, "a2", "b2", full=True)
    assert embedded.request_count - before == 1
