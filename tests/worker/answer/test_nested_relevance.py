"""The relevance of a phrase that a text contains without an edge to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from indexer.text.phrase_search import find_occurrences
from tests.support.comparisons import INDEX, compare_sides, resolve_texts
from tests.support.corpora.planted_pairs import SHARED
from worker.answer.builder import AnswerBuilder, SolvedPair
from worker.answer.comparison import Comparison
from worker.answer.nested_relevance import WordRelevance
from worker.comparer import Comparer
from worker.explain.candidates import PairCandidates
from worker.explain.full_graph import build_full_graph
from worker.explain.neighbourhood import SidePair
from worker.explain.pair_features import build_problem
from worker.explain.resolved_side import ResolvedSide
from worker.methods.base import RankedList
from worker.methods.registry import METHODS


def compare_resolved(
    comparer: Comparer, a: ResolvedSide, b: ResolvedSide, method: str = "cda", common: Sequence[str] = ()
) -> Comparison:
    """Compare two resolved sides on the full graph; ``common`` replaces that list of the method's result."""
    pair = SidePair(a, b, PairCandidates.from_sides(a, b))
    spec = comparer.make_spec(INDEX, a.side, b.side, method=method, options={"cap": 0})
    graph = build_full_graph(pair, None)
    problem = build_problem([pair], graph, spec.parameters)
    result = METHODS[method].sort_phrases(problem)
    if common:
        rows = np.array([problem.phrases.index(phrase) for phrase in common])
        result = replace(result, common=RankedList(rows, np.linspace(0.9, 0.5, len(rows))))
    return AnswerBuilder(a.reader.model).build_answer(spec, SolvedPair(pair, graph, problem, result))


def remove_edges(side: ResolvedSide, *removed: str) -> ResolvedSide:
    """Return the side as if these phrases occurred only within longer ones: with their words, without their edges."""
    document = side.documents[0]
    edges_left = [(p, w) for p, w in zip(document.phrases, document.weights, strict=True) if p not in removed]
    salient = tuple(s for s in document.salient if s.phrase not in removed)
    phrases, weights = zip(*edges_left, strict=True)
    return ResolvedSide(side.side, (replace(document, phrases=phrases, weights=weights, salient=salient),), side.reader)


def has_edge_wherever_it_occurs(side: ResolvedSide, edges: NDArray[np.float64], phrase: str) -> bool:
    contains = [bool(find_occurrences(phrase, document.tokens)) for document in side.documents]
    return any(contains) and contains == (edges > 0).tolist()


def get_shared_relevance(answer: Comparison, phrase: str) -> tuple[float, float]:
    entry = next(entry for entry in answer.common if entry.phrase == phrase)
    assert entry.kind == "shared" and entry.count_a and entry.count_b
    return entry.relevance_a, entry.relevance_b


@pytest.mark.parametrize("pair", [("a1", "b1"), ("a2", "b2"), ("search:honey", "search:oven")])
def test_relevance_by_words_agrees_with_that_by_edges(embedded_comparer: Comparer, pair: tuple[str, str]) -> None:
    a, b = resolve_texts(embedded_comparer.engine, *pair)
    candidates = PairCandidates.from_sides(a, b)
    answer = compare_sides(embedded_comparer, *pair, cap=0)
    row = {phrase: i for i, phrase in enumerate(candidates.phrases)}
    checked = 0
    for entry in (*answer.common, *answer.distinct_a, *answer.distinct_b):
        for side, edges, shown in (
            (a, candidates.edges_a, entry.relevance_a),
            (b, candidates.edges_b, entry.relevance_b),
        ):
            if entry.phrase in row and has_edge_wherever_it_occurs(side, edges[row[entry.phrase]], entry.phrase):
                degree = float(candidates.degrees[row[entry.phrase]])
                by_words = WordRelevance(side, edges, candidates).compute(entry.phrase, degree)
                assert by_words == pytest.approx(shown, rel=0.05)
                checked += 1
    assert checked > 3


@pytest.mark.parametrize("method", ["cda", "containment"])
def test_a_phrase_in_both_texts_is_relevant_to_both_without_an_edge(embedded_comparer: Comparer, method: str) -> None:
    a, b = resolve_texts(
        embedded_comparer.engine, "a1", "text:The waggle dance. The waggle dance of it. A brood nest, a queen cell."
    )
    before = get_shared_relevance(compare_resolved(embedded_comparer, a, b, method), SHARED)
    without = remove_edges(b, SHARED, *SHARED.split())
    assert SHARED not in without.salience and without.text.count(SHARED) == 2
    after = get_shared_relevance(compare_resolved(embedded_comparer, a, without, method), SHARED)
    assert after[0] == pytest.approx(before[0], rel=0.1)
    assert after[1] > 1, "it is the main phrase of the text"


def test_a_shared_phrase_represents_its_near_duplicate_of_one_text(comparer: Comparer) -> None:
    a, b = resolve_texts(
        comparer.engine, "a1", "text:A dance at the nectar source, and again a dance at the brood nest."
    )
    (entry,) = compare_resolved(comparer, a, b, common=["waggle dance", "dance"]).common
    assert (entry.phrase, entry.kind, entry.also) == ("dance", "shared", ("waggle dance",))
    assert entry.score == 0.9, "the score of the better one"


def test_a_phrase_that_the_index_does_not_have_is_relevant_by_its_words(comparer: Comparer) -> None:
    text = "text:The waggle dance and the copper whistle. A copper whistle and a brass horn of a brood nest."
    answer = compare_sides(comparer, text, "text:A copper whistle. A waggle dance.", cap=0)
    shown = {entry.phrase: (entry.relevance_a, entry.relevance_b) for entry in (*answer.common, *answer.distinct_a)}
    assert shown["copper whistle"][0] > shown["brass horn"][0] > 0, "the text has it twice"
    assert shown["copper whistle"][1] > 0 == shown["brass horn"][1]


def test_relevance_by_words_is_0_without_an_edge_to_compare_with(embedded_comparer: Comparer) -> None:
    answer = compare_sides(
        embedded_comparer, "text:A copper whistle.", "text:A copper whistle of a waggle dance.", cap=0
    )
    (entry,) = (entry for entry in answer.common if entry.phrase == "copper whistle")
    assert entry.relevance_a == 0 < entry.relevance_b
