"""The whole corpus as the graph, and how well a neighbourhood approximates it."""

from __future__ import annotations

import pytest

from indexer.documents import Document
from indexer.engines.base import Engine
from tests.support.answer_shape import check_answer
from tests.support.comparisons import INDEX, LISTS, compare_sides
from tests.support.corpora.planted_pairs import IMPLIED, SHARED
from worker.comparer import Comparer

PAIRS = [(f"d{n:04}", f"d{n + gap:04}") for n in range(0, 240, 20) for gap in (1, 6)]


def collect_phrases(comparer: Comparer, a: str, b: str, **options: object) -> set[tuple[str, str]]:
    answer = compare_sides(comparer, a, b, cap=0, **options)
    return {(name, p) for name in LISTS for e in getattr(answer, name) for p in (e.phrase, *e.also)}


def compute_jaccard(one: set[tuple[str, str]], other: set[tuple[str, str]]) -> float:
    return len(one & other) / len(one | other) if one | other else 1.0


def test_a_neighbourhood_gives_the_paper_preset_the_lists_of_the_full_graph(embedded_comparer: Comparer) -> None:
    similarities = [
        compute_jaccard(
            collect_phrases(embedded_comparer, a, b, preset="paper"),
            collect_phrases(embedded_comparer, a, b, preset="paper", full=True),
        )
        for a, b in PAIRS
    ]
    assert sum(similarities) / len(similarities) >= 0.99


@pytest.mark.parametrize(
    ("a", "b"), [("a1", "b1"), ("a1", "text:waggle dance, nectar source"), ("ids:a1,a2", "query:rye flour")]
)
@pytest.mark.parametrize("preset", ["default", "paper"])
def test_every_side_can_be_solved_on_the_full_graph(
    comparer: Comparer, documents: dict[str, Document], a: str, b: str, preset: str
) -> None:
    answer = compare_sides(comparer, a, b, preset=preset, full=True, candidates=True, graph=True)
    check_answer(answer, documents, optional_parts=("candidates", "graph"))
    assert answer.stats.reached == len(documents)
    assert answer.stats.phrases == len(comparer.engine.open_reader(INDEX).model.phrases)
    assert answer.stats.left_out == 0


def test_the_default_finds_the_planted_phrases_on_the_full_graph(comparer: Comparer) -> None:
    answer = compare_sides(comparer, "a1", "b1", full=True, cap=0)
    kinds = {entry.phrase: entry.kind for entry in answer.common}
    assert (kinds[SHARED], kinds[IMPLIED]) == ("shared", "implied")


def test_the_full_graph_is_read_once_while_nothing_changes(indexed_embedded_engine: Engine) -> None:
    comparer = Comparer(indexed_embedded_engine)
    compare_sides(comparer, "a1", "b1", full=True)
    before = indexed_embedded_engine.request_count
    compare_sides(comparer, "a2", "b2", full=True)
    assert indexed_embedded_engine.request_count - before == 1
